"""Turns the bytes of a response into text. What the response says about itself is not trusted."""

from __future__ import annotations

import re
import zlib
from typing import Final, Literal

from oracle.errors import WebProblem
from oracle.patterns import lazy_pattern

_HTML: Final = lazy_pattern(r"text/html|application/xhtml\+xml")
# All of `text/…`, and the types of `application/…` that are text, also as suffixes: `feed+json`.
_TEXT: Final = lazy_pattern(
    r"text/.+|application/(?:.+\+)?(?:json|xml|yaml|toml|javascript|x-yaml|x-sh|rtf|ld\+json)"
)
_CHARSET: Final = lazy_pattern(r"charset\s{0,5}=\s{0,5}[\"']?([\w.:-]{1,40})", re.I)
# Only charsets. Python also has codecs such as `zip` or `unicode_escape`, which a page must not
# choose.
_KNOWN_CHARSET: Final = lazy_pattern(
    r"utf-?(?:8|16|16le|16be|32)|us-ascii|ascii|iso-?8859-\d{1,2}|latin-?\d|windows-\d{3,4}|cp\d{3,4}"
    r"|gbk|gb2312|gb18030|big5|shift[_-]jis|euc-(?:jp|kr)|iso-2022-jp|koi8-[ru]|macintosh",
    re.I,
)


def check_content_type(url: str, content_type: str) -> Literal["html", "text"]:
    """A response without a content type counts as text; `as_text` checks its bytes."""
    kind = content_type.partition(";")[0].strip().lower()
    if _HTML.fullmatch(kind):
        return "html"
    if not kind or _TEXT.fullmatch(kind):
        return "text"
    raise WebProblem(f"{url!r} is {kind[:100]!r}, which cannot be read as text; use another page")


def decompressed(data: bytes, encoding: str, most: int) -> tuple[bytes, bool]:
    """Decompress at most `most` bytes, and return whether there was more.

    Only needed for servers that compress although the request asks them not to. The limit is on the
    output, because a small file can expand to gigabytes.
    """
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return data, False
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise WebProblem(f"the page is compressed as {encoding[:40]!r}; use another page")
    # 47 = 32 + 15: zlib detects whether the header is that of gzip or of zlib.
    decompressor = zlib.decompressobj(wbits=47 if "gzip" in encoding else zlib.MAX_WBITS)
    try:
        plain = decompressor.decompress(data, most)
    except zlib.error:
        raise WebProblem("the compressed page is broken; use another page") from None
    return plain, bool(decompressor.unconsumed_tail)


def as_text(data: bytes, content_type: str) -> str:
    """Decode with the charset of the header, else of the page itself, else UTF-8.

    Bytes that do not fit are replaced.
    """
    # Latin-1 decodes any bytes, and a charset is written in ASCII.
    beginning = data[:2048].decode("latin-1")
    found = _CHARSET.search(content_type) or _CHARSET.search(beginning)
    charset = found[1] if found and _KNOWN_CHARSET.fullmatch(found[1]) else "utf-8"
    # A NUL byte is a sign of a binary file, except in UTF-16 and UTF-32.
    if b"\0" in data[:4096] and not charset.lower().startswith(("utf-16", "utf16", "utf-32")):
        raise WebProblem("the page is not text; use another page")
    try:
        text = data.decode(charset, errors="replace")
    except LookupError:
        text = data.decode("utf-8", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")

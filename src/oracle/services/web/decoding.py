"""From the bytes of a response to text, without trusting what the response says of itself."""

from __future__ import annotations

import re
import zlib
from typing import Final, Literal

from oracle.errors import WebProblem

_HTML: Final = re.compile(r"text/html|application/xhtml\+xml")
_TEXT: Final = re.compile(
    r"text/.+|application/(?:.+\+)?(?:json|xml|yaml|toml|javascript|x-yaml|x-sh|rtf|ld\+json)"
)
_CHARSET: Final = re.compile(r"charset\s{0,5}=\s{0,5}[\"']?([\w.:-]{1,40})", re.I)
_KNOWN_CHARSET: Final = re.compile(
    r"utf-?(?:8|16|16le|16be|32)|us-ascii|ascii|iso-?8859-\d{1,2}|latin-?\d|windows-\d{3,4}|cp\d{3,4}"
    r"|gbk|gb2312|gb18030|big5|shift[_-]jis|euc-(?:jp|kr)|iso-2022-jp|koi8-[ru]|macintosh",
    re.I,
)


def check_content_type(url: str, content_type: str) -> Literal["html", "text"]:
    """A response that does not say what it is counts as text until its bytes say otherwise."""
    kind = content_type.partition(";")[0].strip().lower()
    if _HTML.fullmatch(kind):
        return "html"
    if not kind or _TEXT.fullmatch(kind):
        return "text"
    raise WebProblem(f"{url!r} is {kind[:100]!r}, which cannot be read as text; take another page")


def unpacked(data: bytes, encoding: str, most: int) -> tuple[bytes, bool]:
    """For a server that packs although it was asked not to. No more than `most` comes out."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return data, False
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise WebProblem(f"the page is packed as {encoding[:40]!r}; take another page")
    unpacker = zlib.decompressobj(wbits=47 if "gzip" in encoding else zlib.MAX_WBITS)
    try:
        plain = unpacker.decompress(data, most)
    except zlib.error:
        raise WebProblem("the page is packed, and broken; take another page") from None
    return plain, bool(unpacker.unconsumed_tail)


def as_text(data: bytes, content_type: str) -> str:
    """By the header's charset, else the page's own, else UTF-8; what does not fit is replaced."""
    beginning = data[:2048].decode("latin-1")
    found = _CHARSET.search(content_type) or _CHARSET.search(beginning)
    charset = found[1] if found and _KNOWN_CHARSET.fullmatch(found[1]) else "utf-8"
    if b"\0" in data[:4096] and not charset.lower().startswith(("utf-16", "utf16", "utf-32")):
        raise WebProblem("the page is no text; take another page")
    try:
        text = data.decode(charset, errors="replace")
    except LookupError:
        text = data.decode("utf-8", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")

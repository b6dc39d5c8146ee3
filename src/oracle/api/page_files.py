"""The files of the page, which ship with the package.

They are small and few, so each is kept in memory until it changes on disk. Nothing outside of the
folder can be named, whatever the path.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from oracle.api.compression import ENCODED, LEAST_BYTES, gzipped, wants_gzip
from oracle.errors import NotFound

POLICY: Final = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "object-src 'none'"
)
"""No script and no style but our files; no images or fonts of others; no frame around the page."""

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    # Their names stay the same when they change. To ask again costs a few hundred bytes.
    "Cache-Control": "no-cache",
}
TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".md": "text/plain; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
    # Licences.
    "": "text/plain; charset=utf-8",
}
"""What is of another type is not part of the page."""
INDEX: Final = "index.html"
PACKED: Final = frozenset({".png", ".woff2"})
"""Compressed already."""


def page_folder() -> Path:
    return Path(str(files("oracle") / "page"))


def page_file(request: Request, name: str) -> Response:
    """The file, or 304 if the browser has it already. Raises `NotFound`."""
    path = _path_of(name)
    is_small = path.suffix not in PACKED and wants_gzip(request)
    body, tag, encoding = _content(path, path.stat().st_mtime_ns, is_small)
    headers = {**HEADERS, "Vary": "Accept-Encoding", **encoding, "ETag": tag}
    known = request.headers.get("if-none-match", "")
    if tag in [each.strip().removeprefix("W/") for each in known.split(",")]:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=TYPES[path.suffix], headers=headers)


def _path_of(name: str) -> Path:
    folder = page_folder()
    parts = name.split("/")
    # Our names are plain. So a path that means something to a file system is not one of them.
    is_plain = all(
        part and part[0] != "." and part.isascii() and part.isprintable() for part in parts
    )
    path = folder.joinpath(*parts) if is_plain and "\\" not in name and ":" not in name else folder
    if path.suffix not in TYPES or not path.is_file() or path.is_symlink():
        raise NotFound(f"the page has no file {name[:80]!r}")
    return path


@lru_cache(maxsize=512)
def _content(path: Path, changed: int, is_small: bool) -> tuple[bytes, str, Mapping[str, str]]:
    """`changed` is part of the key: a file that is edited is read again.

    Compressed it is another sequence of bytes, so it has another tag.
    """
    body = path.read_bytes()
    is_small = is_small and len(body) >= LEAST_BYTES
    body = gzipped(body) if is_small else body
    return body, f'"{sha256(body).hexdigest()[:32]}"', ENCODED if is_small else {}

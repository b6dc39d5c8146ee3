"""Tells a disk that cannot be written from a damaged index: only the second needs a rebuild."""

from __future__ import annotations

import errno
import os
import sqlite3
from typing import Final

from oracle.patterns import lazy_pattern

_NO_ROOM: Final = "; make room, and try again"
_NOT_ALLOWED: Final = "; make it writable, or remove the folder, and the index is built again"
_ADVICE: Final = {
    errno.ENOSPC: _NO_ROOM,
    errno.EDQUOT: _NO_ROOM,
    errno.EFBIG: _NO_ROOM,
    errno.EACCES: _NOT_ALLOWED,
    errno.EPERM: _NOT_ALLOWED,
    errno.EROFS: _NOT_ALLOWED,
    errno.EMFILE: "; raise the limit (ulimit -n), or close something",
    errno.ENFILE: "; close something",
    errno.ENOMEM: "; close something",
}
# The I/O errors that SQLite reports when the disk is full while its log or its index grows.
_SQLITE: Final = {
    "SQLITE_FULL": errno.ENOSPC,
    "SQLITE_IOERR_WRITE": errno.ENOSPC,
    "SQLITE_IOERR_FSYNC": errno.ENOSPC,
    "SQLITE_IOERR_SHMSIZE": errno.ENOSPC,
    "SQLITE_IOERR_SHMMAP": errno.ENOSPC,
    "SQLITE_IOERR_TRUNCATE": errno.ENOSPC,
    "SQLITE_READONLY": errno.EACCES,
    "SQLITE_PERM": errno.EACCES,
    "SQLITE_NOMEM": errno.ENOMEM,
}
_IN_RUST: Final = lazy_pattern(r"\bos error (\d+)\)|\bcode: (\d+), kind")


def refusal(problem: BaseException) -> str:
    """Why nothing can be written, and what to do; empty for any other error."""
    if isinstance(problem, sqlite3.OperationalError) and "locked" in str(problem):
        return "another process is writing it; wait until it is done"
    number = _number(problem)
    return f"{os.strerror(number)}{_ADVICE[number]}" if number in _ADVICE else ""


def _number(problem: BaseException) -> int | None:
    """The number of a system error. The text index, written in Rust, has it in its message only."""
    if isinstance(problem, OSError):
        return problem.errno
    if isinstance(problem, sqlite3.Error):
        name: str = getattr(problem, "sqlite_errorname", None) or ""
        # The name may be more specific than the table: `SQLITE_READONLY_DBMOVED`.
        return _SQLITE.get(name) or _SQLITE.get("_".join(name.split("_")[:2]))
    found = _IN_RUST.search(str(problem))
    return int(found[1] or found[2]) if found else None

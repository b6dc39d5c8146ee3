"""The one way to open a file whose place somebody else may have filled.

A pipe, a socket, a device or a folder can be where a file is expected. Opening or reading a pipe
waits for ever, and a device may never end. It is a module of its own because the engine (`bt/lua`)
and the services both need it and must not import each other.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

# Opening must not wait for a pipe, nor make a terminal control this process.
OPEN: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class NotRegular(OSError):  # noqa: N818 - it is a kind of file, not a bug
    """There is a folder, a pipe, a socket or a device where a file was expected."""


def read_regular(path: Path | str, largest: int = -1, *, flags: int = 0) -> bytes:
    """The content of a file, or its first `largest` bytes."""
    descriptor = os.open(path, OPEN | flags)
    try:
        # Asked of the open file: the one at this path may be another by now.
        _check(os.fstat(descriptor).st_mode, path)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(largest)
    finally:
        os.close(descriptor)


def check_regular(path: Path | str) -> None:
    """For files that a library opens itself: `NotRegular` if something else is in their place.

    A file that does not exist is fine: the library makes it, or says that it is missing.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    _check(mode, path)


def check_database(path: Path | str) -> None:
    """The same for an SQLite database and the files that SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        check_regular(f"{path}{suffix}")


def kind_of_file(mode: int) -> str:
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    return next((name for test, name in kinds if test(mode)), "a device")


def _check(mode: int, path: Path | str) -> None:
    if not stat.S_ISREG(mode):
        reason = f"it is {kind_of_file(mode)}, not a file; move it away"
        raise NotRegular(errno.EINVAL, reason, os.fspath(path))

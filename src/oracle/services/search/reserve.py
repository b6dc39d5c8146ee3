"""Reserves room on the disk for the second half of a commit before the first half is made.

The text index is committed first, the catalogue second. If the disk were full in between, some
files could be found in neither.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from oracle.regular_file import check_regular
from oracle.services.search.entries import Entry

_ALWAYS: Final = 200_000
"""A margin for what a transaction writes in addition to its rows."""
_PLENTY: Final = 100_000_000
_BY_SYMBOL: Final = 24_000
"""About six pages of 4 KiB: a new row changes a page of its table and of each index, and so does
the row that it replaces.
"""


@contextmanager
def reserved(path: Path, size: int, *, small: bool = False) -> Generator[Callable[[], None]]:
    """Hold `size` bytes of the disk until the function that it yields is called.

    Raises `OSError` if there is not that much room. A `small` update on a disk with plenty of room
    reserves nothing: creating and removing a file would cost more than the update.
    """
    if small and _free(path.parent) > _PLENTY:
        yield lambda: None
        return
    try:
        check_regular(path)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
        try:
            _take(handle, size)
        finally:
            os.close(handle)
        yield lambda: path.unlink(missing_ok=True)
    finally:
        path.unlink(missing_ok=True)


def _take(handle: int, size: int) -> None:
    """Without support by the file system nothing is reserved."""
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(handle, 0, size)
    except OSError as problem:
        if problem.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
            raise


def _free(folder: Path) -> int:
    state = os.statvfs(folder)
    return state.f_bavail * state.f_frsize


def room_for(entries: Sequence[Entry], catalogue: Path) -> int:
    """The most that writing them can take: the new rows, and at worst a copy of every old page."""
    # SQLite writes changed pages to its log before they replace the old ones.
    rows = sum(10 + len(entry.symbols) for entry in entries)
    new = sum(100 + 2 * sum(map(len, entry.uses)) for entry in entries) + 400 * rows
    return _ALWAYS + new + min(catalogue.stat().st_size, _BY_SYMBOL * rows)

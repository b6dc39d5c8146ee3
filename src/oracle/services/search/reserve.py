"""Room on the disk for the second half of a commit, taken before the first half.

The text index is committed first, the catalogue second. A disk that fills up in between would leave
files that neither of them finds.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from oracle.services.search.catalogue import Entry

_ALWAYS: Final = 200_000
_PLENTY: Final = 100_000_000
_BY_SYMBOL: Final = 24_000
"""A row touches a page of its table and one of each index, and takes out as many."""


@contextmanager
def reserved(path: Path, size: int, *, small: bool = False) -> Generator[Callable[[], None]]:
    """Hold `size` bytes of the disk until the function that it yields is called.

    Raises `OSError` if there is not that much room. On a disk with plenty of room a `small` update
    does without: making and removing a file would cost more than the update.
    """
    if small and _free(path.parent) > _PLENTY:
        yield lambda: None
        return
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            _take(handle, size)
        finally:
            os.close(handle)
        yield lambda: path.unlink(missing_ok=True)
    finally:
        path.unlink(missing_ok=True)


def _take(handle: int, size: int) -> None:
    """Some file systems cannot reserve room: then there is no reserve."""
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

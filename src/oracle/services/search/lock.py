"""One process at a time writes an index; the others wait."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from oracle.errors import StoreError
from oracle.regular_file import check_regular

SECONDS_BETWEEN_TRIES: Final = 0.05

Patience = Callable[[], bool]
"""Returns whether to go on waiting for the process that is writing."""


@contextmanager
def only_one(path: Path, patience: Patience | None = None) -> Generator[None]:
    """Hold the lock until the block ends, or until the process ends for any reason.

    Without `patience` it waits as long as it takes.
    """
    # `flock` belongs to the open file: the system releases it even after `kill -9`.
    handle = _opened(path)
    try:
        if patience is None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        else:
            _wait(handle, path, patience)
        yield
    finally:
        os.close(handle)


def _opened(path: Path) -> int:
    try:
        check_regular(path)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    except OSError as problem:
        if problem.errno in (errno.EINVAL, errno.ELOOP):
            raise StoreError(
                f"the lock {path} cannot be used: {problem.strerror}; make its folder writable"
            ) from None
        raise


def _wait(handle: int, path: Path, patience: Patience) -> None:
    # A blocking call cannot be given up, so the lock is tried again and again.
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not patience():
                raise StoreError(
                    f"another process is writing the index in {path.parent}; wait until it is done"
                ) from None
        time.sleep(SECONDS_BETWEEN_TRIES)

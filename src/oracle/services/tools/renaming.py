"""Give a file its name in one step, unless the name is taken. Python itself can only replace."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Final

# Linux: `renameat2` with RENAME_NOREPLACE. macOS: `renameatx_np` with RENAME_EXCL.
_CALLS: Final = {"linux": ("renameat2", 1), "darwin": ("renameatx_np", 4)}
# A kernel or a file system that cannot do this reports one of these.
_CANNOT: Final = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})


def rename_new(source: str, target: str, folder: int) -> bool:
    """Both names are in the open folder. False if this system cannot do it.

    Raises `FileExistsError` if the target exists.
    """
    call = _call()
    number = (
        errno.ENOSYS if call is None else call(folder, os.fsencode(source), os.fsencode(target))
    )
    if number in _CANNOT:
        return False
    if number:
        raise OSError(number, os.strerror(number), target)
    return True


@cache
def _call() -> Callable[[int, bytes, bytes], int] | None:
    """The system's own function; it returns an error's number, or 0."""
    import ctypes

    name, flag = _CALLS.get(sys.platform, ("", 0))
    try:
        found = getattr(ctypes.CDLL(None, use_errno=True), name)
    except (AttributeError, OSError):
        return None

    def call(folder: int, source: bytes, target: bytes) -> int:
        ended = found(folder, source, folder, target, flag)
        return ctypes.get_errno() if ended else 0

    return call

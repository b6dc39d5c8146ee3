"""Tickets: how a write is recognised after the process that did it was killed.

A ticket is an empty hidden file in the folder of the file that is to be written. It is made before
the write is recorded as intended, and the write uses it up:

| ticket | the write |
| --- | --- |
| fresh | was never begun |
| begun | is somewhere between its first and its last byte: the file itself must be looked at |
| placing | has written a new note, which was given its name or was about to be |
| gone | came to its end, or failed and left nothing |

So a write that was never begun is known for certain, whatever users and other processes did to the
file after the crash. A note that is not there although its ticket says `placing` may have been
there, and been deleted since: that is in doubt. Only systems that cannot rename a file without
replacing another need this state. A ticket that is gone proves nothing alone, because a power cut
can lose it: the file is looked at too. Where both together leave a doubt, nothing is written.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
import time
from typing import Any, Final, Literal, TypeAlias

from oracle.errors import ToolProblem, named
from oracle.patterns import lazy_pattern
from oracle.services.project.file_rules import TEMPORARY

Mark: TypeAlias = dict[str, Any]
"""What the intent of a write records: the ticket's `key`, the file's `path`, and its size and
digest `before`. All of it is JSON-shaped."""

State: TypeAlias = Literal["fresh", "begun", "placing", "gone"]

TICKET_GONE: Final = "the hidden file that shows how far the write came is gone"

_DAYS_KEPT: Final = 30
_KEY: Final = lazy_pattern(r"[0-9a-f]{16}")
# Opening must not follow a link, nor wait for a pipe.
READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def new_ticket(folder: int) -> str:
    """Make a ticket in an open folder. Returns its key."""
    _remove_old(folder)
    key = secrets.token_hex(8)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    os.close(os.open(_fresh(key), flags, 0o644, dir_fd=folder))
    return key


def key_of(mark: Mark | None) -> str | None:
    """The key of a mark that was read back from a journal; None if it has none."""
    key = mark and mark.get("key")
    return key if isinstance(key, str) and _KEY.fullmatch(key) else None


def state_of(key: str, folder: int) -> State:
    names = os.listdir(folder)
    if placing(key) in names:
        return "placing"
    if begun(key) in names:
        return "begun"
    return "fresh" if _fresh(key) in names else "gone"


def begin(key: str, folder: int) -> None:
    """Only one process can begin a write, unless it was begun before and is now tried again."""
    try:
        os.rename(_fresh(key), begun(key), src_dir_fd=folder, dst_dir_fd=folder)
    except FileNotFoundError:
        if state_of(key, folder) == "gone":
            raise ToolProblem(
                "another process has taken over this write; look whether it was done"
            ) from None


def use_up(key: str, folder: int) -> None:
    """Remove the ticket, and what a process that was killed has left of its write."""
    for name in os.listdir(folder):
        if name.startswith(f"{TEMPORARY}{key}."):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)


def _fresh(key: str) -> str:
    return f"{TEMPORARY}{key}.tmp"


def begun(key: str) -> str:
    """The name of a ticket whose write has begun. A note is written into this file itself."""
    return f"{TEMPORARY}{key}.begun.tmp"


def placing(key: str) -> str:
    """The name of a ticket that is a complete note, from just before the note gets its name."""
    return f"{TEMPORARY}{key}.placing.tmp"


def before(name: str, folder: int) -> dict[str, Any] | None:
    """The size and digest of a file as it is now; None if there is none, or an empty one."""
    try:
        descriptor = os.open(name, READ, dir_fd=folder)
    except FileNotFoundError:
        return None
    try:
        check_regular(descriptor, name)
        digest, size = hashlib.sha256(), 0
        while piece := os.read(descriptor, 1 << 20):
            digest.update(piece)
            size += len(piece)
        return {"size": size, "digest": digest.hexdigest()} if size else None
    finally:
        os.close(descriptor)


def check_regular(descriptor: int, name: str) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise ToolProblem(f"{named(name)} is not a regular file; tell the user")


def _remove_old(folder: int) -> None:
    """Tickets of runs that nobody resumed. A run without its ticket never writes blindly."""
    oldest = time.time() - _DAYS_KEPT * 24 * 3600
    for name in os.listdir(folder):
        if name.startswith(TEMPORARY) and name.endswith(".tmp"):
            with contextlib.suppress(OSError):
                if os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime < oldest:
                    os.unlink(name, dir_fd=folder)

"""Keeps what own code prints away from stdout, where only the answer belongs.

`sys.stdout` is shared by all threads, so it is replaced by a stream that asks whose code prints. A
context variable knows: it follows a call into its thread and into the tasks that it starts.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, Final, TextIO, cast

_MOST_KEPT: Final = 2_000


class Printed:
    """The beginning of what was printed."""

    def __init__(self) -> None:
        self.text = ""

    def add(self, text: str) -> None:
        self.text += text[: _MOST_KEPT - len(self.text)]


_printed: ContextVar[Printed | None] = ContextVar("printed_by_own_code", default=None)
_lock: Final = Lock()
_users: int = 0


class _Stdout:
    """Own code prints to its `Printed`, everything else to the stream below."""

    def __init__(self, below: TextIO) -> None:
        self.below = below

    def write(self, text: str) -> int:
        printed = _printed.get()
        if printed is None:
            return self.below.write(text)
        printed.add(str(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.below, name)


@contextmanager
def prints_kept() -> Generator[Printed]:
    """What is printed inside of the block, by this thread and its tasks, goes to the result."""
    printed = Printed()
    token = _printed.set(printed)
    _install()
    try:
        yield printed
    finally:
        _remove()
        _printed.reset(token)


def _install() -> None:
    global _users
    with _lock:
        _users += 1
        if not isinstance(sys.stdout, _Stdout):
            sys.stdout = cast("TextIO", _Stdout(sys.stdout))


def _remove() -> None:
    """A call that was given up may still print, so the stream stays until the last one ends."""
    global _users
    with _lock:
        _users -= 1
        if _users == 0 and isinstance(sys.stdout, _Stdout):
            sys.stdout = sys.stdout.below

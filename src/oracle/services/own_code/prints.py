"""Keeps own code away from stdin and stdout, where only questions and the answer belong.

`sys.stdin` and `sys.stdout` are shared by all threads, so they are replaced by streams that ask
whose code uses them. A context variable knows: it follows a call into its thread and into the tasks
that it starts. It does not follow into threads that own code starts. So a command, whose streams
nobody else needs, names its own threads instead (`keep_for_our_threads`).
"""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Generator, Iterable
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
_thread: Final = threading.local()
_lock: Final = Lock()
_users: int = 0
_is_kept: bool = False


def _printed_here() -> Printed | None:
    """Where own code prints to; None if this is our code."""
    printed = _printed.get()
    if printed is not None or not _is_kept or _is_our_thread():
        return printed
    return Printed()


def _is_our_thread() -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    return is_main or getattr(_thread, "is_ours", False)


class _Stream:
    def __init__(self, below: TextIO) -> None:
        self.below = below


class _Stdout(_Stream):
    """Own code prints to its `Printed`, everything else to the stream below."""

    def write(self, text: str) -> int:
        printed = _printed_here()
        if printed is None:
            return self.below.write(text)
        printed.add(str(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def fileno(self) -> int:
        # A program that own code starts with `stdout=sys.stdout` writes to the descriptor.
        return (self.below if _printed_here() is None else sys.stderr).fileno()

    def isatty(self) -> bool:
        return _printed_here() is None and self.below.isatty()

    def __getattr__(self, name: str) -> Any:
        printed = None if name != "buffer" else _printed_here()
        return getattr(self.below, name) if printed is None else _Bytes(printed)


class _Bytes(io.RawIOBase):
    """`sys.stdout.buffer` for own code."""

    def __init__(self, printed: Printed) -> None:
        super().__init__()
        self._printed = printed

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        text = bytes(data).decode(errors="replace")
        self._printed.add(text)
        return len(data)


class _Stdin(_Stream):
    """Own code finds it empty: the lines are the user's questions."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.below if _printed_here() is None else io.StringIO(), name)

    def __iter__(self) -> Any:
        return iter(self.below if _printed_here() is None else ())


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


def keep_for_our_threads() -> None:
    """From now on only the main thread, and those that say so, can use stdin and stdout."""
    global _is_kept
    with _lock:
        _is_kept = True
        _wrap()


def is_our_thread() -> None:
    """To be called in a thread of a command that writes to stdout."""
    _thread.is_ours = True


def _install() -> None:
    global _users
    with _lock:
        _users += 1
        _wrap()


def _wrap() -> None:
    if not isinstance(sys.stdout, _Stdout):
        sys.stdout = cast("TextIO", _Stdout(sys.stdout))
    if not isinstance(sys.stdin, _Stdin):
        sys.stdin = cast("TextIO", _Stdin(sys.stdin))


def _remove() -> None:
    """A call that was given up may still print, so the streams stay until the last one ends."""
    global _users
    with _lock:
        _users -= 1
        if _users or _is_kept:
            return
        if isinstance(sys.stdout, _Stdout):
            sys.stdout = sys.stdout.below
        if isinstance(sys.stdin, _Stdin):
            sys.stdin = sys.stdin.below

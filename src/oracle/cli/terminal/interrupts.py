"""What ends an answer from outside: Ctrl-C, and a watch over a program that does not respond.

The first Ctrl-C cancels the answer, a second one ends the program at once. Neither is needed to end
a program whose event loop is blocked. `ChatSignals` keeps that promise between the questions of a
chat.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from math import inf
from threading import Event, Thread
from types import FrameType, TracebackType
from typing import Any, Final, Self, TypeVar

Result = TypeVar("Result")

SHOW_CURSOR: Final = b"\x1b[?25h"
NO_BRACKETED_PASTE: Final = b"\x1b[?2004l"
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
SECONDS_TO_END: Final = 20
"""How long a program may run after the time limit, or after a Ctrl-C, until it is ended."""
UNRESPONSIVE: Final = 70


@contextmanager
def interrupts_call(cancel: Callable[[], object], *, seconds: float = inf) -> Generator[None]:
    """Call `cancel` on the first Ctrl-C inside the block.

    It is called from a signal handler, between any two instructions of the main thread. So it must
    take no lock and only wake others. A block that goes on long after its time limit of `seconds`
    does not respond any more, and the program is ended.
    """
    handler = _Handler(cancel)
    is_over = Event()

    def watch() -> None:
        # Counted in steps, not by the clock: a program that was suspended is not late.
        left = seconds + SECONDS_TO_END
        while left > 0:
            if is_over.wait(1.0):
                return
            left = min(left, SECONDS_TO_END) if handler.is_cancelled else left
            left -= 1
        message = "oracle: the program does not respond, so it was ended; see `oracle runs`\n"
        os.write(sys.stderr.fileno(), message.encode())
        leave_at_once(128 + signal.SIGINT if handler.is_cancelled else UNRESPONSIVE)

    Thread(target=watch, daemon=True, name="watch").start()
    before = {number: signal.signal(number, handler) for number in _SIGNALS}
    try:
        yield
    finally:
        is_over.set()
        for number, earlier in before.items():
            signal.signal(number, earlier)
        # The same user pressed it: for a block around this one, the next Ctrl-C is the second.
        around = before[signal.SIGINT]
        if handler.is_cancelled and isinstance(around, _Handler):
            around.is_cancelled = True


class _Handler:
    """Calls `cancel` on the first Ctrl-C. A second one, or another signal, ends the program."""

    def __init__(self, cancel: Callable[[], object]) -> None:
        self.is_cancelled = False
        self._cancel = cancel

    def __call__(self, number: int, _: FrameType | None) -> None:
        # Nothing is lost by leaving: the journal is written while the run works.
        if self.is_cancelled or number != signal.SIGINT:
            leave_at_once(128 + number)
        self.is_cancelled = True
        self._cancel()


class ChatSignals:
    """For the time of a chat: no Ctrl-C is lost or ends it by surprise, and SIGTERM leaves the
    terminal as it was.

    A Ctrl-C that comes while nothing can be interrupted counts for what comes next.
    """

    def __init__(self) -> None:
        self._is_waiting = False

    def __enter__(self) -> Self:
        _keep_terminal_modes()
        handlers = {signal.SIGINT: self._keep, signal.SIGTERM: _terminated}
        self._before = {number: signal.signal(number, each) for number, each in handlers.items()}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def raised(self) -> Generator[None]:
        """Inside the block, a Ctrl-C raises `KeyboardInterrupt`."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            self._raise_waiting()
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    async def stoppable(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The result of the work. The first Ctrl-C cancels it, the second ends the program."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def cancel() -> None:
            loop.call_soon_threadsafe(task.cancel)

        with interrupts_call(cancel):
            if self._is_waiting:
                self._is_waiting = False
                cancel()
            return await work

    def _keep(self, number: int, frame: FrameType | None) -> None:
        self._is_waiting = True

    def _raise_waiting(self) -> None:
        if self._is_waiting:
            self._is_waiting = False
            raise KeyboardInterrupt


def _terminated(number: int, frame: FrameType | None) -> None:
    leave_at_once(128 + number)


_modes: list[Any] | None = None
"""How the terminal was when the chat began: an editor of lines changes it."""


def _keep_terminal_modes() -> None:
    global _modes
    if sys.stdin is not None and sys.stdin.isatty():
        import termios

        with contextlib.suppress(OSError, termios.error):
            _modes = termios.tcgetattr(sys.stdin.fileno())


def _restore_terminal_modes() -> None:
    if _modes is None:
        return
    import termios

    with contextlib.suppress(OSError, termios.error):
        descriptor = sys.stdin.fileno()
        # A program in the background would be stopped if it changed the terminal.
        if os.tcgetpgrp(descriptor) == os.getpgrp():
            termios.tcsetattr(descriptor, termios.TCSANOW, _modes)


def leave_at_once(code: int) -> None:
    """End the process without any clean-up, but leave the terminal as it was."""
    _restore_terminal_modes()
    end = SHOW_CURSOR if _modes is None else NO_BRACKETED_PASTE + SHOW_CURSOR
    for stream in (sys.stderr, sys.stdout):
        if stream.isatty():
            # Not through the stream: the interrupted code may hold its lock.
            with contextlib.suppress(OSError):  # the terminal may be gone
                os.write(stream.fileno(), end)
            break
    os._exit(code)

"""What ends an answer from outside: Ctrl-C, and a watch over a program that does not respond.

The first Ctrl-C cancels the answer, a second one ends the program at once. Neither is needed to end
a program whose event loop is blocked. `ChatSignals` keeps that promise between the questions of a
chat.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from math import inf
from threading import Event, Thread
from types import FrameType, TracebackType
from typing import Any, Final, Self, TypeVar

from oracle.cli.terminal.terminal_state import STATE

Result = TypeVar("Result")

_ENDING: Final = (signal.SIGTERM, signal.SIGHUP)
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
    handlers = {signal.SIGINT: handler, **dict.fromkeys(_ENDING, handler), signal.SIGTSTP: _stop}
    before = _handled_by(handlers)
    try:
        yield
    finally:
        is_over.set()
        _restore(before)
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


Handlers = dict[signal.Signals, Any]


def _handled_by(handlers: Handlers) -> Handlers:
    """Set them, and return those before. What the user ignores (`nohup`) stays ignored."""
    return {
        number: signal.signal(number, handler)
        for number, handler in handlers.items()
        if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN
    }


def _restore(handlers: Handlers) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)


def _terminated(number: int, frame: FrameType | None) -> None:
    leave_at_once(128 + number)


def leave_well() -> None:
    """From now on, every signal that ends or stops the program leaves the terminal as it was."""
    _handled_by({**dict.fromkeys(_ENDING, _terminated), signal.SIGTSTP: _stop})


def _stop(number: int, frame: FrameType | None) -> None:
    """Hand the terminal to the shell as it was, and stop until the user continues the program."""
    STATE.leave()
    signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, _stop)
    STATE.times_stopped += 1
    STATE.resume()


class ChatSignals:
    """For the time of a chat: no Ctrl-C is lost or ends it by surprise, and every signal that ends
    it leaves the terminal as it was.

    A Ctrl-C that comes while nothing can be interrupted counts for what comes next. `on_ctrl_c` is
    called then, for a prompt that waits for keys.
    """

    def __init__(self) -> None:
        self.on_ctrl_c: Callable[[], object] = lambda: None
        self._waiting = 0

    def __enter__(self) -> Self:
        ending = dict.fromkeys(_ENDING, _terminated)
        self._before = _handled_by({signal.SIGINT: self._keep, **ending, signal.SIGTSTP: _stop})
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        STATE.end_chat()
        _restore(self._before)

    @contextmanager
    def raised(self) -> Generator[None]:
        """Inside the block, a Ctrl-C raises `KeyboardInterrupt`."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            self.raise_waiting()
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    async def stoppable(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The result of the work. The first Ctrl-C cancels it, the second ends the program."""
        import asyncio

        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def cancel() -> None:
            loop.call_soon_threadsafe(task.cancel)

        with interrupts_call(cancel):
            for _ in range(self.take_waiting()):
                signal.raise_signal(signal.SIGINT)
            return await work

    def keep(self, presses: int) -> None:
        """Ctrl-C was pressed so often before anything could be interrupted."""
        self._waiting += presses

    def take_waiting(self) -> int:
        """How often Ctrl-C was pressed meanwhile. From now on it was not."""
        waiting, self._waiting = self._waiting, 0
        return waiting

    def raise_waiting(self) -> None:
        if self.take_waiting():
            raise KeyboardInterrupt

    def _keep(self, number: int, frame: FrameType | None) -> None:
        self._waiting += 1
        self.on_ctrl_c()


def leave_at_once(code: int) -> None:
    """End the process without any clean-up, but leave the terminal as it was."""
    STATE.leave()
    os._exit(code)

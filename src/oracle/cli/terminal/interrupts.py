"""What ends an answer from outside: Ctrl-C, and a watch over a program that does not respond.

The first Ctrl-C cancels the answer, a second one ends the program at once. Neither is needed to end
a program whose event loop is blocked.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from math import inf
from threading import Event, Thread
from types import FrameType
from typing import Final

SHOW_CURSOR: Final = b"\x1b[?25h"
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
    is_cancelled = False
    is_over = Event()

    def watch() -> None:
        # Counted in steps, not by the clock: a program that was suspended is not late.
        left = seconds + SECONDS_TO_END
        while left > 0:
            if is_over.wait(1.0):
                return
            left = min(left, SECONDS_TO_END) if is_cancelled else left
            left -= 1
        message = "oracle: the program does not respond, so it was ended; see `oracle runs`\n"
        os.write(sys.stderr.fileno(), message.encode())
        leave_at_once(128 + signal.SIGINT if is_cancelled else UNRESPONSIVE)

    def interrupted(number: int, _: FrameType | None) -> None:
        nonlocal is_cancelled
        # Nothing is lost by leaving: the journal is written while the run works.
        if is_cancelled or number != signal.SIGINT:
            leave_at_once(128 + number)
        is_cancelled = True
        cancel()

    Thread(target=watch, daemon=True, name="watch").start()
    before = {number: signal.signal(number, interrupted) for number in _SIGNALS}
    try:
        yield
    finally:
        is_over.set()
        for number, handler in before.items():
            signal.signal(number, handler)


def leave_at_once(code: int) -> None:
    """End the process without any clean-up, but give the terminal its cursor back."""
    for stream in (sys.stderr, sys.stdout):
        if stream.isatty():
            # Not through the stream: the interrupted code may hold its lock.
            with contextlib.suppress(OSError):  # the terminal may be gone
                os.write(stream.fileno(), SHOW_CURSOR)
            break
    os._exit(code)

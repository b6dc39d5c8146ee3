"""Ctrl-C during an answer: the first one cancels it, the second one ends the program at once."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final

SHOW_CURSOR: Final = b"\x1b[?25h"
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interrupts_call(cancel: Callable[[], object]) -> Generator[None]:
    """Call `cancel` on the first Ctrl-C inside the block.

    It is called from a signal handler, between any two instructions of the main thread. So it must
    take no lock and only wake others.
    """
    is_cancelled = False

    def interrupted(number: int, _: FrameType | None) -> None:
        nonlocal is_cancelled
        # Nothing is lost by leaving: the journal is written while the run works.
        if is_cancelled or number != signal.SIGINT:
            leave_at_once(128 + number)
        is_cancelled = True
        cancel()

    before = {number: signal.signal(number, interrupted) for number in _SIGNALS}
    try:
        yield
    finally:
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

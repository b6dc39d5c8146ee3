"""Ctrl-C while an answer comes: the first cancels it, the second ends the program at once."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final

SHOW_CURSOR: Final = b"\x1b[?25h"


@contextmanager
def interrupts_call(cancel: Callable[[], object]) -> Generator[None]:
    """`cancel` is called in the main thread, in the middle of anything: it must only wake others.

    What is recorded survives any end, so the second time nothing is waited for.
    """
    is_cancelled = False

    def interrupted(number: int, _: FrameType | None) -> None:
        nonlocal is_cancelled
        if is_cancelled or number != signal.SIGINT:
            leave_at_once(128 + number)
        is_cancelled = True
        cancel()

    before = {number: signal.signal(number, interrupted) for number in _NUMBERS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_NUMBERS: Final = (signal.SIGINT, signal.SIGTERM)


def leave_at_once(code: int) -> None:
    for stream in (sys.stderr, sys.stdout):
        if stream.isatty():
            os.write(stream.fileno(), SHOW_CURSOR)
            break
    os._exit(code)

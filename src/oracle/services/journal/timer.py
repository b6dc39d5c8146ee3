"""A moment that a run waits for, live or in a replay."""

from __future__ import annotations

from asyncio import TimerHandle
from collections.abc import Callable


class JournalTimer:
    __slots__ = ("callback", "handle", "is_cancelled", "when")

    def __init__(self, when: float, callback: Callable[[], None]) -> None:
        self.when = when
        self.callback = callback
        self.handle: TimerHandle | None = None
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True
        if self.handle is not None:
            self.handle.cancel()

"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class ManualTimer:
    def __init__(self, when: float, callback: Callable[[], None]) -> None:
        self.when = when
        self.callback = callback
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True

    def fire(self) -> None:
        if not self.cancelled:
            self.callback()


class ManualClock:
    def __init__(self, start: float = 0.0) -> None:
        self._now = start
        self._timers: list[ManualTimer] = []

    def now(self) -> float:
        return self._now

    def call_at(self, when: float, callback: Callable[[], None]) -> ManualTimer:
        """A moment that is past is due at once, as with a real clock."""
        timer = ManualTimer(when, callback)
        if when <= self._now:
            asyncio.get_running_loop().call_soon(timer.fire)
        else:
            self._timers.append(timer)
        return timer

    @property
    def pending(self) -> list[float]:
        """The moments that somebody waits for."""
        return sorted(timer.when for timer in self._timers if not timer.cancelled)

    def advance(self, seconds: float) -> None:
        """Move on and call what has become due, earliest first."""
        self._now += seconds
        due = [timer for timer in self._timers if timer.when <= self._now]
        self._timers = [timer for timer in self._timers if timer.when > self._now]
        for timer in sorted(due, key=lambda timer: timer.when):
            timer.fire()

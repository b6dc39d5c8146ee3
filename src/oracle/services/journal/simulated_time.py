"""Time that passes only while a run waits: a recorded hour is played in a moment, in its order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from heapq import heappop, heappush
from itertools import count
from typing import Final

QUIET_ROUNDS: Final = 4
"""Of the event loop. An effect that a leaf has just asked for gets that many rounds to begin."""
LATENESS: Final = 0.001
HASTY_ROUNDS: Final = 200
LATER_SECONDS: Final = 0.005


class Moment:
    """Something that is to happen, unless it is cancelled."""

    __slots__ = ("callback", "is_cancelled")

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback = callback
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class SimulatedTime:
    """Goes on to the next moment as soon as `is_idle` says that the run waits for one.

    While something real is under way (`real`), time passes as it really does. `when_stuck` is
    called if the run waits and nothing is left that could happen.
    """

    def __init__(self) -> None:
        self.is_idle: Callable[[], bool] = lambda: False
        self.when_stuck: Callable[[], None] = lambda: None
        self._now = 0.0
        self._real_since: float | None = None
        self._under_way = 0
        self._moments: list[tuple[float, int, Moment]] = []
        self._numbers = count()
        self._is_closed = False

    def monotonic(self) -> float:
        since = self._real_since
        return self._now if since is None else self._now + time.monotonic() - since

    def call_later(self, delay: float, callback: Callable[[], None]) -> Moment:
        """For a deadline. A real timer is late too, and never early."""
        return self._add(delay + LATENESS, callback)

    def _add(self, delay: float, callback: Callable[[], None]) -> Moment:
        moment = Moment(callback)
        # Rounded, so that things that ended together do so again, in the order of asking.
        when = round(self.monotonic() + delay, 6)
        heappush(self._moments, (when, next(self._numbers), moment))
        return moment

    async def sleep(self, seconds: float) -> None:
        over = asyncio.Event()
        moment = self._add(seconds, over.set)
        try:
            await over.wait()
        finally:
            moment.cancel()

    @contextmanager
    def real(self) -> Generator[None]:
        """Inside, something takes as long as it really takes."""
        if not self._under_way:
            self._real_since = time.monotonic()
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._now, self._real_since = self.monotonic(), None

    def begin(self) -> None:
        self._watch(0, 0)

    def close(self) -> None:
        self._is_closed = True

    def _watch(self, quiet: int, rounds: int) -> None:
        if self._is_closed:
            return
        quiet = quiet + 1 if self.is_idle() else 0
        if quiet > QUIET_ROUNDS and self._go_on():
            quiet = rounds = 0
        loop = asyncio.get_running_loop()
        if rounds < HASTY_ROUNDS:
            loop.call_soon(self._watch, quiet, rounds + 1)
        else:
            # A leaf that computes, or something real: no reason for a busy loop.
            loop.call_later(LATER_SECONDS, self._watch, quiet, rounds)

    def _go_on(self) -> bool:
        """Let the next moment come. Returns whether one came."""
        while self._moments and self._moments[0][2].is_cancelled:
            heappop(self._moments)
        if not self._moments:
            if not self._under_way:
                self.when_stuck()
            return False
        when = self._moments[0][0]
        if self._under_way and when > self.monotonic():
            return False
        if not self._under_way:
            self._now = max(self._now, when)
        heappop(self._moments)[2].callback()
        return True

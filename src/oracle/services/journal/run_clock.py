"""The clock of a run: it goes on from the recorded time, and it can be simulated."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Handle(Protocol):
    def cancel(self) -> object: ...


class TimeSource(Protocol):
    """Where time comes from. A simulated one lets a day pass in a moment."""

    def monotonic(self) -> float: ...
    def call_later(self, delay: float, callback: Callable[[], None]) -> Handle: ...


class RealTime:
    def monotonic(self) -> float:
        return time.monotonic()

    def call_later(self, delay: float, callback: Callable[[], None]) -> Handle:
        return asyncio.get_running_loop().call_later(delay, callback)


REAL_TIME = RealTime()


class RunClock:
    """Reads the time for a run, or takes it from the record.

    `time` is when the last thing happened to the run: a tick, a part, an answer, a command. A run
    that continues after its record continues from the recorded time, so that the time until a
    deadline does not include the time between crash and resume.
    """

    def __init__(self, source: TimeSource) -> None:
        self._source = source
        self._offset = 0.0
        self.time = 0.0

    def read(self) -> float:
        """Read the clock for a tick."""
        reading = self._source.monotonic() + self._offset
        self.time = max(self.time, reading)
        return reading

    def read_for_record(self) -> float:
        """Read the clock for something that happens now. The record keeps milliseconds."""
        reading = round(self._source.monotonic() + self._offset, 3)
        self.time = max(self.time, reading)  # rounding must not lead back before the tick
        return reading

    def set(self, recorded: float) -> None:
        """Go on from a recorded time."""
        self._offset = recorded - self._source.monotonic()
        self.time = max(self.time, recorded)

    def call_at(self, when: float, callback: Callable[[], None]) -> Handle:
        delay = max(0.0, when - self._source.monotonic() - self._offset)
        return self._source.call_later(delay, callback)

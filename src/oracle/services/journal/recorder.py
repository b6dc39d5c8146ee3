"""Makes the records of one run: numbers them, adds the clock, and collects parts of streams."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Final

from oracle.errors import JournalError
from oracle.services.journal.record import Place, Record, RecordKind
from oracle.services.journal.sinks import Sink

FLUSH_SECONDS: Final = 0.25
"""How long parts of a stream are collected. A crash loses at most this much of it."""


class Recorder:
    def __init__(self, sink: Sink, first_seq: int) -> None:
        self._sink = sink
        self._seq = first_seq
        self._readings: list[float] = []
        self._parts: list[Any] = []
        self._parts_times: list[float] = []
        self._parts_of = Place()
        self._parts_timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    def add_reading(self, reading: float) -> None:
        """Add it to the next record."""
        self._readings.append(reading)

    def write_readings(self) -> None:
        """Write them without a record of their own, if there are any: what a tick says may depend
        on its time, and a replay that read the clock anew could say something else.
        """
        self.write_parts()
        if self._readings and not self._is_closed:
            self._write("parts", Place(), [], ())

    def append(self, kind: RecordKind, place: Place, body: Any, at: float) -> None:
        """`at` is the time at which it happens to the run."""
        if self._is_closed:
            return
        if kind != "parts":
            # Parts that were streamed before are written before: a replay repeats the order.
            self.write_parts()
            self._write(kind, place, body, (at,))
            return
        if place != self._parts_of:
            self.write_parts()
        if self._parts_timer is None:
            loop = asyncio.get_running_loop()
            self._parts_timer = loop.call_later(FLUSH_SECONDS, self._write_parts_in_time)
        self._parts_of = place
        self._parts.append(body)
        self._parts_times.append(at)

    def write_parts(self) -> None:
        if self._parts_timer is not None:
            self._parts_timer.cancel()
            self._parts_timer = None
        if self._parts:
            parts, self._parts = self._parts, []
            times, self._parts_times = self._parts_times, []
            self._write("parts", self._parts_of, parts, tuple(times))

    def _write_parts_in_time(self) -> None:
        # Nobody can be told in a timer. A sink that has failed stops its run itself.
        with suppress(JournalError):
            self.write_parts()

    async def before_write(self) -> None:
        """Returns when everything so far is safe, and a write can be done once only."""
        self.write_parts()
        await self._sink.before_write()

    async def flush(self) -> None:
        """Returns when everything so far is safe."""
        self.write_parts()
        await self._sink.flush()

    async def close(self) -> None:
        """Write all records so far. Later ones belong to no run and are not recorded."""
        self.write_parts()
        self._is_closed = True
        await self._sink.flush()

    def _write(self, kind: RecordKind, place: Place, body: Any, times: tuple[float, ...]) -> None:
        self._sink.append(Record(self._seq, kind, place, body, tuple(self._readings), times))
        # After the sink has taken it: a number that was refused is used again, so that there is
        # never a gap.
        self._seq += 1
        self._readings.clear()

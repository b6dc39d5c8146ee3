"""The part of a run that has happened already, played again in the order of the record."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any, Final

from oracle.errors import ReplayDiverged
from oracle.lazy_dataclass import dataclass
from oracle.services.journal.record import Place, Record, RecordKind
from oracle.services.journal.rest_gate import RestGate
from oracle.services.journal.run_clock import Handle

PATIENCE: Final = 200
"""Rounds of the event loop. A run that has not asked for the next entry by then never will."""


class JournalTimer:
    """A moment that a run waits for, live or in a replay."""

    __slots__ = ("callback", "handle", "is_cancelled", "when")

    def __init__(self, when: float, callback: Callable[[], None]) -> None:
        self.when = when
        self.callback = callback
        self.handle: Handle | None = None
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True
        if self.handle is not None:
            self.handle.cancel()


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that happens to a run: one part, one answer, one deadline."""

    kind: RecordKind
    place: Place
    body: Any
    readings: int = 0
    """How often the clock was read before it."""
    at: float | None = None
    """When it happened; None in the record of an older version."""


class RecordedPast:
    """Hands each entry to the leaf that waits for it, once it is that entry's turn."""

    def __init__(
        self,
        records: Iterable[Record],
        gate: RestGate,
        *,
        on_hand_over: Callable[[str], None],
        on_time: Callable[[float], None],
        on_command: Callable[[Any], None],
        when_over: Callable[[JournalTimer | None], None],
        may_go_on: bool,
    ) -> None:
        self.next_seq = 0
        self.open_intents: dict[Place, Any] = {}
        """Effects that write and have a recorded beginning, but no recorded end; their marks."""
        self.diverged: ReplayDiverged | None = None
        self._entries: deque[Entry] = deque()
        self._readings: deque[float] = deque()
        self._readings_in_all = 0
        for record in records:
            self._read(record)
        self._gate = gate
        self._on_hand_over = on_hand_over
        self._on_time = on_time
        self._on_command = on_command
        self._when_over = when_over
        self._waiting: dict[Place, asyncio.Future[Entry | None]] = {}
        self._timer: JournalTimer | None = None
        self._may_go_on = may_go_on
        self._is_entering = False
        self._run_knows_it_is_over = self.is_over
        self._calls = 0

    @property
    def is_over(self) -> bool:
        return not self._entries

    def next_reading(self) -> float | None:
        """The recorded reading of the clock; None after the end of the record."""
        return self._readings.popleft() if self._readings else None

    def give_early_commands(self) -> None:
        """Repeat commands that arrived before the first tick, again before it."""
        taken = self._readings_in_all - len(self._readings)
        while self._entries and self._entries[0].kind == "command":
            # The clock is read once a tick, so readings count the ticks before the command.
            if self._entries[0].readings > taken:
                return
            self._on_command(self._take_next().body)
            if self.is_over:
                self._end()

    async def entry_for(self, place: Place) -> Entry | None:
        """Wait for the entry of this effect; None if the record is over."""
        if self.is_over and self._run_knows_it_is_over and self._may_go_on:
            return None
        future = asyncio.get_running_loop().create_future()
        self._waiting[place] = future
        if self.is_over:
            # Reported only to a run at rest. The tree may be about to halt this leaf, as it did in
            # the recorded run. The leaf must not start an effect that it did not start there.
            self._gate.when_at_rest(self._release_waiting)
        else:
            self.advance()
        return await future

    def set_timer(self, timer: JournalTimer) -> None:
        """A run has one timer at a time, for its nearest deadline."""
        self._timer = timer
        self.advance()

    def advance(self) -> None:
        """Let the next entry happen if the run waits for it."""
        self._calls += 1
        if self._is_entering or self.is_over:
            return
        if self._is_awaited(self._entries[0]):
            self._is_entering = True
            self._gate.when_at_rest(self._happen)
        else:
            # It may be asked for within the next rounds. `_calls` ends this wait as soon as
            # anything else moves the run on.
            self._lose_patience(self._calls, PATIENCE)

    def _read(self, record: Record) -> None:
        self.next_seq = record.seq + 1
        self._readings.extend(record.clock)
        self._readings_in_all += len(record.clock)
        if record.kind == "intent":
            self.open_intents[record.place] = record.body.get("mark")
        elif record.kind == "parts":
            times = record.times or repeat(None)
            self._entries.extend(
                Entry("parts", record.place, part, at=at)
                for part, at in zip(record.body, times, strict=False)
            )
        elif record.kind not in ("start", "end"):
            self.open_intents.pop(record.place, None)
            at = record.times[0] if record.times else None
            entry = Entry(record.kind, record.place, record.body, self._readings_in_all, at)
            self._entries.append(entry)

    def _is_awaited(self, entry: Entry) -> bool:
        if entry.kind == "wake":
            return self._timer is not None and not self._timer.is_cancelled
        return entry.kind == "command" or entry.place in self._waiting

    def _happen(self) -> None:
        self._is_entering = False
        # The leaf that waited may have been halted before the run was at rest.
        if not self._is_awaited(self._entries[0]):
            self.advance()
            return
        entry = self._take_next()
        if entry.kind == "wake":
            assert self._timer is not None
            self._timer.callback()
        elif entry.kind == "command":
            self._on_command(entry.body)
        else:
            future = self._waiting.pop(entry.place)
            if not future.done():
                self._on_hand_over(entry.place.node_path)
                future.set_result(entry)
        if self.is_over:
            self._end()
        else:
            self.advance()

    def _take_next(self) -> Entry:
        entry = self._entries.popleft()
        if entry.at is not None:
            self._on_time(entry.at)
        return entry

    def _release_waiting(self) -> None:
        """Report to the waiting leaves that what they need is not in the record."""
        self._run_knows_it_is_over = True
        for place, future in list(self._waiting.items()):
            del self._waiting[place]
            if not future.done():
                self._on_hand_over(place.node_path)
                future.set_result(None)

    def _end(self) -> None:
        # First the journal goes live, so that "resumed" is recorded before any new effect.
        self._when_over(self._timer)
        self._gate.when_at_rest(self._release_waiting)

    def _lose_patience(self, calls: int, rounds: int) -> None:
        if calls != self._calls or self.is_over:
            return
        if rounds:
            loop = asyncio.get_running_loop()
            loop.call_soon(self._lose_patience, calls, rounds - 1)
            return
        self.diverged = ReplayDiverged(self._what_is_missing(self._entries[0]))
        # After a difference, no later entry can be trusted to belong to this run.
        self._entries.clear()
        self._end()

    def _what_is_missing(self, entry: Entry) -> str:
        place = entry.place
        where = f"{place.node_path or 'the run'} in turn {place.turn}"
        if any((p.node_path, p.turn) == (place.node_path, place.turn) for p in self._waiting):
            return f"{where} asks for something else than on record"
        return f"the run does not ask for what comes next on record: {entry.kind} for {where}"

"""The journal itself: live, replaying, and from the one to the other.

It fits the engine's ports for effects and for the clock by shape, without knowing the engine.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    Callable,
    Iterable,
    Mapping,
)
from functools import partial
from hashlib import sha256
from typing import Any, Final, Protocol

from oracle.errors import JournalError, ReplayDiverged
from oracle.services.journal.after_crash import Effect, Source, cut_off, recovering
from oracle.services.journal.errand import Brought, Errand, Told, as_written
from oracle.services.journal.failures import as_exception
from oracle.services.journal.json_shape import as_json, json_shaped
from oracle.services.journal.record import Place, Record, RecordKind
from oracle.services.journal.script import Entry, Script
from oracle.services.journal.sinks import MemorySink, Sink
from oracle.services.journal.timer import JournalTimer
from oracle.services.journal.turnstile import Turnstile

FLUSH_SECONDS: Final = 0.25


class Key(Protocol):
    """What the engine names an effect by."""

    @property
    def node_path(self) -> str: ...
    @property
    def turn(self) -> int: ...


class Run(Protocol):
    """What the journal asks of a run."""

    def is_at_rest(self, blocked: Mapping[str, int]) -> bool: ...
    def is_asleep(self) -> bool: ...
    def close(self, task: asyncio.Task[Any]) -> None: ...


class Journal:
    """The port of one run. With `records` it answers from them as far as they go.

    What it needs beyond its record, a journal that `may_act` gets from the world: that is how a run
    goes on after a crash. One that may not is a replay, and says what is missing.
    """

    def __init__(
        self,
        sink: Sink | None = None,
        *,
        records: Iterable[Record] = (),
        may_act: bool = True,
        on_command: Callable[[Any], None] | None = None,
    ) -> None:
        self._sink = sink or MemorySink()
        self._may_act = may_act
        self._on_command = on_command or _ignore
        self._blocked: Counter[str] = Counter()
        self._handed_over: set[str] = set()
        self._run: Run | None = None
        self._turnstile = Turnstile(self)
        self._script = Script(
            records,
            self._turnstile,
            on_hand_over=self._handed_over.add,
            on_command=self._on_command,
            when_over=self._go_live,
            may_go_on=may_act,
        )
        self._seq = self._script.next_seq
        self._has_past = self._seq > 0
        self._held: list[Callable[[], None]] = []
        self._clock_offset = 0.0
        self._readings: list[float] = []
        self._unwritten: list[Any] = []
        self._unwritten_of = Place()
        self._unwritten_timer: asyncio.TimerHandle | None = None
        self._asked: Counter[tuple[str, int, str]] = Counter()
        self._is_closed = False

    @property
    def diverged(self) -> ReplayDiverged | None:
        """Why the run could not be told again, even if a leaf has swallowed it."""
        return self._script.diverged

    @property
    def is_live(self) -> bool:
        """Whether what happens now happens for the first time."""
        return self._may_act and self._script.is_over

    # -- a run's beginning and end -----------------------------------------------------------------

    def attach(self, run: Run) -> None:
        """Serve this run; until it is at rest, nothing happens to it."""
        self._run = run
        if not self._has_past:
            for happen in self._taken_from_held():
                happen()
        elif self._script.is_over:
            self._go_live(None)
        else:
            self._script.tell_early_commands()
        self._script.advance()

    async def begin(self, body: Any) -> None:
        """Write down what else the run depends on; a disk that fails is noticed here."""
        self._append("start", Place(), body)
        await self._sink.flush()

    async def end(self, body: Any) -> None:
        self._append("end", Place(), body)
        await self._sink.flush()

    async def flush(self) -> None:
        self._write_parts()
        await self._sink.flush()

    async def close(self) -> None:
        """Write what has come so far; whatever comes later belongs to nobody any more."""
        self.detach()
        self._write_parts()
        self._is_closed = True
        await self._sink.flush()

    def detach(self) -> None:
        """The run has ended; commands that come now, or still wait, come too late."""
        self._turnstile.close()

    def command(self, body: Any) -> None:
        """Let somebody outside tell the run something, at a place of the record.

        One that comes before the first tick is obeyed before it; one that comes while a resumed run
        still tells its past, after that: where it stands in the record is where it happens.
        """

        def happen() -> None:
            try:
                self._append("command", Place(), body)
            finally:
                self._on_command(body)

        if self._may_act and (self._run is None or not self._script.is_over):
            self._held.append(happen)
        else:
            self._turnstile.enter(happen)

    def _taken_from_held(self) -> list[Callable[[], None]]:
        held, self._held = self._held, []
        return held

    # -- effects -----------------------------------------------------------------------------------

    async def perform(
        self,
        key: Key,
        request: Any,
        effect: Effect,
        *,
        writes: bool = False,
        recover: Effect | None = None,
    ) -> Any:
        request, place = self._placed(key, request)
        self._block(place)
        try:
            return await self._performed(place, request, effect, writes, recover)
        finally:
            self._unblock(place)

    async def _performed(
        self, place: Place, request: Any, effect: Effect, writes: bool, recover: Effect | None
    ) -> Any:
        entry = await self._recorded(place)
        if entry is not None:
            if entry.kind == "answer":
                return entry.body["value"]
            raise as_exception(entry.body)
        if writes and place in self._script.open_intents:
            effect = recovering(place, effect, recover)
        elif writes:
            effect = self._intended(place, request, effect)
        with self._errand(place, request) as errand:
            errand.perform(effect)
            _, body, problem = await errand.ask()
        if problem is not None:
            raise problem
        return body["value"]

    def _intended(self, place: Place, request: Any, effect: Effect) -> Effect:
        async def intended() -> Any:
            self._append("intent", place, {"request": request})
            await self._sink.flush()
            return await effect()

        return intended

    def stream(self, key: Key, request: Any, source: Source) -> AsyncGenerator[Any, None]:
        request, place = self._placed(key, request)
        if self.is_live:
            return self._live_parts(place, request, source)
        return self._told_parts(place, request, source)

    async def _told_parts(
        self, place: Place, request: Any, source: Source
    ) -> AsyncGenerator[Any, None]:
        count = 0
        while (entry := await self._told_part(place)) is not None:
            if entry.kind == "failure":
                raise as_exception(entry.body)
            if entry.kind == "answer":
                return
            count += 1
            yield entry.body
        if count:
            source = cut_off(f"{place.node_path}: a crash cut it after {count} parts")
        async for part in self._live_parts(place, request, source):
            yield part

    async def _told_part(self, place: Place) -> Entry | None:
        self._block(place)
        try:
            return await self._recorded(place)
        finally:
            self._unblock(place)

    async def _live_parts(
        self, place: Place, request: Any, source: Source
    ) -> AsyncGenerator[Any, None]:
        with self._errand(place, request) as errand:
            errand.stream(source)
            while True:
                self._block(place)
                try:
                    if errand.ahead and self._turnstile.is_free:
                        brought = errand.take()
                        self._append(brought[0], place, as_written(request, brought))
                    else:
                        brought = await errand.ask()
                finally:
                    self._unblock(place)
                kind, part, problem = brought
                if kind == "answer":
                    return
                if problem is not None:
                    raise problem
                yield part

    def _errand(self, place: Place, request: Any) -> Errand:
        return Errand(place.node_path, partial(self._tell, place, request), self._close_task)

    def _close_task(self, task: asyncio.Task[None]) -> None:
        if self._run is None:
            task.cancel()
        else:
            self._run.close(task)

    # -- the clock ---------------------------------------------------------------------------------

    def now(self) -> float:
        """Read the clock, once a tick."""
        recorded = self._script.next_reading()
        if recorded is not None:
            self._clock_offset = recorded - time.monotonic()
            return recorded
        reading = time.monotonic() + self._clock_offset
        self._readings.append(reading)
        return reading

    def call_at(self, when: float, callback: Callable[[], None]) -> JournalTimer:
        timer = JournalTimer(when, callback)
        if self._script.is_over:
            self._arm(timer)
        else:
            self._script.set_timer(timer)
        return timer

    def _arm(self, timer: JournalTimer) -> None:
        def happen() -> None:
            if timer.is_cancelled:
                return
            try:
                self._append("wake", Place(), None)
            finally:
                timer.callback()

        delay = max(0.0, timer.when - time.monotonic() - self._clock_offset)
        loop = asyncio.get_running_loop()
        timer.handle = loop.call_later(delay, self._turnstile.enter, happen)

    # -- rest --------------------------------------------------------------------------------------

    def is_at_rest(self) -> bool:
        if self._run is None or self._handed_over:
            return False
        return self._run.is_at_rest(self._blocked)

    def is_asleep(self) -> bool:
        return self._run is None or self._run.is_asleep()

    def _block(self, place: Place) -> None:
        """From here to `_unblock` the leaf does nothing but wait for the journal."""
        self._blocked[place.node_path] += 1

    def _unblock(self, place: Place) -> None:
        self._blocked[place.node_path] -= 1
        self._handed_over.discard(place.node_path)

    def _placed(self, key: Key, request: Any) -> tuple[Any, Place]:
        """The request as a replay will have it, and its place among those of its kind."""
        name = sha256(as_json(request).encode()).hexdigest()[:12]
        asked = (key.node_path, key.turn, name)
        self._asked[asked] += 1
        return json_shaped(request), Place(key.node_path, key.turn, self._asked[asked] - 1, name)

    # -- from the record to the world --------------------------------------------------------------

    async def _recorded(self, place: Place) -> Entry | None:
        """What the record has for this effect; None if the world is to be asked."""
        entry = await self._script.entry_for(place)
        if entry is None and not self._may_act:
            self._script.diverged = self._script.diverged or ReplayDiverged(
                f"{place.node_path} in turn {place.turn} needs an answer that is not on record"
            )
        if self._script.diverged is not None:
            raise self._script.diverged
        return entry

    def _go_live(self, timer: JournalTimer | None) -> None:
        """The record is over. If this is no mere replay, that is itself worth a record."""
        if not self._may_act:
            return
        self.command({"resumed": True})
        for happen in self._taken_from_held():
            self._turnstile.enter(happen)
        if timer is not None and not timer.is_cancelled:
            self._arm(timer)

    # -- writing -----------------------------------------------------------------------------------

    def _tell(self, place: Place, request: Any, told: Told, brought: Brought) -> None:
        """Record it when it is its turn. A leaf that is halted before that never hears of it."""

        def happen() -> None:
            if told.cancelled():
                return
            self._handed_over.add(place.node_path)
            try:
                self._append(brought[0], place, as_written(request, brought))
            except JournalError as failure:
                told.set_result(("failure", None, failure))
            else:
                told.set_result(brought)

        self._turnstile.enter(happen, drop=told.cancel)

    def _append(self, kind: RecordKind, place: Place, body: Any) -> None:
        """Parts of one stream are gathered, for as long as may be lost in a crash."""
        if self._is_closed:
            return
        if kind != "parts":
            self._write_parts()
            self._write(kind, place, body)
            return
        if place != self._unwritten_of:
            self._write_parts()
        if self._unwritten_timer is None:
            loop = asyncio.get_running_loop()
            self._unwritten_timer = loop.call_later(FLUSH_SECONDS, self._write_parts)
        self._unwritten_of = place
        self._unwritten.append(body)

    def _write_parts(self) -> None:
        if self._unwritten_timer is not None:
            self._unwritten_timer.cancel()
            self._unwritten_timer = None
        if self._unwritten:
            parts, self._unwritten = self._unwritten, []
            self._write("parts", self._unwritten_of, parts)

    def _write(self, kind: RecordKind, place: Place, body: Any) -> None:
        self._sink.append(Record(self._seq, kind, place, body, tuple(self._readings)))
        self._seq += 1
        self._readings.clear()


def _ignore(_: Any) -> None:
    """Nobody listens to commands."""

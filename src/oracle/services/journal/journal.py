"""The journal itself: live, in a replay, and the change from the record to live.

It fits the engine's ports for effects and for the clock by shape, without knowing the engine.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import Any, Literal

from oracle.errors import InterruptedWrite, JournalError, ReplayDiverged
from oracle.services.journal.effect_task import (
    Effect,
    EffectTask,
    Reply,
    Result,
    Source,
    Writing,
    interrupted,
    recovering,
    refused,
)
from oracle.services.journal.failures import as_exception
from oracle.services.journal.record import Asked, Key, Place, Record, as_json, json_shaped
from oracle.services.journal.recorded_past import Entry, JournalTimer, RecordedPast
from oracle.services.journal.recorder import Recorder
from oracle.services.journal.rest_gate import RestGate, Run
from oracle.services.journal.run_clock import REAL_TIME, RunClock, TimeSource
from oracle.services.journal.sinks import MemorySink, Sink


class Journal:
    """The port of one run. With `records` it returns recorded results as far as they go.

    After the record, a journal that `may_act` performs effects: this is how a run continues after
    a crash. One that may not act is a replay. It stops and names what is missing.
    """

    def __init__(
        self,
        sink: Sink | None = None,
        *,
        records: Iterable[Record] = (),
        may_act: bool = True,
        on_command: Callable[[Any], None] | None = None,
        resumed_with: Mapping[str, Any] | None = None,
        time_source: TimeSource = REAL_TIME,
    ) -> None:
        """`resumed_with` are facts for the record, if the run continues after a crash."""
        self._clock = RunClock(time_source)
        self._resumed_with = resumed_with or {}
        self._may_act = may_act
        self._on_command = on_command or _ignore
        self._blocked: Counter[str] = Counter()
        self._handed_over: set[str] = set()
        self._run: Run | None = None
        self._gate = RestGate(self)
        self._past = RecordedPast(
            records,
            self._gate,
            on_hand_over=self._handed_over.add,
            on_time=self._clock.set,
            on_command=self._on_command,
            when_over=self._go_live,
            may_go_on=may_act,
        )
        self._has_past = self._past.next_seq > 0
        self._recorder = Recorder(sink or MemorySink(), self._past.next_seq)
        self._held_commands: list[Callable[[], None]] = []
        self._asked: Counter[Asked] = Counter()
        # Writes that failed with `InterruptedWrite`. A `retry` around the leaf must not do them.
        self._unknown: set[Asked] = set()

    @property
    def diverged(self) -> ReplayDiverged | None:
        """Why the record does not fit the run, even if a leaf has swallowed the exception."""
        return self._past.diverged

    @property
    def is_live(self) -> bool:
        """Whether what happens now happens for the first time."""
        return self._may_act and self._past.is_over

    # -- a run's beginning and end -----------------------------------------------------------------

    def attach(self, run: Run) -> None:
        """Serve this run. Nothing happens to it until it is at rest."""
        self._run = run
        if not self._has_past:
            # A new run has not ticked yet, so early commands happen before its first tick, without
            # the gate. A replay repeats them at the same place (`give_early_commands`).
            for happen in self._take_held_commands():
                happen()
        elif self._past.is_over:
            self._go_live(None)
        else:
            self._past.give_early_commands()
        self._past.advance()

    async def begin(self, body: Any) -> None:
        """Record what else the run depends on. If the disk fails, this raises."""
        self._recorder.append("start", Place(), body, self._clock.time)
        await self._recorder.flush()

    async def end(self, body: Any) -> None:
        self._recorder.append("end", Place(), body, self._clock.time)
        await self._recorder.flush()

    def write(self) -> None:
        """Hand over to the sink all that the run has said so far. It is not safe yet."""
        self._recorder.write_readings()

    async def flush(self) -> None:
        """Returns when all that the run has said so far would be said again by its record."""
        self.write()
        await self._recorder.flush()

    async def close(self) -> None:
        """Write all records so far, and ignore later ones."""
        self.detach()
        await self._recorder.close()

    def detach(self) -> None:
        """The run has ended. Commands that arrive now, or still wait, are dropped."""
        self._gate.close()

    def command(self, body: Any) -> None:
        """Send the run a command from outside, such as to stop. It gets a place in the record.

        A command before the first tick is obeyed before that tick. One that arrives while a resumed
        run still repeats its past is obeyed after the past, because the past is already recorded.
        """

        def happen() -> None:
            # Also if the record fails: a user who stops a run must be obeyed.
            with suppress(JournalError):
                self._recorder.append("command", Place(), body, self._clock.read_for_record())
            self._on_command(body)

        if self._may_act and (self._run is None or not self._past.is_over):
            self._held_commands.append(happen)
        else:
            self._gate.when_at_rest(happen)

    def _take_held_commands(self) -> list[Callable[[], None]]:
        held, self._held_commands = self._held_commands, []
        return held

    # -- effects -----------------------------------------------------------------------------------

    async def perform(
        self,
        key: Key,
        request: Any,
        effect: Effect,
        *,
        writes: bool | Writing = False,
    ) -> Any:
        request, place = self._placed(key, request)
        self._block(place)
        try:
            entry = await self._recorded(place)
            if entry is not None:
                if entry.kind == "answer":
                    return entry.body["value"]
                raise as_exception(entry.body)
            if writes:
                effect = self._careful(place, request, effect, writes)
            with self._effect_task(place, request) as task:
                task.perform(effect)
                result = await task.next_result()
            if result.problem is not None:
                raise result.problem
            return result.body["value"]
        except InterruptedWrite:
            self._unknown.add(place.asked)
            raise
        finally:
            self._unblock(place)

    def _careful(
        self, place: Place, request: Any, effect: Effect, writes: Writing | Literal[True]
    ) -> Effect:
        """The effect of a write, so that no crash and no other try can make it happen twice."""
        mark, recover = (None, None) if writes is True else (writes.mark, writes.recover)
        if place in self._past.open_intents:
            return recovering(place, self._past.open_intents[place], effect, recover)
        if place.asked in self._unknown:
            return refused(place)
        return self._with_intent(place, request, effect, mark)

    def _with_intent(
        self, place: Place, request: Any, effect: Effect, mark: Effect | None
    ) -> Effect:
        async def intended() -> Any:
            body = {"request": request}
            if mark is not None:
                body["mark"] = json_shaped(await mark())
            self._recorder.append("intent", place, body, self._clock.time)
            # On disk before the effect: after a crash in between it is unknown whether it was
            # done, and without the intent it would be done twice.
            await self._recorder.before_write()
            return await effect()

        return intended

    def stream(self, key: Key, request: Any, source: Source) -> AsyncGenerator[Any, None]:
        request, place = self._placed(key, request)
        if self.is_live:
            return self._live_parts(place, request, source)
        return self._recorded_parts(place, request, source)

    async def _recorded_parts(
        self, place: Place, request: Any, source: Source
    ) -> AsyncGenerator[Any, None]:
        count = 0
        while (entry := await self._recorded_part(place)) is not None:
            if entry.kind == "failure":
                raise as_exception(entry.body)
            if entry.kind == "answer":
                return
            count += 1
            yield entry.body
        if count:
            # The leaf has used these parts already, and a new stream would not continue them.
            source = interrupted(place, count)
        async for part in self._live_parts(place, request, source):
            yield part

    async def _recorded_part(self, place: Place) -> Entry | None:
        self._block(place)
        try:
            return await self._recorded(place)
        finally:
            self._unblock(place)

    async def _live_parts(
        self, place: Place, request: Any, source: Source
    ) -> AsyncGenerator[Any, None]:
        with self._effect_task(place, request) as task:
            task.stream(source)
            while True:
                # Blocked only while it waits for a part. Between parts the leaf is at work.
                self._block(place)
                try:
                    if task.ready and self._gate.is_open:
                        # The short way for a burst: no future, no round of the event loop.
                        result = task.take_ready()
                        written = result.as_written(request)
                        self._recorder.append(
                            result.kind, place, written, self._clock.read_for_record()
                        )
                    else:
                        result = await task.next_result()
                finally:
                    self._unblock(place)
                if result.kind == "answer":
                    return
                if result.problem is not None:
                    raise result.problem
                yield result.body

    def _effect_task(self, place: Place, request: Any) -> EffectTask:
        deliver = partial(self._deliver, place, request)
        return EffectTask(place.node_path, deliver, self._close_task)

    def _close_task(self, task: asyncio.Task[None]) -> None:
        if self._run is None:
            task.cancel()
        else:
            # The run awaits the end of the task before its next tick, so that a connection is
            # closed and not abandoned.
            self._run.close(task)

    def _deliver(self, place: Place, request: Any, reply: Reply, result: Result) -> None:
        """Record a result and hand it to its leaf, when the run is at rest."""

        def happen() -> None:
            # A leaf that was halted in between gets nothing, so nothing is recorded: in a replay
            # it is halted at the same place and does not ask.
            if reply.cancelled():
                return
            self._handed_over.add(place.node_path)
            try:
                # Before the leaf can act on it: what a leaf has seen is always recorded.
                written = result.as_written(request)
                self._recorder.append(result.kind, place, written, self._clock.read_for_record())
            except JournalError as failure:
                reply.set_result(Result("failure", None, failure))
            else:
                reply.set_result(result)

        self._gate.when_at_rest(happen, drop=reply.cancel)

    # -- the clock ---------------------------------------------------------------------------------

    def now(self) -> float:
        """Read the clock, once a tick."""
        recorded = self._past.next_reading()
        if recorded is not None:
            self._clock.set(recorded)
            return recorded
        reading = self._clock.read()
        self._recorder.add_reading(reading)
        return reading

    @property
    def time(self) -> float:
        """When the last thing happened to the run: a tick, a part, an answer, a command."""
        return self._clock.time

    def call_at(self, when: float, callback: Callable[[], None]) -> JournalTimer:
        timer = JournalTimer(when, callback)
        if self._past.is_over:
            self._arm(timer)
        else:
            # In a replay a deadline comes where the record has it, not when time has passed.
            self._past.set_timer(timer)
        return timer

    def _arm(self, timer: JournalTimer) -> None:
        def happen() -> None:
            # The deadline may be cancelled while it waits for the run to rest.
            if timer.is_cancelled:
                return
            with suppress(JournalError):
                self._recorder.append("wake", Place(), None, self._clock.read_for_record())
            timer.callback()

        timer.handle = self._clock.call_at(timer.when, partial(self._gate.when_at_rest, happen))

    # -- rest --------------------------------------------------------------------------------------

    def is_at_rest(self) -> bool:
        # A leaf that was handed something still counts as blocked until its task runs again.
        if self._run is None or self._handed_over:
            return False
        return self._run.is_at_rest(self._blocked)

    def is_asleep(self) -> bool:
        return self._run is None or self._run.is_asleep()

    @property
    def is_idle(self) -> bool:
        """Whether the run waits for the outside, and nothing waits to happen to it."""
        return self._run is not None and self._gate.is_open

    def _block(self, place: Place) -> None:
        """From here to `_unblock` the leaf does nothing but wait for the journal."""
        self._blocked[place.node_path] += 1

    def _unblock(self, place: Place) -> None:
        self._blocked[place.node_path] -= 1
        self._handed_over.discard(place.node_path)

    def _placed(self, key: Key, request: Any) -> tuple[Any, Place]:
        """The request as a replay will have it, and its place among those of its kind."""
        name = sha256(as_json(request).encode()).hexdigest()[:12]
        asked = Asked(key.node_path, key.turn, name)
        self._asked[asked] += 1
        return json_shaped(request), Place(key.node_path, key.turn, self._asked[asked] - 1, name)

    # -- from the record to the world --------------------------------------------------------------

    async def _recorded(self, place: Place) -> Entry | None:
        """The entry for this effect; None if the effect is to be performed."""
        entry = await self._past.entry_for(place)
        if entry is None and not self._may_act:
            self._past.diverged = self._past.diverged or ReplayDiverged(
                f"{place.node_path} in turn {place.turn} needs an answer that is not on record"
            )
        # Checked for a run that may act as well: one that did not follow its record must not
        # perform effects.
        if self._past.diverged is not None:
            raise self._past.diverged
        return entry

    def _go_live(self, timer: JournalTimer | None) -> None:
        """The record is over. A run that continues records that it was resumed, and where."""
        if not self._may_act:
            return
        self.command({"resumed": True, "at": round(time.time(), 3), **self._resumed_with})
        # After it, the commands that arrived while the past was repeated, in their order.
        for happen in self._take_held_commands():
            self._gate.when_at_rest(happen)
        if timer is not None and not timer.is_cancelled:
            self._arm(timer)


def _ignore(_: Any) -> None:
    """Nobody listens to commands."""

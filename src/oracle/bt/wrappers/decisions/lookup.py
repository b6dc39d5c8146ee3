"""Finds the answers of a recording by what is asked, for a run that may go another way.

A response of the model is looked up by its request without the system prompt, then by its turn. It
is only assumed that the model would say the same if it was found by its turn, or if the prompt or
the model is another one. A call is looked up by its tool and its
arguments. A call that writes is never performed, and a person is never asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import Any, Final, Literal, NamedTuple, cast

from oracle.bt.core.effects import Effect as Perform
from oracle.bt.core.effects import EffectKey, Writing
from oracle.bt.wrappers.decisions.recording import Effect, Identity
from oracle.errors import ReplayDiverged
from oracle.lazy_dataclass import dataclass
from oracle.services.journal import Journal
from oracle.services.journal.failures import as_exception
from oracle.services.journal.simulated_time import SimulatedTime

SLACK: Final = 0.05
"""Seconds by which a deadline may come later than recorded."""


class Note(NamedTuple):
    """Something about one effect: that its answer was assumed, is missing, or came live.

    `why` says why it was assumed: the request differs, or only the prompt or the model does.
    """

    turn: int
    node: str
    words: str
    why: Literal["", "request", "prompt"] = ""


class Found(NamedTuple):
    effect: Effect
    is_assumed: bool = False


class RecordedEffects:
    """The effects of a recording. Each response is given once; a call may be repeated."""

    def __init__(self, effects: Sequence[Effect]) -> None:
        self._left = list(effects)
        self._given: list[Effect] = []

    def find(self, identity: Identity, turn: int, *, may_assume: bool) -> Found | None:
        kind, key = identity.kind, identity.key
        for effect in self._left:
            if effect.identity[:2] == (kind, key):
                return self._give(effect)
        if kind == "tool":
            # The same call again brings the same: nothing was written in between.
            again = [e for e in self._given if e.identity[:2] == (kind, key)]
            return Found(again[-1]) if again else None
        if not may_assume:
            return None
        for effect in self._left:
            if _may_stand_for(effect, identity, turn):
                return self._give(effect, is_assumed=True)
        return None

    def _give(self, effect: Effect, *, is_assumed: bool = False) -> Found:
        self._left.remove(effect)
        self._given.append(effect)
        return Found(effect, is_assumed)


def _may_stand_for(effect: Effect, identity: Identity, turn: int) -> bool:
    if effect.identity.kind != identity.kind:
        return False
    if identity.kind == "model":
        return effect.turn == turn
    return identity.kind == "part" and effect.identity.loose == identity.loose


def _has_other_prompt(recorded: Identity, now: Identity) -> bool:
    return bool(recorded.prompt) and recorded.prompt != now.prompt


@dataclass(kw_only=True, slots=True)
class Course:
    """How far a recording was followed. With `may_live` the world answers what it does not have."""

    may_live: bool = False
    missing: Note | None = None
    assumed: list[Note]
    lived: list[Note]


class LookedUpEffects:
    """The port of such a run. `when_missing` is called once, and must end the run."""

    def __init__(
        self,
        journal: Journal,
        recorded: RecordedEffects,
        time: SimulatedTime,
        course: Course,
        *,
        identified: Callable[[Any], Identity],
        when_missing: Callable[[], None],
    ) -> None:
        self._journal = journal
        self._recorded = recorded
        self._time = time
        self._course = course
        self._identified = identified
        self._when_missing = when_missing
        time.when_stuck = self._stuck

    async def perform(
        self, key: EffectKey, request: Any, effect: Perform, *, writes: bool | Writing = False
    ) -> Any:
        identity, note, found = self._look_up(key, request)
        if found is not None:
            effect = self._answer(found.effect, note)
        elif self._goes_live(identity, writes):
            effect = self._live(effect, note)
        else:
            effect = self._no_answer(note, self._why_not(identity, writes))
        # `writes` is not passed on: nothing is written, so there is no intent to record.
        return await self._journal.perform(key, request, effect)

    def stream(
        self, key: EffectKey, request: Any, source: Callable[[], AsyncIterator[Any]]
    ) -> AsyncGenerator[Any]:
        identity, note, found = self._look_up(key, request)
        if found is not None:
            effect = found.effect
            source = self._parts(effect, note, _resized(effect, identity))
        elif self._goes_live(identity, False):
            source = self._live_parts(source, note)
        else:
            source = self._no_parts(note)
        return self._journal.stream(key, request, source)

    def _look_up(self, key: EffectKey, request: Any) -> tuple[Identity, Note, Found | None]:
        course = self._course
        if course.missing is not None:
            raise ReplayDiverged("the recording has ended")
        identity = self._identified(request)
        note = Note(key.turn, key.node_path, identity.words)
        # After a live response the conversation is another one: nothing recorded stands for it.
        found = self._recorded.find(identity, key.turn, may_assume=not course.lived)
        if found is not None and found.is_assumed:
            course.assumed.append(note._replace(why="request"))
        elif found is not None and _has_other_prompt(found.effect.identity, identity):
            course.assumed.append(note._replace(why="prompt"))
        return identity, note, found

    def _goes_live(self, identity: Identity, writes: object) -> bool:
        kinds = ("model", "part", "tool", "bert")
        return self._course.may_live and not writes and identity.kind in kinds

    def _why_not(self, identity: Identity, writes: object) -> str:
        if writes:
            return ", which writes and is never run in a replay"
        return ", and nobody is asked in a replay" if identity.kind == "person" else ""

    # -- from the recording ------------------------------------------------------------------------

    def _answer(self, effect: Effect, note: Note) -> Perform:
        async def answer() -> Any:
            await self._end_of(effect, note, 0.0)
            return effect.value

        return answer

    def _parts(
        self, effect: Effect, note: Note, resized: Callable[[Any], Any]
    ) -> Callable[[], AsyncIterator[Any]]:
        async def parts() -> AsyncIterator[Any]:
            at = 0.0
            for when, part in effect.parts:
                if when > at:
                    await self._time.sleep(when - at)
                    at = when
                yield resized(part)
            await self._end_of(effect, note, at)

        return parts

    async def _end_of(self, effect: Effect, note: Note, at: float) -> None:
        if effect.ended is None:
            # What halted it in the recording may do it again. A later deadline must not: nobody
            # knows what would have come until then.
            await self._time.sleep(max(0.0, (effect.halted or at) + SLACK - at))
            self._miss(note._replace(words=f"the rest of {note.words}, which was cut off"))
            await asyncio.Event().wait()
        assert effect.ended is not None
        await self._time.sleep(max(0.0, effect.ended - at))
        if effect.failure is not None:
            raise as_exception(dict(effect.failure))

    # -- without it --------------------------------------------------------------------------------

    def _live(self, effect: Perform, note: Note) -> Perform:
        async def live() -> Any:
            self._course.lived.append(note)
            with self._time.real():
                return await effect()

        return live

    def _live_parts(
        self, source: Callable[[], AsyncIterator[Any]], note: Note
    ) -> Callable[[], AsyncIterator[Any]]:
        async def parts() -> AsyncIterator[Any]:
            self._course.lived.append(note)
            with self._time.real():
                async for part in source():
                    yield part

        return parts

    def _no_answer(self, note: Note, why: str) -> Perform:
        async def never() -> Any:
            self._miss(note._replace(words=f"{note.words}{why}"))
            await asyncio.Event().wait()

        return never

    def _no_parts(self, note: Note) -> Callable[[], AsyncIterator[Any]]:
        async def never() -> AsyncIterator[Any]:
            self._miss(note)
            await asyncio.Event().wait()
            yield  # makes this function a generator

        return never

    def _stuck(self) -> None:
        self._miss(Note(0, "", "something that it does not have"))

    def _miss(self, note: Note) -> None:
        """The leaf that asked gets no answer at all, so that no node can react to one."""
        if self._course.missing is None:
            self._course.missing = note
            self._when_missing()


def _resized(effect: Effect, identity: Identity) -> Callable[[Any], Any]:
    """Count the input of a request that is now longer or shorter as its provider would."""
    before, now = effect.identity.size, identity.size

    def resized(part: Any) -> Any:
        match part:
            case {"usage": {"input_tokens": int(read)}} if before not in (0, now):
                usage = cast("dict[str, Any]", part["usage"])
                return {**part, "usage": {**usage, "input_tokens": round(read * now / before)}}
            case _:
                return part

    return resized

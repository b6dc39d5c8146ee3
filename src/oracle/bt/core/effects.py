"""The port through which a run touches the world, and the clock it lives by.

Whatever is not deterministic goes through these two protocols and nowhere else. Live, they act at
once; a journal records or replays with the same interface.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol, TypeAlias

from oracle.bt.state.schema import Json
from oracle.lazy_dataclass import dataclass

Effect: TypeAlias = Callable[[], Awaitable[Json]]


@dataclass(frozen=True, slots=True)
class EffectKey:
    """Names an effect alike in each replay: who asked, in which turn."""

    node_path: str
    turn: int


@dataclass(frozen=True, slots=True)
class Writing:
    """How an effect that writes is recognised after a crash.

    `mark` is called before the write; what it returns is on record with the intent. After a crash
    `recover` is given that, and returns what was done, or None if certainly nothing was. It raises
    `InterruptedWrite` if it cannot know.
    """

    mark: Effect | None = None
    recover: Callable[[Json], Awaitable[Json]] | None = None


class Effects(Protocol):
    """The requests and answers are JSON-shaped, so that they can be written down."""

    async def perform(
        self, key: EffectKey, request: Json, effect: Effect, *, writes: bool | Writing = False
    ) -> Json:
        """Return what `effect` returns; a replay returns its record and never calls it.

        An effect that `writes` is not begun before its intent is on record. With plain `True` it
        fails after a crash in between, because nobody can know whether it was done.
        """
        ...

    def stream(
        self, key: EffectKey, request: Json, source: Callable[[], AsyncIterator[Json]]
    ) -> AsyncIterator[Json]:
        """Yield what `source` yields, part by part."""
        ...


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since a moment that is fixed within a run; never going back."""
        ...

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer: ...


class DirectEffects:
    """Perform each effect at once and record nothing."""

    async def perform(
        self, key: EffectKey, request: Json, effect: Effect, *, writes: bool | Writing = False
    ) -> Json:
        if isinstance(writes, Writing) and writes.mark is not None:
            await writes.mark()
        return await effect()

    def stream(
        self, key: EffectKey, request: Json, source: Callable[[], AsyncIterator[Json]]
    ) -> AsyncIterator[Json]:
        return source()


class SystemClock:
    now = staticmethod(time.monotonic)

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(max(0.0, when - self.now()), callback)


DIRECT_EFFECTS = DirectEffects()
SYSTEM_CLOCK = SystemClock()

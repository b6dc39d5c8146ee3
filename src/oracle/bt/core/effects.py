"""The port through which a run touches the world, and the clock it lives by.

Whatever is not deterministic goes through these two protocols and nowhere else. Live, they act at
once; a journal records or replays with the same interface.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from oracle.bt.state.schema import Json

Effect: TypeAlias = Callable[[], Awaitable[Json]]
Recover: TypeAlias = Callable[[Json], Awaitable[Json]]
"""Gets the mark of a write; returns what was done, or None if certainly nothing was."""


@dataclass(frozen=True, slots=True)
class EffectKey:
    """Names an effect alike in each replay: who asked, in which turn."""

    node_path: str
    turn: int


class Effects(Protocol):
    """The requests and answers are JSON-shaped, so that they can be written down."""

    async def perform(
        self,
        key: EffectKey,
        request: Json,
        effect: Effect,
        *,
        writes: bool = False,
        mark: Effect | None = None,
        recover: Recover | None = None,
    ) -> Json:
        """Return what `effect` returns; a replay returns its record and never calls it.

        An effect that `writes` is not begun before its intent is on record, together with a `mark`
        that identifies the write. After a crash in between, `recover` is given the mark and finds
        out whether it was done. It raises `InterruptedWrite` if it cannot know.
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
        self,
        key: EffectKey,
        request: Json,
        effect: Effect,
        *,
        writes: bool = False,
        mark: Effect | None = None,
        recover: Recover | None = None,
    ) -> Json:
        if mark is not None:
            await mark()
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

"""The port through which a run touches the world, and the clock it lives by.

Whatever is not deterministic goes through these two protocols and nowhere else. Live, they act at
once; a journal records or replays behind the same face.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from oracle.bt.state.schema import Json


@dataclass(frozen=True, slots=True)
class EffectKey:
    """Names an effect the same way in each replay: who asked, in which turn, for the how-manieth
    time.
    """

    node_path: str
    turn: int
    ordinal: int


class Effects(Protocol):
    async def perform(
        self, key: EffectKey, request: Json, effect: Callable[[], Awaitable[Json]]
    ) -> Json:
        """Answer what `effect` answers; a replay answers from its record and never calls it."""
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
        self, key: EffectKey, request: Json, effect: Callable[[], Awaitable[Json]]
    ) -> Json:
        return await effect()


class SystemClock:
    now = staticmethod(time.monotonic)

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(max(0.0, when - self.now()), callback)


DIRECT_EFFECTS = DirectEffects()
SYSTEM_CLOCK = SystemClock()

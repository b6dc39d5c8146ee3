"""Lets one thing happen to a run at a time, so that a replay meets the same run in the same state.

Two answers may come within one round of the event loop. Were both handed over at once, the leaf of
the second could write to the blackboard before the tree has seen the first; a replay, which hands
them over one by one, would see another order. So, live and in a replay alike, something happens to
a run only when it is at rest: the tree sleeps, and each of its leaves waits for the journal.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

PATIENCE: Final = 100
"""Rounds of the event loop after which a run counts as at rest, since a leaf waits elsewhere."""


class Turnstile:
    __slots__ = ("_is_at_rest", "_is_watching", "_waiting")

    def __init__(self, is_at_rest: Callable[[], bool]) -> None:
        self._is_at_rest = is_at_rest
        self._is_watching = False
        self._waiting: deque[Callable[[], None]] = deque()

    @property
    def is_free(self) -> bool:
        return not self._waiting and self._is_at_rest()

    def enter(self, happen: Callable[[], None]) -> None:
        """Let it happen now if the run is at rest, else as soon as it is."""
        if self.is_free:
            happen()
            return
        self._waiting.append(happen)
        if not self._is_watching:
            self._is_watching = True
            asyncio.get_running_loop().call_soon(self._watch, PATIENCE)

    def _watch(self, patience: int) -> None:
        if self._is_at_rest() or not patience:
            self._waiting.popleft()()
            patience = PATIENCE
        self._is_watching = bool(self._waiting)
        if self._is_watching:
            asyncio.get_running_loop().call_soon(self._watch, patience - 1)

"""Lets one thing happen to a run at a time, so that a replay meets the same run in the same state.

Two results may arrive within one round of the event loop. If both were handed over at once, the
leaf of the second could write to the blackboard before the tree has seen the first. A replay hands
them over one by one, and the order could differ. So, live and in a replay, something happens to a
run only when it is at rest: the tree sleeps, and each of its leaves waits for the journal.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

PATIENCE: Final = 100
"""After this many rounds of the event loop, a sleeping run counts as at rest even if a leaf does
not wait for the journal. That leaf waits for something else, which may never happen.
"""
HASTY_ROUNDS: Final = 20
"""For this many rounds a busy run is checked in every round, then every `LATER_SECONDS`."""
LATER_SECONDS: Final = 0.001


class Run(Protocol):
    """What the journal asks of a run."""

    def is_at_rest(self, blocked: Mapping[str, int]) -> bool: ...
    def is_asleep(self) -> bool: ...
    def close(self, task: asyncio.Task[Any]) -> None: ...


class Resting(Protocol):
    """What the gate needs to know about a run."""

    def is_at_rest(self) -> bool: ...
    def is_asleep(self) -> bool: ...


class RestGate:
    __slots__ = ("_is_closed", "_is_watching", "_run", "_waiting")

    def __init__(self, run: Resting) -> None:
        self._run = run
        self._is_closed = False
        self._is_watching = False
        self._waiting: deque[tuple[Callable[[], None], Callable[[], object]]] = deque()

    @property
    def is_open(self) -> bool:
        """Whether something may happen now. Even at rest, what waits already goes first."""
        return not self._waiting and self._run.is_at_rest()

    def when_at_rest(
        self, happen: Callable[[], None], drop: Callable[[], object] = lambda: None
    ) -> None:
        """Let it happen as soon as the run is at rest. Drop it if the run ends before that."""
        if self._is_closed:
            drop()
            return
        if self.is_open:
            happen()
            return
        self._waiting.append((happen, drop))
        if not self._is_watching:
            self._watch_again(PATIENCE, 0)

    def close(self) -> None:
        """The run is over and never rests again, so what waits never happens."""
        self._is_closed = True
        while self._waiting:
            _, drop = self._waiting.popleft()
            drop()

    def _watch(self, patience: int, rounds: int) -> None:
        if self._is_closed:
            return
        happen: Callable[[], None] | None = None
        if self._run.is_at_rest() or not patience:
            (happen, _), patience, rounds = self._waiting.popleft(), PATIENCE, 0
        elif self._run.is_asleep():
            # Only a sleeping tree uses up patience. One that ticks, or closes what it halted, is
            # left alone however long it takes: it will rest on its own.
            patience -= 1
        try:
            # At most one a round: the tree has to see it before the next may happen.
            if happen is not None:
                happen()
        finally:
            self._is_watching = bool(self._waiting)
            if self._is_watching:
                self._watch_again(patience, rounds + 1)

    def _watch_again(self, patience: int, rounds: int) -> None:
        self._is_watching = True
        loop = asyncio.get_running_loop()
        # A run is usually at rest within a few rounds. A tree that is busy for longer, for example
        # with clean-up over the network, is checked once a millisecond, to avoid a busy loop.
        if rounds < HASTY_ROUNDS or self._run.is_asleep():
            loop.call_soon(self._watch, patience, rounds)
        else:
            loop.call_later(LATER_SECONDS, self._watch, patience, rounds)

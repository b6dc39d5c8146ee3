"""Parts for tests of trees: a clock that a test moves, a scripted node, a bus that remembers.

ask = ScriptedNode(RUNNING, SUCCESS)
definition = definition.with_nodes({"turn/ask": ask})
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

from oracle.bt.core.node import Label, Node
from oracle.bt.state.base import RUNNING, RunStatus
from oracle.services.ans.bus import EventBus
from oracle.services.ans.event import Event

if TYPE_CHECKING:
    from oracle.bt.core.run import RunState


class ManualTimer:
    def __init__(self, when: float, callback: Callable[[], None]) -> None:
        self.when = when
        self.callback = callback
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True

    def fire(self) -> None:
        if not self.cancelled:
            self.callback()


class ManualClock:
    """A clock that stops until a test calls `advance`."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start
        self._timers: list[ManualTimer] = []

    def now(self) -> float:
        return self._now

    def call_at(self, when: float, callback: Callable[[], None]) -> ManualTimer:
        """A time in the past is due at once, as with a real clock."""
        timer = ManualTimer(when, callback)
        if when <= self._now:
            asyncio.get_running_loop().call_soon(timer.fire)
        else:
            self._timers.append(timer)
        return timer

    @property
    def pending(self) -> list[float]:
        """The times of all timers that are not cancelled."""
        return sorted(timer.when for timer in self._timers if not timer.cancelled)

    def advance(self, seconds: float) -> None:
        """Move the time forward and fire the timers that are due, earliest first."""
        self._now += seconds
        due = [timer for timer in self._timers if timer.when <= self._now]
        # Removed before any of them fires: a callback may start a new timer.
        self._timers = [timer for timer in self._timers if timer.when > self._now]
        for timer in sorted(due, key=lambda timer: timer.when):
            timer.fire()


class ScriptedNode(Node):
    """Returns the given statuses in order and counts its ticks and halts. Use it in one run only.

    A tick after the last status fails the test. `check_played_out` fails it if some are left.
    """

    __slots__ = ("_script", "halts", "ticks")

    def __init__(self, *script: RunStatus, **label: Unpack[Label]) -> None:
        super().__init__(**label)
        self._script = script
        self.ticks = 0
        self.halts = 0

    def tick(self, run: RunState) -> RunStatus:
        if self.ticks == len(self._script):
            raise AssertionError(
                f"{self.path}: ticked more often than the {self.ticks} times scripted"
            )
        self.ticks += 1
        return self._script[self.ticks - 1]

    def halt(self, run: RunState) -> None:
        self.halts += run.statuses[self.index] is RUNNING
        super().halt(run)

    def check_played_out(self) -> None:
        left = self._script[self.ticks :]
        assert not left, f"{self.path}: never asked for {[status.name for status in left]}"


class RecordingBus(EventBus):
    """Remembers its events: `with event_bus_replaced(RecordingBus()) as bus:`."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []
        self.subscribe(self.events.append)

    @property
    def types(self) -> list[str]:
        return [event.type for event in self.events]

"""A limit on how long a child may take."""

import math
from collections.abc import Mapping
from typing import Unpack

from oracle.bt.core.node import Decorator, Label, Node
from oracle.bt.core.run import RunState
from oracle.bt.state.base import FAILURE, RUNNING, RunStatus
from oracle.bt.state.schema import Key
from oracle.errors import StructureError, TimedOut


class Timeout(Decorator, kind="timeout"):
    """Give the child `seconds` from its first tick on, by the clock of the run.

    A string names a key that holds the seconds, for a limit that the run decides.

    | child                            | timeout                                   |
    | -------------------------------- | ----------------------------------------- |
    | SUCCESS, FAILURE, SKIPPED        | the same, even if it came late            |
    | RUNNING                          | RUNNING; ticked again at the deadline     |
    | RUNNING at or after the deadline | halts it; FAILURE with TimedOut as cause  |
    | … but a leaf below has finished  | RUNNING until that has been delivered     |
    """

    __slots__ = ("seconds",)

    def __init__(self, child: Node, *, seconds: float | str, **label: Unpack[Label]) -> None:
        super().__init__(child, **label)
        is_key = isinstance(seconds, str)
        self.seconds = seconds if is_key else checked_seconds("timeout", seconds)

    def tick(self, run: RunState) -> RunStatus:
        child, now = self.child, run.context.now
        deadline = run.deadlines.get(self.index)
        if deadline is None:
            deadline = run.deadlines[self.index] = now + self._given(run)
        run.statuses[child.index] = status = child.tick(run)
        if status is RUNNING and (now < deadline or run.has_news_below(self)):
            return RUNNING
        del run.deadlines[self.index]
        if status is not RUNNING:
            return status
        child.halt(run)
        run.context.failure = TimedOut(f"{self.path}: not done after {self._given(run):g} s")
        return FAILURE

    def keys(self) -> frozenset[str]:
        return frozenset({self.seconds}) if isinstance(self.seconds, str) else frozenset()

    def keys_below(self, visible: Mapping[str, Key] | None) -> Mapping[str, Key] | None:
        """Checked here, where the types of the keys are known: a text would fail in mid-run."""
        held = (visible or {}).get(str(self.seconds))
        if held and held.type not in (int, float, object):
            raise self.complaint(f"seconds names {self.seconds!r}, which does not hold a number")
        return visible

    def _given(self, run: RunState) -> float:
        if not isinstance(self.seconds, str):
            return self.seconds
        assert run.context.blackboard is not None
        return max(0.0, run.context.blackboard.get(self.seconds) or 0.0)

    def halt(self, run: RunState) -> None:
        super().halt(run)
        run.deadlines.pop(self.index, None)


def checked_seconds(kind: str, seconds: float) -> float:
    if not (math.isfinite(seconds) and seconds > 0):
        raise StructureError(f"{kind}: seconds is {seconds}; use a number above 0")
    return float(seconds)

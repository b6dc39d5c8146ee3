"""Not longer than this."""

from typing import Unpack

from oracle.bt.core.node import Decorator, Label, Node
from oracle.bt.core.run import RunState
from oracle.bt.nodes.seconds import checked_seconds
from oracle.bt.state.base import FAILURE, RUNNING, RunStatus
from oracle.errors import TimedOut


class Timeout(Decorator, kind="timeout"):
    """Give the child `seconds` from its first tick on, by the clock of the run.

    | child                            | timeout                                   |
    | -------------------------------- | ----------------------------------------- |
    | SUCCESS, FAILURE, SKIPPED        | the same, even if it came late            |
    | RUNNING                          | RUNNING; ticked again at the deadline     |
    | RUNNING at or after the deadline | halts it; FAILURE with TimedOut as cause  |
    | … but a leaf below has finished  | RUNNING until that has been delivered     |
    """

    __slots__ = ("seconds",)

    def __init__(self, child: Node, *, seconds: float, **label: Unpack[Label]) -> None:
        super().__init__(child, **label)
        self.seconds = checked_seconds("timeout", seconds)

    def tick(self, run: RunState) -> RunStatus:
        child, now = self.child, run.context.now
        deadline = run.deadlines.setdefault(self.index, now + self.seconds)
        run.statuses[child.index] = status = child.tick(run)
        if status is RUNNING and (now < deadline or run.has_news_below(self)):
            return RUNNING
        del run.deadlines[self.index]
        if status is not RUNNING:
            return status
        child.halt(run)
        run.context.failure = TimedOut(f"{self.path}: not done after {self.seconds:g} s")
        return FAILURE

    def halt(self, run: RunState) -> None:
        super().halt(run)
        run.deadlines.pop(self.index, None)

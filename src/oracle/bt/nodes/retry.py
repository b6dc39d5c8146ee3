"""Once more, if it failed."""

from typing import Unpack

from oracle.bt.core.node import Decorator, Label, Node
from oracle.bt.core.run import RunState
from oracle.bt.nodes.rounds import checked_count, play_on
from oracle.bt.state.base import FAILURE, RunStatus


class Retry(Decorator, kind="retry"):
    """Play the child until it succeeds, at most `attempts` times, one attempt a tick.

    | child                       | retry                        |
    | --------------------------- | ---------------------------- |
    | SUCCESS                     | SUCCESS                      |
    | FAILURE                     | RUNNING, then another attempt |
    | FAILURE in the last attempt | FAILURE, with its cause      |
    | RUNNING                     | RUNNING                      |
    | SKIPPED                     | SKIPPED                      |
    """

    __slots__ = ("attempts",)

    def __init__(self, child: Node, *, attempts: int, **label: Unpack[Label]) -> None:
        super().__init__(child, **label)
        self.attempts = checked_count("retry", "attempts", attempts)

    def tick(self, run: RunState) -> RunStatus:
        child = self.child
        run.statuses[child.index] = status = child.tick(run)
        if status is FAILURE:
            used = (run.memory[self.index] or 0) + 1
            return play_on(self, run, status, used if used < self.attempts else None)
        return play_on(self, run, status)

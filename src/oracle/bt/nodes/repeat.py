"""The same, so many times."""

from typing import Unpack

from oracle.bt.core.node import Decorator, Label, Node
from oracle.bt.core.run import RunState
from oracle.bt.nodes.rounds import checked_count, play_on
from oracle.bt.state.base import SUCCESS, RunStatus


class Repeat(Decorator, kind="repeat"):
    """Play the child `times` times, one round a tick, while it succeeds.

    | child                     | repeat                       |
    | ------------------------- | ---------------------------- |
    | SUCCESS                   | RUNNING, then the next round |
    | SUCCESS in the last round | SUCCESS                      |
    | FAILURE                   | FAILURE                      |
    | RUNNING                   | RUNNING                      |
    | SKIPPED                   | SKIPPED                      |
    """

    __slots__ = ("times",)

    def __init__(self, child: Node, *, times: int, **label: Unpack[Label]) -> None:
        super().__init__(child, **label)
        self.times = checked_count("repeat", "times", times)

    def tick(self, run: RunState) -> RunStatus:
        child = self.child
        run.statuses[child.index] = status = child.tick(run)
        if status is SUCCESS:
            played = (run.memory[self.index] or 0) + 1
            return play_on(self, run, status, played if played < self.times else None)
        return play_on(self, run, status)

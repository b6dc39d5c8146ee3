"""Round after round, until something says that it is done."""

from typing import Unpack

from oracle.bt.core.node import Decorator, Label, Node
from oracle.bt.core.run import RunState
from oracle.bt.nodes.exit import LoopLeft
from oracle.bt.nodes.rounds import checked_count, play_on
from oracle.bt.state.base import FAILURE, SUCCESS, RunStatus
from oracle.errors import BoundReached


class Loop(Decorator, kind="loop"):
    """Play the child round after round, at most `max` times, one round a tick.

    | child                       | loop                                            |
    | --------------------------- | ----------------------------------------------- |
    | `exit` with this loop's name | halts what is running below; SUCCESS           |
    | SUCCESS                     | RUNNING, then the next round                    |
    | SUCCESS in the last round   | FAILURE, with BoundReached as its cause         |
    | FAILURE                     | FAILURE: a failure never means "one more round" |
    | RUNNING                     | RUNNING                                         |
    | SKIPPED                     | SKIPPED                                         |
    """

    __slots__ = ("max",)

    def __init__(
        self,
        child: Node,
        *,
        max: int,  # noqa: A002 - it is the word that trees use
        **label: Unpack[Label],
    ) -> None:
        super().__init__(child, **label)
        self.max = checked_count("loop", "max", max)

    def tick(self, run: RunState) -> RunStatus:
        child = self.child
        try:
            run.statuses[child.index] = status = child.tick(run)
        except LoopLeft as left:
            if left.loop is not self:
                raise
            child.halt(run)
            for node in left.between:
                run.statuses[node.index] = SUCCESS
            run.memory[self.index] = None
            return SUCCESS
        if status is not SUCCESS:
            return play_on(self, run, status)
        rounds = (run.memory[self.index] or 0) + 1
        if rounds < self.max:
            return play_on(self, run, status, rounds)
        run.memory[self.index] = None
        run.context.failure = BoundReached(f"{self.path}: not left after {self.max} rounds")
        return FAILURE

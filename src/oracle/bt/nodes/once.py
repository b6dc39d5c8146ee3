"""Closed after the first time: for good, or for a while."""

from typing import Unpack

from oracle.bt.core.node import Decorator, Label, Node
from oracle.bt.core.run import RunState
from oracle.bt.nodes.timeout import checked_seconds
from oracle.bt.state.base import RUNNING, SKIPPED, RunStatus


class Once(Decorator, kind="once"):
    """Play the child to its end once in a run, then leave it out.

    | child                    | once                         |
    | ------------------------ | ---------------------------- |
    | SUCCESS, FAILURE         | the same; closed from now on |
    | RUNNING                  | RUNNING                      |
    | SKIPPED                  | SKIPPED; stays open          |
    | not ticked, since closed | SKIPPED                      |
    | halted, or left by `exit` | stays open                  |
    """

    __slots__ = ()

    def tick(self, run: RunState) -> RunStatus:
        if run.memory[self.index]:
            return SKIPPED
        child = self.child
        run.statuses[child.index] = status = child.tick(run)
        if status is not RUNNING and status is not SKIPPED:
            run.memory[self.index] = True
        return status


class Cooldown(Decorator, kind="cooldown"):
    """After the child has ended, leave it out for `seconds`, by the clock of the run.

    | child                     | cooldown                              |
    | ------------------------- | ------------------------------------- |
    | SUCCESS, FAILURE          | the same; closed from now on          |
    | RUNNING                   | RUNNING                               |
    | SKIPPED                   | SKIPPED; stays open                   |
    | not ticked, since closed  | SKIPPED                               |
    | halted, or left by `exit` | stays open                            |

    It does not wake a sleeping run when it opens again.
    """

    __slots__ = ("seconds",)

    def __init__(self, child: Node, *, seconds: float, **label: Unpack[Label]) -> None:
        super().__init__(child, **label)
        self.seconds = checked_seconds("cooldown", seconds)

    def tick(self, run: RunState) -> RunStatus:
        child, now = self.child, run.context.now
        closed_until = run.memory[self.index]
        if closed_until is not None and now < closed_until:
            return SKIPPED
        run.memory[self.index] = None
        run.statuses[child.index] = status = child.tick(run)
        if status is not RUNNING and status is not SKIPPED:
            run.memory[self.index] = now + self.seconds
        return status

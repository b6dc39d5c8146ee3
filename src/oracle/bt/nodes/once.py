"""The first time only."""

from oracle.bt.core.node import Decorator
from oracle.bt.core.run import RunState
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

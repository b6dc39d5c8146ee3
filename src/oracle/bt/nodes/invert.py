"""Not."""

from oracle.bt.core.node import Decorator
from oracle.bt.core.run import RunState
from oracle.bt.state.base import FAILURE, SUCCESS, RunStatus


class Invert(Decorator, kind="invert"):
    """Exchange success and failure.

    | child   | invert  |
    | ------- | ------- |
    | SUCCESS | FAILURE |
    | FAILURE | SUCCESS |
    | RUNNING | RUNNING |
    | SKIPPED | SKIPPED |
    """

    __slots__ = ()

    def tick(self, run: RunState) -> RunStatus:
        child = self.child
        run.statuses[child.index] = status = child.tick(run)
        if status is SUCCESS:
            return FAILURE
        return SUCCESS if status is FAILURE else status

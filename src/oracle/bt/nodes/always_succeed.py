"""It does not matter whether it worked."""

from oracle.bt.core.node import Decorator
from oracle.bt.core.run import RunState
from oracle.bt.state.base import FAILURE, SUCCESS, RunStatus


class AlwaysSucceed(Decorator, kind="always_succeed"):
    """Take a failure for a success.

    | child   | always_succeed |
    | ------- | -------------- |
    | SUCCESS | SUCCESS        |
    | FAILURE | SUCCESS        |
    | RUNNING | RUNNING        |
    | SKIPPED | SKIPPED        |
    """

    __slots__ = ()

    def tick(self, run: RunState) -> RunStatus:
        child = self.child
        run.statuses[child.index] = status = child.tick(run)
        return SUCCESS if status is FAILURE else status

"""Do it, and let the next one have a try all the same."""

from oracle.bt.core.node import Decorator
from oracle.bt.core.run import RunState
from oracle.bt.state.base import FAILURE, SUCCESS, RunStatus


class AlwaysFail(Decorator, kind="always_fail"):
    """Take a success for a failure.

    | child   | always_fail |
    | ------- | ----------- |
    | SUCCESS | FAILURE     |
    | FAILURE | FAILURE     |
    | RUNNING | RUNNING     |
    | SKIPPED | SKIPPED     |
    """

    __slots__ = ()

    def tick(self, run: RunState) -> RunStatus:
        child = self.child
        run.statuses[child.index] = status = child.tick(run)
        return FAILURE if status is SUCCESS else status

"""Decorators that change the status of their child."""

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

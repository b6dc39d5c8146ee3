"""Decorators that change the status of their child."""

from collections.abc import Mapping
from typing import ClassVar

from oracle.bt.core.node import Decorator
from oracle.bt.core.run import RunState
from oracle.bt.state.base import FAILURE, SUCCESS, RunStatus


class ChangedStatus(Decorator):
    """Return another status for those in `becomes`; RUNNING and SKIPPED are always the child's."""

    __slots__ = ()
    becomes: ClassVar[Mapping[RunStatus, RunStatus]]

    def tick(self, run: RunState) -> RunStatus:
        child = self.child
        run.statuses[child.index] = status = child.tick(run)
        return self.becomes.get(status, status)


class AlwaysSucceed(ChangedStatus, kind="always_succeed"):
    """Take a failure for a success.

    | child   | always_succeed |
    | ------- | -------------- |
    | SUCCESS | SUCCESS        |
    | FAILURE | SUCCESS        |
    | RUNNING | RUNNING        |
    | SKIPPED | SKIPPED        |
    """

    __slots__ = ()
    becomes: ClassVar[Mapping[RunStatus, RunStatus]] = {FAILURE: SUCCESS}


class AlwaysFail(ChangedStatus, kind="always_fail"):
    """Take a success for a failure.

    | child   | always_fail |
    | ------- | ----------- |
    | SUCCESS | FAILURE     |
    | FAILURE | FAILURE     |
    | RUNNING | RUNNING     |
    | SKIPPED | SKIPPED     |
    """

    __slots__ = ()
    becomes: ClassVar[Mapping[RunStatus, RunStatus]] = {SUCCESS: FAILURE}


class Invert(ChangedStatus, kind="invert"):
    """Exchange success and failure.

    | child   | invert  |
    | ------- | ------- |
    | SUCCESS | FAILURE |
    | FAILURE | SUCCESS |
    | RUNNING | RUNNING |
    | SKIPPED | SKIPPED |
    """

    __slots__ = ()
    becomes: ClassVar[Mapping[RunStatus, RunStatus]] = {SUCCESS: FAILURE, FAILURE: SUCCESS}

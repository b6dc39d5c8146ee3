"""It does not matter whether it worked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.bt.core.node import Decorator
from oracle.bt.state.base import FAILURE, SUCCESS, RunStatus

if TYPE_CHECKING:
    from oracle.bt.core.run import RunState


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

"""The four statuses that a tick of a node can return."""

from __future__ import annotations

from enum import Enum
from typing import NoReturn


class RunStatus(Enum):
    """A node that was never ticked, or was halted, has no status: that is `None`, not a fifth
    member.
    """

    SUCCESS = "success"
    FAILURE = "failure"
    RUNNING = "running"
    SKIPPED = "skipped"

    def __bool__(self) -> NoReturn:
        """Refuse: `if condition(ctx)` would take FAILURE for true."""
        raise TypeError(f"{self} is neither true nor false; write `status is RunStatus.SUCCESS`")


SUCCESS = RunStatus.SUCCESS
FAILURE = RunStatus.FAILURE
RUNNING = RunStatus.RUNNING
SKIPPED = RunStatus.SKIPPED

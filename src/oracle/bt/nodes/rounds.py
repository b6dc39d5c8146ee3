"""Repeat and retry, and what they share with loop: they count rounds and play one a tick.

Between two rounds the node returns RUNNING and wakes the run at once. So the guards above it are
asked before each round, and a tree that would go round for ever spends the tick budget instead of
the process.
"""

from typing import Unpack

from oracle.bt.core.node import Decorator, Label, Node
from oracle.bt.core.run import RunState
from oracle.bt.state.base import FAILURE, RUNNING, SUCCESS, RunStatus
from oracle.errors import StructureError


def play_on(node: Node, run: RunState, status: RunStatus, rounds: int | None = None) -> RunStatus:
    """Begin another round if `rounds` says how many were played; else hand the status on."""
    if rounds is not None:
        run.memory[node.index] = rounds
        run.context.wake()
        return RUNNING
    if status is not RUNNING:
        run.memory[node.index] = None
    return status


def checked_count(kind: str, option: str, value: int) -> int:
    if value < 1:
        raise StructureError(f"{kind}: {option} is {value}; use 1 or more")
    return value


class Repeat(Decorator, kind="repeat"):
    """Play the child `times` times, one round a tick, while it succeeds.

    | child                     | repeat                       |
    | ------------------------- | ---------------------------- |
    | SUCCESS                   | RUNNING, then the next round |
    | SUCCESS in the last round | SUCCESS                      |
    | FAILURE                   | FAILURE                      |
    | RUNNING                   | RUNNING                      |
    | SKIPPED                   | SKIPPED                      |
    """

    __slots__ = ("times",)

    def __init__(self, child: Node, *, times: int, **label: Unpack[Label]) -> None:
        super().__init__(child, **label)
        self.times = checked_count("repeat", "times", times)

    def tick(self, run: RunState) -> RunStatus:
        child = self.child
        run.statuses[child.index] = status = child.tick(run)
        if status is SUCCESS:
            played = (run.memory[self.index] or 0) + 1
            return play_on(self, run, status, played if played < self.times else None)
        return play_on(self, run, status)


class Retry(Decorator, kind="retry"):
    """Play the child until it succeeds, at most `attempts` times, one attempt a tick.

    | child                       | retry                        |
    | --------------------------- | ---------------------------- |
    | SUCCESS                     | SUCCESS                      |
    | FAILURE                     | RUNNING, then another attempt |
    | FAILURE in the last attempt | FAILURE, with its cause      |
    | RUNNING                     | RUNNING                      |
    | SKIPPED                     | SKIPPED                      |
    """

    __slots__ = ("attempts",)

    def __init__(self, child: Node, *, attempts: int, **label: Unpack[Label]) -> None:
        super().__init__(child, **label)
        self.attempts = checked_count("retry", "attempts", attempts)

    def tick(self, run: RunState) -> RunStatus:
        child = self.child
        run.statuses[child.index] = status = child.tick(run)
        if status is FAILURE:
            used = (run.memory[self.index] or 0) + 1
            return play_on(self, run, status, used if used < self.attempts else None)
        return play_on(self, run, status)

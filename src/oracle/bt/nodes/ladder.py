"""Steps that are taken one at a time, from the mildest to the strongest."""

from collections.abc import Callable
from typing import TypeAlias, Unpack

from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import declared_keys
from oracle.bt.core.node import Composite, Label, Node
from oracle.bt.core.run import RunState
from oracle.bt.state.base import FAILURE, RUNNING, SKIPPED, SUCCESS, RunStatus

Restart: TypeAlias = Callable[[TickContext], object]


class Ladder(Composite, kind="ladder"):
    """Take the next rung each time. If the expression `restart` holds, begin at the first again.

    | child            | ladder                                                          |
    | ---------------- | --------------------------------------------------------------- |
    | SUCCESS          | SUCCESS; the next time begins at the rung after it              |
    | FAILURE, SKIPPED | goes on to the next rung at once; after the last: FAILURE       |
    | RUNNING          | RUNNING; the next tick goes on at this rung                     |
    | no rung is left  | FAILURE, until `restart` holds                                  |
    | all were skipped | SKIPPED                                                         |
    | halted           | the rung that was running counts as not taken                   |
    """

    __slots__ = ("restart",)

    def __init__(
        self, *children: Node, restart: Restart | None = None, **label: Unpack[Label]
    ) -> None:
        super().__init__(*children, **label)
        self.restart = restart

    def tick(self, run: RunState) -> RunStatus:
        rung: int = run.memory[self.index] or 0
        is_resumed = rung < len(self.children) and (
            run.statuses[self.children[rung].index] is RUNNING
        )
        if not is_resumed and self.restart is not None and self.restart(run.context):
            rung = 0
        status: RunStatus = FAILURE
        for place in range(rung, len(self.children)):
            child = self.children[place]
            run.statuses[child.index] = status = child.tick(run)
            if status is RUNNING or status is SUCCESS:
                run.memory[self.index] = place if status is RUNNING else place + 1
                return status
        # A rung that had nothing to offer is asked again only after a restart.
        run.memory[self.index] = len(self.children)
        if status is SKIPPED and all(run.statuses[c.index] is SKIPPED for c in self.children):
            return SKIPPED
        return FAILURE

    def halt(self, run: RunState) -> None:
        rung = run.memory[self.index]
        super().halt(run)
        run.memory[self.index] = rung

    def keys(self) -> frozenset[str]:
        return frozenset() if self.restart is None else declared_keys(self.restart)

"""Only while this holds."""

from typing import Unpack

from oracle.bt.core.leaves import declared_keys
from oracle.bt.core.node import Decorator, Label, Node
from oracle.bt.core.run import RunState
from oracle.bt.nodes.condition import Test, refuse_async
from oracle.bt.state.base import FAILURE, RUNNING, SKIPPED, SUCCESS, RunStatus
from oracle.errors import Failure, LeafError


class Guard(Decorator, kind="guard"):
    """Take the child out of the tree unless the test holds; the test is asked at each tick.

    | test                    | guard                             |
    | ----------------------- | --------------------------------- |
    | true, SUCCESS           | the status of the child           |
    | false, FAILURE, SKIPPED | halts the child; SKIPPED          |
    | RUNNING, anything else  | an error: a guard must know       |
    """

    __slots__ = ("fn",)

    def __init__(self, child: Node, *, fn: Test, **label: Unpack[Label]) -> None:
        super().__init__(child, **label)
        self.fn = refuse_async("guard", fn)

    def tick(self, run: RunState) -> RunStatus:
        child = self.child
        if self._holds(run):
            run.statuses[child.index] = status = child.tick(run)
            return status
        if run.statuses[child.index] is RUNNING:
            child.halt(run)
        return SKIPPED

    def keys(self) -> frozenset[str]:
        return declared_keys(self.fn)

    def _holds(self, run: RunState) -> bool:
        context = run.context
        context.node = self
        try:
            answer = self.fn(context)
        except Failure as failure:
            context.failure = failure
            return False
        if answer is True or answer is SUCCESS:
            return True
        if answer is False or answer is FAILURE or answer is SKIPPED:
            return False
        raise LeafError(f"the test of a guard returned {answer!r}; use a bool, SUCCESS or FAILURE")

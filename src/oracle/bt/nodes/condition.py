"""A test that returns at once."""

import inspect
from collections.abc import Callable
from typing import TypeAlias, Unpack

from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import declared_keys, leaf_label
from oracle.bt.core.node import Label, Node
from oracle.bt.core.run import RunState
from oracle.bt.state.base import FAILURE, SUCCESS, RunStatus
from oracle.errors import Failure, LeafError, StructureError

Test: TypeAlias = Callable[[TickContext], bool | RunStatus]


class Condition(Node, kind="condition"):
    """Ask a function, or an expression over the blackboard.

    | result                            | condition                               |
    | --------------------------------- | --------------------------------------- |
    | True                              | SUCCESS                                 |
    | False                             | FAILURE                                 |
    | a RunStatus                       | the same: FAILURE is not taken for true |
    | a Failure is raised               | FAILURE with it as cause                |
    | anything else                     | an error                                |
    """

    __slots__ = ("fn",)

    def __init__(self, *, fn: Test, **label: Unpack[Label]) -> None:
        super().__init__(**label)
        self.fn = refuse_async("condition", fn)

    def tick(self, run: RunState) -> RunStatus:
        context = run.context
        context.node = self
        try:
            answer = self.fn(context)
        except Failure as failure:
            context.failure = failure
            return FAILURE
        if answer is True:
            return SUCCESS
        if answer is False:
            return FAILURE
        if answer.__class__ is RunStatus:
            return answer
        raise LeafError(f"a condition returned {answer!r}; use a bool or a RunStatus")

    def keys(self) -> frozenset[str]:
        return declared_keys(self.fn)


def refuse_async(kind: str, fn: Test) -> Test:
    if inspect.iscoroutinefunction(fn):
        raise StructureError(f"{kind}: {leaf_label(fn)} is async; a test must return at once")
    return fn

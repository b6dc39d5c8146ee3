"""Something that is done, at once or over time."""

import inspect
from asyncio import CancelledError
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, Unpack

from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import declared_keys
from oracle.bt.core.node import Label, Node
from oracle.bt.core.run import RunState
from oracle.bt.state.base import FAILURE, RUNNING, RunStatus
from oracle.errors import Failure, LeafError

Deed: TypeAlias = Callable[[TickContext], RunStatus | Awaitable[RunStatus]]


class Action(Node, kind="action"):
    """Call a function. An `async def` is started on the first tick, and its status is its result.

    | function                   | action                                              |
    | -------------------------- | --------------------------------------------------- |
    | returns a RunStatus        | the same                                            |
    | is async and not done      | RUNNING                                             |
    | raises a Failure           | FAILURE with it as cause                            |
    | raises or returns anything else | an error that ends the run                     |
    | halted                     | its task is cancelled at once; a new tick starts anew |

    A function that is not async may return RUNNING; it must then make sure that `ctx.wake()` is
    called.
    """

    __slots__ = ("_is_async", "fn")

    def __init__(self, *, fn: Deed, **label: Unpack[Label]) -> None:
        super().__init__(**label)
        self.fn: Callable[[TickContext], Any] = fn
        self._is_async = inspect.iscoroutinefunction(fn)

    def tick(self, run: RunState) -> RunStatus:
        context = run.context
        context.node = self
        earlier = context.failure
        try:
            answer = self._advance(run) if self._is_async else self.fn(context)
        except Failure as failure:
            context.failure = failure
            return FAILURE
        if answer.__class__ is not RunStatus:
            raise LeafError(f"an action returned {answer!r}; return a RunStatus")
        if answer is FAILURE and context.failure is earlier:
            context.failure = None
        return answer

    def halt(self, run: RunState) -> None:
        run.abandon(self)
        super().halt(run)

    def keys(self) -> frozenset[str]:
        return declared_keys(self.fn)

    def _advance(self, run: RunState) -> Any:
        if not run.is_started(self):
            bound = run.context.bound_to(self)
            run.start(self, bound, self.fn(bound))
            return RUNNING
        delivered = run.take(self)
        if delivered is None:
            return RUNNING
        task, bound = delivered
        try:
            answer = task.result()
        except CancelledError:
            raise LeafError("an action was cancelled from outside of the tree") from None
        if answer is FAILURE:
            run.context.failure = bound.failure
        return answer

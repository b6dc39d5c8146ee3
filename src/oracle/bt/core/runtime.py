"""Runs a tree to its end: ticks it, sleeps while it waits, and cleans up after it.

Between two ticks the runtime sleeps until a leaf is done, a deadline has passed or `wake` is
called. There is no polling. One tick is a plain function call; whatever it cancels has been closed
before the next begins.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from oracle.bt.core.context import TickContext
from oracle.bt.core.node import Node
from oracle.bt.core.run import NOTHING, RunState
from oracle.bt.core.watching import AccessLog, Subscriber, WatchedStatuses
from oracle.bt.state.base import FAILURE, RUNNING, SKIPPED, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.errors import DeveloperError, LeafError, NoProgress, StructureError, TickBudgetSpent
from oracle.lazy_dataclass import dataclass
from oracle.logs import logger_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.bt.core.definition import TreeDefinition
    from oracle.bt.core.effects import Timer

log = logger_of(__name__)

StopReason: TypeAlias = Literal[
    "settled", "cancelled", "no_progress", "tick_budget", "internal_error"
]
CLEAN_UP_SECONDS: Final = 2.0
"""How long an answer may be delayed by what does not obey its cancellation."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How a run ended. `status` is the root's, or FAILURE if the root did not end."""

    status: RunStatus
    stop: StopReason
    detail: str = ""
    error: DeveloperError | None = None


class TreeRun(RunState):
    """One run of a definition: `outcome = await TreeRun(definition, context).settle()`.

    `progress_limit` is how many seconds may pass without a `mark_progress`. The tick budget of the
    context bounds the number of ticks. The finish branch gets as much of both again.
    """

    __slots__ = (
        "_cancelled",
        "_clean_up_seconds",
        "_progress_at",
        "_progress_limit",
        "_progressed",
        "_settling",
        "_waiter",
        "_woken",
        "branch",
    )

    def __init__(
        self,
        definition: TreeDefinition,
        context: TickContext | None = None,
        *,
        progress_limit: float | None = None,
        clean_up_seconds: float | None = None,
    ) -> None:
        context = context or TickContext()
        if context.blackboard is None:
            context.blackboard = TypedBlackboard(
                scope_name=definition.name, schema=definition.schema
            )
        super().__init__(definition, context)
        context.wake = self.wake
        context.progressed = self._mark_progress
        self.branch: Node = definition.root
        self._cancelled: str | None = None
        self._clean_up_seconds = CLEAN_UP_SECONDS if clean_up_seconds is None else clean_up_seconds
        self._progress_limit = progress_limit
        self._progress_at: float | None = None
        self._progressed = False
        self._settling = False
        self._waiter: asyncio.Future[None] | None = None
        self._woken = False

    # -- for those who hold a run ------------------------------------------------------------------

    async def settle(self) -> Outcome:
        """Play the root, then the finish branch, and return how the root ended.

        It returns after every end but one: if the surrounding task is cancelled, leaves are closed
        and the cancellation goes on, without a finish branch. `cancel` is the way to stop that
        keeps it.
        """
        if self._settling:
            raise StructureError(f"{self.definition.name}: a run is settled once; begin another")
        self._settling = True
        try:
            finish = self.definition.finish
            outcome = self.context.outcome if self.branch is finish else None
            if outcome is None:
                outcome = await self._play(self.definition.root)
                if finish is None:
                    return outcome
                self.context.outcome = outcome
            assert finish is not None
            self._cancelled = self._progress_at = None
            finished = await self._play(finish)
            return outcome if finished.error is None else finished
        finally:
            for branch in (self.definition.root, self.definition.finish):
                if branch is not None and RUNNING in self.statuses:
                    branch.halt(self)
            await self._close()

    def tick(self) -> RunStatus:
        """Tick the current branch once. What goes wrong in a leaf is raised with the path of the
        leaf.
        """
        context = self.context
        context.ticks = ticks = context.ticks + 1
        if ticks > context.tick_budget:
            self._check_tick_budget(ticks)
        context.now = context.clock.now()
        self._woken = False
        branch = self.branch
        self.delivered = delivered = self.finished.pop(0) if self.finished else NOTHING
        try:
            self.statuses[branch.index] = status = branch.tick(self)
        except Exception as problem:
            raise _with_culprit(problem) from problem
        if delivered is not NOTHING and delivered in self.tasks:
            self.finished.insert(0, delivered)  # its leaf was not ticked; the next tick tries
        if status is SKIPPED and branch is self.definition.root:
            raise StructureError(f"{branch.path}: the root of a run was skipped; guard less of it")
        return status

    def _check_tick_budget(self, ticks: int) -> None:
        """Ticks are numbered through, so the finish branch gets a budget of its own on top."""
        budget = self.context.tick_budget * (1 if self.branch is self.definition.root else 2)
        if ticks > budget:
            running = self._whereabouts()
            raise TickBudgetSpent(f"not settled after {budget} ticks; running: {running}")

    def wake(self) -> None:
        """Have the tree ticked soon; callable at any time from the thread of the event loop."""
        self._woken = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def cancel(self, reason: str = "cancelled") -> None:
        """Halt the root as soon as possible and go on with the finish branch."""
        self._cancelled = reason
        self.wake()

    def is_at_rest(self, blocked: Mapping[str, int]) -> bool:
        """Say whether nothing happens by itself: the tree sleeps, and each leaf at work is blocked.

        `blocked` counts, by the path of a leaf, what it waits for in the outside world.
        """
        if not self.is_asleep():
            return False
        nodes = self.definition.nodes
        for leaf in self.tasks:  # noqa: SIM110 - asked for every part of a stream
            if not blocked.get(nodes[leaf].path):
                return False
        return True

    def is_asleep(self) -> bool:
        """Say whether the tree waits for something, rather than being ticked or cleaning up."""
        return self._waiter is not None and not self._waiter.done() and not self.finished

    def subscribe(self, subscriber: Subscriber) -> None:
        """Report each change of a status. Until the first call nothing is spent on it."""
        if not isinstance(self.statuses, WatchedStatuses):
            self.statuses = WatchedStatuses(self.statuses, self.definition.nodes, self.context)
        self.statuses.subscribers.append(subscriber)

    def trace(self) -> AccessLog:
        """Log from now on which node reads and writes which key."""
        accesses = AccessLog(self.context)
        assert self.context.blackboard is not None
        self.context.blackboard.observe(accesses.note)
        return accesses

    # -- the loop ----------------------------------------------------------------------------------

    async def _play(self, branch: Node) -> Outcome:
        self.branch = branch
        try:
            while True:
                if self._cancelled is not None:
                    return self._halted(
                        Outcome(status=FAILURE, stop="cancelled", detail=self._cancelled)
                    )
                status = self.tick()
                if self.closing:
                    await self._close()
                if status is not RUNNING:
                    return Outcome(status=status, stop="settled")
                self._watch_progress()
                await self._sleep()
        except DeveloperError as error:
            log.error("run of %s ended: %s", self.definition.name, error)
            outcome = Outcome(status=FAILURE, stop=_stop_for(error), detail=str(error), error=error)
            return self._halted(outcome)
        finally:
            await self._close()

    async def _sleep(self) -> None:
        """Wait for something to happen; at least let other tasks have their turn."""
        if self._woken or self.finished:
            await asyncio.sleep(0)
            return
        self._waiter = asyncio.get_running_loop().create_future()
        timer = self._timer()
        try:
            await self._waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()

    def _timer(self) -> Timer | None:
        moments = list(self.deadlines.values())
        if self._progress_limit is not None and self._progress_at is not None:
            moments.append(self._progress_at + self._progress_limit)
        return self.context.clock.call_at(min(moments), self.wake) if moments else None

    def _halted(self, outcome: Outcome) -> Outcome:
        self.branch.halt(self)
        return outcome

    async def _close(self) -> None:
        """Wait for cancelled leaves and then for what they had under way, so that connections are
        closed and not abandoned.
        """
        if not self.closing:
            return
        ends_at = time.monotonic() + self._clean_up_seconds
        while self.closing:
            cancelled = list(self.closing)
            _, late = await asyncio.wait(cancelled, timeout=max(0.0, ends_at - time.monotonic()))
            del self.closing[: len(cancelled)]
            for task in cancelled:
                self._report_end(task, is_late=task in late)

    def _report_end(self, task: asyncio.Task[Any], *, is_late: bool) -> None:
        if is_late:
            log.error(
                "%s: not closed after %g s; abandoned", task.get_name(), self._clean_up_seconds
            )
        elif not task.cancelled() and task.exception() is not None:
            log.error("%s: failed while closing: %s", task.get_name(), task.exception())

    # -- progress ----------------------------------------------------------------------------------

    def _mark_progress(self) -> None:
        self._progressed = True

    def _watch_progress(self) -> None:
        """Judge by the time of this tick: the clock is read once a tick, and a leaf only sets a
        flag.
        """
        if self._progress_limit is None:
            return
        now = self.context.now
        if self._progressed or self._progress_at is None:
            self._progressed = False
            self._progress_at = now
        elif now - self._progress_at >= self._progress_limit:
            raise NoProgress(
                f"no progress for {self._progress_limit:g} s; running: {self._whereabouts()}"
            )

    def _whereabouts(self) -> str:
        return ", ".join(node.path for node in self.running_leaves()) or self.branch.path


def _stop_for(error: DeveloperError) -> StopReason:
    if isinstance(error, NoProgress):
        return "no_progress"
    return "tick_budget" if isinstance(error, TickBudgetSpent) else "internal_error"


def _with_culprit(problem: Exception) -> DeveloperError:
    """Say which node it was: the innermost one whose code was running."""
    culprit = ""
    for frame, _ in traceback.walk_tb(problem.__traceback__):
        node = frame.f_locals.get("self")
        if isinstance(node, Node):
            culprit = node.path
    is_ours = isinstance(problem, DeveloperError)
    told = str(problem) if is_ours else f"{type(problem).__name__}: {problem}"
    if isinstance(problem, StructureError) and told.startswith(culprit):
        return problem
    return LeafError(f"{culprit}: {told}")

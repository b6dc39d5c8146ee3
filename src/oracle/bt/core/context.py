"""What a leaf sees of the run that ticks it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Final

from oracle.bt.core.effects import (
    DIRECT_EFFECTS,
    SYSTEM_CLOCK,
    Clock,
    Effect,
    EffectKey,
    Effects,
    Writing,
)
from oracle.bt.state.base import RunStatus
from oracle.errors import Failure

if TYPE_CHECKING:
    from oracle.bt.core.node import Node
    from oracle.bt.core.runtime import Outcome
    from oracle.bt.state.blackboard import TypedBlackboard
    from oracle.bt.state.schema import Json

DEFAULT_TICK_BUDGET: Final = 10_000


def _nobody() -> None:
    """Does nothing, until a run adopts the context."""


class TickContext:
    """One per run. An async leaf gets a view that stays bound to its own node and scope.

    `now` is the clock's reading of this tick. `turn` is set by the leaf that counts turns; effects
    are keyed by it. `failure` is why the last leaf that failed did so. `outcome` is how the root
    ended, for the finish branch.
    """

    __slots__ = (
        "blackboard",
        "clock",
        "effects",
        "failure",
        "node",
        "now",
        "outcome",
        "progressed",
        "services",
        "tick_budget",
        "ticks",
        "turn",
        "wake",
    )

    def __init__(
        self,
        *,
        blackboard: TypedBlackboard | None = None,
        tick_budget: int = DEFAULT_TICK_BUDGET,
        services: Any = None,
        effects: Effects = DIRECT_EFFECTS,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self.blackboard = blackboard
        self.tick_budget = tick_budget
        self.services = services
        self.effects = effects
        self.clock = clock
        self.now = 0.0
        self.ticks = 0
        self.turn = 0
        self.node: Node | None = None
        self.failure: Failure | None = None
        self.outcome: Outcome | None = None
        self.progressed: Callable[[], None] = _nobody
        self.wake: Callable[[], None] = _nobody

    @property
    def node_path(self) -> str:
        return "" if self.node is None else self.node.path

    def mark_progress(self) -> None:
        """Tell the runtime that the run is getting somewhere; without it the run is halted at its
        limit.
        """
        self.progressed()

    def fail(self, cause: str | Failure) -> RunStatus:
        """Return FAILURE and put its cause on the context: `return ctx.fail("no file …")`."""
        self.failure = cause if isinstance(cause, Failure) else Failure(cause)
        return RunStatus.FAILURE

    async def perform(
        self, request: Json, effect: Effect, *, writes: bool | Writing = False
    ) -> Json:
        """Touch the world through the port, under a key that is the same in each replay."""
        key = EffectKey(self.node_path, self.turn)
        return await self.effects.perform(key, request, effect, writes=writes)

    def stream(
        self, request: Json, source: Callable[[], AsyncIterator[Json]]
    ) -> AsyncIterator[Json]:
        """Like `perform`, for what comes in parts."""
        return self.effects.stream(EffectKey(self.node_path, self.turn), request, source)

    def bound_to(self, node: Node) -> TickContext:
        """A view for a leaf that outlives the tick: its node, scope and failure are its own."""
        return BoundContext(self, node)


class BoundContext(TickContext):
    """What an async leaf sees. Time, turn and outcome are those of the run, as they are now."""

    __slots__ = ("_origin",)

    def __init__(self, origin: TickContext, node: Node) -> None:
        self._origin = origin
        self.node = node
        self.failure = None
        self.blackboard = origin.blackboard
        self.tick_budget = origin.tick_budget
        self.services = origin.services
        self.effects = origin.effects
        self.clock = origin.clock
        self.progressed = origin.progressed
        self.wake = origin.wake

    @property
    def now(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._origin.now

    @property
    def ticks(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._origin.ticks

    @property
    def outcome(self) -> Outcome | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._origin.outcome

    @property
    def turn(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._origin.turn

    @turn.setter
    def turn(self, turn: int) -> None:
        self._origin.turn = turn

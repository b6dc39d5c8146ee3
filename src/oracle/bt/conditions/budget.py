"""What the ledger allows."""

from __future__ import annotations

from oracle.bt.actions.oracle import bb_get
from oracle.bt.actions.state import board_of, ledger_of
from oracle.bt.actions.turn import prices_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.services.control.ledger import Reserve, Resource

LARGE_SHARE = 2
"""History and results are large from this part of the context window on: half of it."""


@condition(reads=["ledger"])
def is_exhausted(ctx: TickContext) -> bool:
    """Say whether there is no room for another request at all."""
    return ledger_of(board_of(ctx)).exhausted(ctx.now) is not None


@condition(reads=["ledger", "is_overdrawn"])
def within_limits(ctx: TickContext) -> bool:
    """Asked again whenever the tree is woken while the model streams."""
    bb = board_of(ctx)
    ledger = ledger_of(bb)
    in_time = ledger.spent("seconds", ctx.now) < ledger.limits.seconds
    return in_time and not bb_get(bb, "is_overdrawn")


@condition(reads=["ledger", "weight", "model", "tools_withdrawn"])
def only_the_reserve_is_left(ctx: TickContext) -> bool:
    """Say whether the next request must be the last one; not asked again once that was said."""
    bb = board_of(ctx)
    return not bb_get(bb, "tools_withdrawn") and scarce_resource(ctx) is not None


@condition(reads=["ledger", "tools_withdrawn"])
def a_warning_is_due(ctx: TickContext) -> bool:
    bb = board_of(ctx)
    return not bb_get(bb, "tools_withdrawn") and bool(ledger_of(bb).warnings_due(ctx.now))


@condition(reads=["ledger", "withdrawn"])
def a_tool_is_used_up(ctx: TickContext) -> bool:
    """Say whether a tool has reached its limit and is still on offer."""
    bb = board_of(ctx)
    return not set(ledger_of(bb).tools_used_up()) <= set(bb_get(bb, "withdrawn"))


@condition(reads=["weight", "model"])
def context_is_large(ctx: TickContext) -> bool:
    bb = board_of(ctx)
    return bb_get(bb, "weight")["tokens"] > bb_get(bb, "model")["context_window"] // LARGE_SHARE


def scarce_resource(ctx: TickContext) -> Resource | None:
    bb = board_of(ctx)
    return ledger_of(bb).at_reserve(ctx.now, reserve_of(bb))


def reserve_of(bb: TypedBlackboard) -> Reserve:
    """What the last request will need: its input as it stands now, and its longest output."""
    model = bb_get(bb, "model")
    tokens = bb_get(bb, "weight")["tokens"]
    prices = prices_of(bb)
    money = 0.0 if prices is None else prices.cost(tokens, model["longest_output"])
    return Reserve(
        tokens=tokens + model["longest_output"],
        money=money,
        seconds=ledger_of(bb).longest_turn,
    )

"""What the ledger allows."""

from __future__ import annotations

from oracle.bt.board import LARGE_SHARE, bb_get, board_of, ledger_of, scarce_resource
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition
from oracle.errors import TimedOut


@condition(reads=["ledger"])
def is_exhausted(ctx: TickContext) -> bool:
    """Whether there is no room for another request at all."""
    return ledger_of(board_of(ctx)).exhausted(ctx.now) is not None


@condition(reads=["ledger"])
def allows_another_turn(ctx: TickContext) -> bool:
    return not is_exhausted(ctx)


@condition(reads=["ledger", "is_overdrawn"])
def is_within_limits(ctx: TickContext) -> bool:
    """Asked again whenever the tree is woken while the model streams."""
    bb = board_of(ctx)
    ledger = ledger_of(bb)
    in_time = ledger.spent("seconds", ctx.now) < ledger.limits.seconds
    return in_time and not bb_get(bb, "is_overdrawn")


@condition(reads=["ledger"])
def time_is_up(ctx: TickContext) -> bool:
    """Whether a timeout has just cut something off, or no time is left."""
    is_cut = isinstance(ctx.failure, TimedOut)
    return is_cut or ledger_of(board_of(ctx)).exhausted(ctx.now) == "seconds"


@condition(reads=["ledger", "weight", "model", "tools_withdrawn"])
def only_the_reserve_is_left(ctx: TickContext) -> bool:
    """Whether the next request must be the last one; false once that was announced."""
    bb = board_of(ctx)
    return not bb_get(bb, "tools_withdrawn") and scarce_resource(ctx) is not None


@condition(reads=["ledger", "tools_withdrawn"])
def a_warning_is_due(ctx: TickContext, share: float) -> bool:
    bb = board_of(ctx)
    return not bb_get(bb, "tools_withdrawn") and bool(ledger_of(bb).warnings_due(ctx.now, share))


@condition(reads=["ledger", "withdrawn"])
def a_tool_is_used_up(ctx: TickContext) -> bool:
    """Whether a tool has reached its limit and is still on offer."""
    bb = board_of(ctx)
    return not set(ledger_of(bb).tools_used_up()) <= set(bb_get(bb, "withdrawn"))


@condition(reads=["weight", "model"])
def context_is_large(ctx: TickContext) -> bool:
    bb = board_of(ctx)
    return bb_get(bb, "weight")["tokens"] > bb_get(bb, "model")["context_window"] // LARGE_SHARE

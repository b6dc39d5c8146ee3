"""What the ledger allows."""

from __future__ import annotations

from oracle.bt.board import LARGE_SHARE, ROOM, bb_get, board_of, ledger_of, room_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition
from oracle.errors import ContextTooLong, TimedOut


@condition(reads=ROOM)
def is_exhausted(ctx: TickContext) -> bool:
    """Whether no other request can be paid for, however short its answer."""
    return room_of(ctx).spent() is not None


@condition(reads=ROOM)
def allows_another_turn(ctx: TickContext) -> bool:
    return not is_exhausted(ctx)


@condition(reads=["ledger", "is_overdrawn"])
def is_within_limits(ctx: TickContext) -> bool:
    """Asked again whenever the tree is woken while the model streams."""
    bb = board_of(ctx)
    return ledger_of(bb).left("seconds", ctx.now) > 0 and not bb_get(bb, "is_overdrawn")


@condition(reads=["is_last_turn", "is_overdrawn"])
def only_the_last_answer_is_left(ctx: TickContext) -> bool:
    """Whether a turn with tools was stopped where the reserve for the last answer begins."""
    bb = board_of(ctx)
    was_stopped = isinstance(ctx.failure, TimedOut) or bb_get(bb, "is_overdrawn")
    return bool(was_stopped) and not bb_get(bb, "is_last_turn")


@condition()
def request_was_too_long(ctx: TickContext) -> bool:
    return isinstance(ctx.failure, ContextTooLong)


@condition(reads=["ledger"])
def time_is_up(ctx: TickContext) -> bool:
    """Whether a timeout has just cut something off, or no time is left."""
    is_cut = isinstance(ctx.failure, TimedOut)
    return is_cut or ledger_of(board_of(ctx)).exhausted(ctx.now) == "seconds"


@condition(reads=ROOM)
def only_the_reserve_is_left(ctx: TickContext) -> bool:
    """Whether the next request must be the last one; false once that was announced."""
    return not bb_get(board_of(ctx), "tools_withdrawn") and room_of(ctx).scarce() is not None


@condition(reads=["ledger", "tools_withdrawn"])
def a_warning_is_due(ctx: TickContext, share: float) -> bool:
    bb = board_of(ctx)
    return not bb_get(bb, "tools_withdrawn") and bool(ledger_of(bb).warnings_due(ctx.now, share))


@condition(reads=["ledger", "withdrawn"])
def a_tool_is_used_up(ctx: TickContext) -> bool:
    """Whether a tool has reached its limit and is still on offer."""
    bb = board_of(ctx)
    return not set(ledger_of(bb).tools_used_up()) <= set(bb_get(bb, "withdrawn"))


@condition(reads=ROOM)
def context_is_large(ctx: TickContext) -> bool:
    room = room_of(ctx)
    return room.messages > room.in_window(room.window // LARGE_SHARE)


@condition(reads=ROOM)
def tools_have_no_room(ctx: TickContext) -> bool:
    """Whether the window is too small for the descriptions of the tools on offer."""
    return not room_of(ctx).tools_fit


@condition(reads=ROOM)
def messages_have_no_room(ctx: TickContext) -> bool:
    """Whether they fill the window, or cost so much that no answer fits beside them."""
    room = room_of(ctx)
    return room.messages > room.for_messages()

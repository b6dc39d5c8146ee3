"""What the last response consists of."""

from __future__ import annotations

from typing import Final

from oracle.bt.actions.oracle import bb_get
from oracle.bt.actions.state import board_of, ledger_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition

PATIENCE: Final = 2


@condition(reads=["response"])
def has_text(ctx: TickContext) -> bool:
    return bool(bb_get(board_of(ctx), "response")["text"])


@condition(reads=["response", "calls"])
def is_an_answer(ctx: TickContext) -> bool:
    """Say whether there is text, and no call that is still to be run."""
    bb = board_of(ctx)
    calls = bb_get(bb, "calls")
    return has_text(ctx) and all(call.get("not_run") is not None for call in calls)


@condition(reads=["calls"])
def has_calls(ctx: TickContext) -> bool:
    return bool(bb_get(board_of(ctx), "calls"))


@condition(reads=["response", "malformed_responses"])
def speaks_for_itself(ctx: TickContext) -> bool:
    """Say whether text without a signal may end the run: a signal that was spoilt is asked for
    once more.
    """
    bb = board_of(ctx)
    is_spoilt = bb_get(bb, "response")["malformed"]
    return not is_spoilt or bb_get(bb, "malformed_responses") >= PATIENCE


@condition(reads=["ledger"])
def another_turn_is_left(ctx: TickContext) -> bool:
    return ledger_of(board_of(ctx)).exhausted(ctx.now) is None

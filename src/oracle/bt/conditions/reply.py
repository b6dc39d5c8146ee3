"""What the last response contains."""

from __future__ import annotations

from oracle.bt.board import bb_get, board_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition


@condition(reads=["response"])
def has_text(ctx: TickContext) -> bool:
    return bool(bb_get(board_of(ctx), "response")["text"])


@condition(reads=["calls"])
def has_calls(ctx: TickContext) -> bool:
    return bool(bb_get(board_of(ctx), "calls"))

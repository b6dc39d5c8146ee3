"""Whether what was to be written is written."""

from __future__ import annotations

from oracle.bt.board import OFFER, board_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition
from oracle.bt.shortfall import ORDERED, is_write_still_possible, unwritten


@condition(reads=ORDERED)
def are_missing(ctx: TickContext) -> bool:
    """Whether a write was not done and not made good, or an order was not carried out."""
    return bool(unwritten(board_of(ctx)))


@condition(reads=[*ORDERED, *OFFER])
def are_ordered_but_not_tried(ctx: TickContext) -> bool:
    """Whether the question orders a write, none was tried, and a tool for it is on offer."""
    return is_write_still_possible(board_of(ctx))

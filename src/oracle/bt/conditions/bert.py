"""Whether BERT is asked for a second opinion in this run."""

from __future__ import annotations

from typing import Any

from oracle.bt.board import BERT, bb_get, board_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition


@condition(reads=["facts"])
def is_used_for(ctx: TickContext, use: str = "fallback") -> bool:
    """Decided when the run began, and on record: a replay needs no BERT, but must ask alike."""
    # A tree of somebody else may use the fallback and have no facts.
    facts: dict[str, Any] = bb_get(board_of(ctx), "facts") or {}
    return use in facts.get(BERT, ())

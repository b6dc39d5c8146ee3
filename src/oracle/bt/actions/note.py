"""What the tree counts and writes down, to decide by it later."""

from __future__ import annotations

from typing import Any

from oracle.bt.board import append, bb_get, bb_set, board_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus


@action(reads=["doubts"], writes=["doubts"])
def doubt(ctx: TickContext) -> RunStatus:
    """A claim to know enough was not believed."""
    return _count(ctx, "doubts")


@action(reads=["empty_responses"], writes=["empty_responses"])
def empty_response(ctx: TickContext) -> RunStatus:
    return _count(ctx, "empty_responses")


@action(reads=["strategies_tried"], writes=["strategies_tried"])
def strategy(ctx: TickContext) -> RunStatus:
    return _count(ctx, "strategies_tried")


@action(reads=["signal", "delegations"], writes=["delegations"])
def delegation(ctx: TickContext) -> RunStatus:
    """The model wants to hand over a part of the work."""
    bb = board_of(ctx)
    signal: dict[str, Any] = bb_get(bb, "signal")
    append(bb, "delegations", {"scope": signal["scope"], "reason": signal["reason"]})
    return SUCCESS


def _count(ctx: TickContext, key: str) -> RunStatus:
    bb = board_of(ctx)
    bb_set(bb, key, bb_get(bb, key) + 1)
    return SUCCESS

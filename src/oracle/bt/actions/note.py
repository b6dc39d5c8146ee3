"""What the tree counts and writes down, to decide by it later."""

from __future__ import annotations

from typing import Any

from oracle.bt.board import append, bb_get, bb_set, board_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus


@action(reads=["doubts"], writes=["doubts"])
def doubt(ctx: TickContext) -> RunStatus:
    """A text that nothing backs goes back to the model."""
    return _count(ctx, "doubts")


@action(reads=["empty_responses"], writes=["empty_responses"])
def empty_response(ctx: TickContext) -> RunStatus:
    return _count(ctx, "empty_responses")


@action(reads=["calls", "tool_results", "idle_turns"], writes=["idle_turns"])
def whether_the_turn_was_idle(ctx: TickContext) -> RunStatus:
    """A turn is idle if none of its calls was run. Idle turns are counted in a row."""
    bb = board_of(ctx)
    called = len(bb_get(bb, "calls"))
    results: list[dict[str, Any]] = bb_get(bb, "tool_results")[-called:] if called else []
    was_idle = not any(result["run"] for result in results)
    bb_set(bb, "idle_turns", bb_get(bb, "idle_turns") + 1 if was_idle else 0)
    return SUCCESS


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

"""What the tree counts and writes down, to decide by it later."""

from __future__ import annotations

from typing import Any

from oracle.bt.board import all_tools, append, bb_get, bb_set, board_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard


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
    was_idle = not any(result["run"] for result in _results_of_this_turn(bb))
    bb_set(bb, "idle_turns", bb_get(bb, "idle_turns") + 1 if was_idle else 0)
    return SUCCESS


@action(
    reads=["calls", "tool_results", "tool_list", "evidence", "stall"],
    writes=["stall"],
)
def whether_the_turn_brought_something(ctx: TickContext, idle: int, barren: int) -> RunStatus:
    """New evidence and a write are progress, and end a stall. A turn without a call makes it longer
    by `idle`, and one whose calls brought nothing new by `barren`: it may be an honest search.
    """
    bb = board_of(ctx)
    results = _results_of_this_turn(bb)
    writing = {spec.name for spec in all_tools(bb) if spec.writes}
    has_written = any(result["success"] and result["name"] in writing for result in results)
    # The newest places are the last ones, so this looks at one of them as a rule.
    turn, evidence = ctx.turn, bb_get(bb, "evidence")
    if has_written or any(place["turn"] == turn for place in reversed(evidence)):
        bb_set(bb, "stall", 0)
    else:
        has_run = any(result["run"] for result in results)
        bb_set(bb, "stall", bb_get(bb, "stall") + (barren if has_run else idle))
    return SUCCESS


@action(
    reads=["strategies_tried", "words_found", "words_at_strategies"],
    writes=["strategies_tried", "words_at_strategies"],
)
def strategy(ctx: TickContext) -> RunStatus:
    """Another way is tried. How much was known by then shows later whether it brought anything."""
    bb = board_of(ctx)
    append(bb, "words_at_strategies", len(bb_get(bb, "words_found")))
    return _count(ctx, "strategies_tried")


@action(reads=["signal", "delegations"], writes=["delegations"])
def delegation(ctx: TickContext) -> RunStatus:
    """The model wants to hand over a part of the work."""
    bb = board_of(ctx)
    signal: dict[str, Any] = bb_get(bb, "signal")
    append(bb, "delegations", {"scope": signal["scope"], "reason": signal["reason"]})
    return SUCCESS


def _results_of_this_turn(bb: TypedBlackboard) -> list[dict[str, Any]]:
    called = len(bb_get(bb, "calls"))
    return bb_get(bb, "tool_results")[-called:] if called else []


def _count(ctx: TickContext, key: str) -> RunStatus:
    bb = board_of(ctx)
    bb_set(bb, key, bb_get(bb, key) + 1)
    return SUCCESS

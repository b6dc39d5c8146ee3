"""Whether the run goes in circles."""

from __future__ import annotations

from typing import Any

from oracle.bt.board import bb_get, board_of, refused_again, repetition_of_this_turn
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition


@condition(reads=["consecutive_same_reason", "signal"])
def need_turn_repeats_its_reason(ctx: TickContext, times: int) -> bool:
    """Whether so many turns in a row were asked for with the same reason, or as many more."""
    bb = board_of(ctx)
    repeated: int = bb_get(bb, "consecutive_same_reason")
    signal: dict[str, Any] = bb_get(bb, "signal") or {}
    return signal.get("type") == "need_turn" and repeated > 0 and repeated % times == 0


@condition(reads=["calls", "made"])
def same_call_repeats(ctx: TickContext) -> bool:
    """Whether a call of this turn had the same result before, alone or in a cycle."""
    return repetition_of_this_turn(board_of(ctx)) is not None


@condition(reads=["calls", "refused"])
def refused_call_repeats(ctx: TickContext) -> bool:
    """Whether the model insists on a call that it was told would not be run again."""
    return bool(refused_again(board_of(ctx)))


@condition(reads=["idle_turns"])
def turns_are_idle(ctx: TickContext, turns: int) -> bool:
    """Whether this many turns in a row, or more, ran no call."""
    return bb_get(board_of(ctx), "idle_turns") >= turns


@condition(reads=["stall", "idle_turns"])
def nothing_new_comes(ctx: TickContext, stall: int, every: int) -> bool:
    """Whether the stall is that long. If this turn did run calls, it counts at every third step
    only: each new search may be the one that finds something.
    """
    bb = board_of(ctx)
    beyond: int = bb_get(bb, "stall") - stall
    return beyond >= 0 and (bb_get(bb, "idle_turns") > 0 or beyond % every == 0)


@condition(reads=["is_runaway"])
def text_repeats(ctx: TickContext) -> bool:
    """Whether the response was stopped because it said one thing over and over."""
    return bb_get(board_of(ctx), "is_runaway") is True

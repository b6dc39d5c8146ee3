"""Is the run going in circles?"""

from __future__ import annotations

from typing import Any, Final

from oracle.bt.actions.oracle import bb_get
from oracle.bt.actions.state import board_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.services.control.repetition import Repetition, find_repetition, name_of_call

SAME_REASON_THRESHOLD: Final = 3


@condition(reads=["consecutive_same_reason", "signal", "calls", "made", "refused", "is_runaway"])
def is_looping(ctx: TickContext) -> bool:
    return (
        same_reason_repeats(ctx)
        or same_call_repeats(ctx)
        or refused_call_repeats(ctx)
        or text_repeats(ctx)
    )


@condition(reads=["consecutive_same_reason", "signal"])
def same_reason_repeats(ctx: TickContext) -> bool:
    """Say whether three turns in a row were asked for with the same reason, or three more."""
    bb = board_of(ctx)
    times: int = bb_get(bb, "consecutive_same_reason")
    signal: dict[str, Any] = bb_get(bb, "signal") or {}
    return signal.get("type") == "need_turn" and times > 0 and times % SAME_REASON_THRESHOLD == 0


@condition(reads=["calls", "made"])
def same_call_repeats(ctx: TickContext) -> bool:
    """Say whether a call of this turn had the same result before, alone or in a cycle."""
    return repetition_of_this_turn(board_of(ctx)) is not None


@condition(reads=["calls", "refused"])
def refused_call_repeats(ctx: TickContext) -> bool:
    """Say whether the model insists on a call that it was told would not be run again."""
    bb = board_of(ctx)
    refused: list[str] = bb_get(bb, "refused")
    calls: list[dict[str, Any]] = bb_get(bb, "calls") if refused else []
    return any(name_of_call(call["name"], call["arguments"]) in refused for call in calls)


@condition(reads=["is_runaway"])
def text_repeats(ctx: TickContext) -> bool:
    """Say whether the response was stopped because it said one thing over and over."""
    return bb_get(board_of(ctx), "is_runaway") is True


def repetition_of_this_turn(bb: TypedBlackboard) -> Repetition | None:
    calls: list[dict[str, Any]] = bb_get(bb, "calls")
    was_run = sum(call.get("not_run", "") is None for call in calls)
    return find_repetition(bb_get(bb, "made"), newest=was_run)

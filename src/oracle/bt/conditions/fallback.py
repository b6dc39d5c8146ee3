"""Whether it is time to consult the fallback, and whether BERT is asked too."""

from __future__ import annotations

from typing import Any, Final

from oracle.bt.board import BERT, bb_get, board_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition

TURNS_WITHOUT_SIGNAL_THRESHOLD: Final = 3
LOW_CONFIDENCE_THRESHOLD: Final = 0.3


@condition(
    reads=[
        "turns_without_signal",
        "turns_at_last_fallback",
        "last_signal",
        "signal_consulted",
        "signal_malformed",
    ]
)
def needs_fallback(ctx: TickContext) -> bool:
    """Whether the model was silent for three turns, or its signal is weak, malformed or `stuck`.

    Our own tree asks the parts of this one by one. Each signal is consulted on once.
    """
    if ctx.blackboard is None:
        return False
    if no_signal_for_n_turns(ctx) or bb_get(ctx.blackboard, "signal_malformed") is True:
        return True
    if bb_get(ctx.blackboard, "signal_consulted") is True:
        return False
    return is_stuck_signal(ctx) or signal_confidence_below(ctx)


@condition(reads=["turns_without_signal", "turns_at_last_fallback"])
def no_signal_for_n_turns(ctx: TickContext, n: int = TURNS_WITHOUT_SIGNAL_THRESHOLD) -> bool:
    """Whether so many turns without a signal have passed since the last one, or since the fallback
    was last consulted about the silence.
    """
    if ctx.blackboard is None:
        return False
    heard = bb_get(ctx.blackboard, "turns_at_last_fallback") or 0
    return (bb_get(ctx.blackboard, "turns_without_signal") or 0) - heard >= n


@condition(reads=["last_signal"])
def signal_confidence_below(ctx: TickContext, threshold: float = LOW_CONFIDENCE_THRESHOLD) -> bool:
    """Whether the last signal is weak; false without a signal."""
    signal = _last_signal(ctx)
    return bool(signal) and signal.get("confidence", 1.0) < threshold


@condition(reads=["last_signal"])
def is_stuck_signal(ctx: TickContext) -> bool:
    return _last_signal(ctx).get("type") == "stuck"


@condition(reads=["facts"])
def bert_is_used_for(ctx: TickContext, use: str = "fallback") -> bool:
    """Decided when the run began, and on record: a replay needs no BERT, but must ask alike."""
    # A tree of somebody else may use the fallback and have no facts.
    facts: dict[str, Any] = bb_get(board_of(ctx), "facts") or {}
    return use in facts.get(BERT, ())


def _last_signal(ctx: TickContext) -> dict[str, Any]:
    return (bb_get(ctx.blackboard, "last_signal") if ctx.blackboard is not None else None) or {}

"""Is it time to consult the fallback?"""

from __future__ import annotations

from typing import Final

from oracle.bt.actions.oracle import bb_get
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
    """Say whether the model was silent for three turns, or said something weak, bad or hopeless.

    A signal is consulted on once: it stays for the record, but it has had its hearing. Silence is
    heard at the third turn and at each third one after that.
    """
    bb = ctx.blackboard
    if bb is None:
        return False
    heard = bb_get(bb, "turns_at_last_fallback") or 0
    silent = (bb_get(bb, "turns_without_signal") or 0) - heard
    if silent >= TURNS_WITHOUT_SIGNAL_THRESHOLD or bb_get(bb, "signal_malformed") is True:
        return True
    if bb_get(bb, "signal_consulted") is True:
        return False
    return is_stuck_signal(ctx) or signal_confidence_below(ctx)


@condition(reads=["turns_without_signal"])
def no_signal_for_n_turns(ctx: TickContext, n: int = TURNS_WITHOUT_SIGNAL_THRESHOLD) -> bool:
    if ctx.blackboard is None:
        return False
    return (bb_get(ctx.blackboard, "turns_without_signal") or 0) >= n


@condition(reads=["last_signal"])
def signal_confidence_below(ctx: TickContext, threshold: float = LOW_CONFIDENCE_THRESHOLD) -> bool:
    """Say whether the last signal is weak; no signal at all is another matter."""
    signal = bb_get(ctx.blackboard, "last_signal") if ctx.blackboard is not None else None
    return bool(signal) and signal.get("confidence", 1.0) < threshold


@condition(reads=["last_signal"])
def is_stuck_signal(ctx: TickContext) -> bool:
    signal = bb_get(ctx.blackboard, "last_signal") if ctx.blackboard is not None else None
    return bool(signal) and signal.get("type") == "stuck"

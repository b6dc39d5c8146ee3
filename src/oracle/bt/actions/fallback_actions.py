"""Consult the fallback, and do what it decides.

It does not end the loop, but what it decides binds the next turn: a forced response gets no tools,
an escalation is told to the user, and a retry moves the strategy on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from oracle.bt.actions.oracle import add_pending_chunk, add_system_message, bb_get, bb_set
from oracle.bt.actions.telling import services_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import FAILURE, SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.services.fallback_classifier import (
    FallbackAction,
    FallbackClassification,
    heuristic_classify,
    log_fallback_trigger,
)

log = logging.getLogger(__name__)

FINAL_RESPONSE: Final = (
    "Give your final response now, from what you have. No tools are left for it; say what is "
    "missing."
)
HONEST_ANSWER: Final = (
    "The tools keep failing, and the user has been told so. Answer as far as you honestly can, and "
    "say what could not be found out."
)
TROUBLE: Final = (
    "I am having difficulty with this question: most of what I tried has failed. It may help to "
    "put it differently, or in smaller parts."
)


@action(
    reads=[
        "query",
        "accumulated_content",
        "turns_without_signal",
        "tool_results",
        "calls",
        "last_signal",
    ],
    writes=[
        "fallback_classification",
        "signal_consulted",
        "signal_malformed",
        "turns_at_last_fallback",
    ],
)
def trigger_fallback(ctx: TickContext) -> RunStatus:
    """Have the situation classified, once for each signal and each silence."""
    bb = ctx.blackboard
    if bb is None:
        return FAILURE
    silent_turns = bb_get(bb, "turns_without_signal") or 0
    signal: dict[str, Any] = bb_get(bb, "last_signal") or {}
    decision = _classified(
        ctx,
        query=_question(bb_get(bb, "query")),
        accumulated_content=bb_get(bb, "accumulated_content") or "",
        turns_without_signal=silent_turns,
        tool_results=[*(bb_get(bb, "tool_results") or []), *_on_their_way(bb)],
        last_signal_confidence=signal.get("confidence"),
    )
    if silent_turns == 0:
        decision = _another_way(decision, signal)
    bb_set(
        bb,
        "fallback_classification",
        {
            "action": decision.action.value,
            "confidence": decision.confidence,
            "hint": decision.hint,
            "reason": decision.reason,
        },
    )
    bb_set(bb, "signal_consulted", True)
    bb_set(bb, "signal_malformed", False)
    bb_set(bb, "turns_at_last_fallback", silent_turns)
    log_fallback_trigger(
        reason=decision.reason,
        turns_without_signal=silent_turns,
        last_signal_type=signal.get("type"),
        last_signal_confidence=signal.get("confidence"),
        classification_action=decision.action.value,
        classification_confidence=decision.confidence,
    )
    ctx.mark_progress()
    return SUCCESS


@action(
    reads=["fallback_classification", "messages", "_pending_chunks", "strategy_applied"],
    writes=[
        "fallback_classification",
        "messages",
        "_pending_chunks",
        "strategy",
        "tools_withdrawn",
    ],
)
def apply_heuristic_classification(ctx: TickContext) -> RunStatus:
    """Carry out the decision, and forget it."""
    bb = ctx.blackboard
    if bb is None:
        return FAILURE
    decision = bb_get(bb, "fallback_classification")
    if decision:
        _CARRY_OUT[FallbackAction(decision["action"])](bb, decision.get("hint"))
        bb_set(bb, "fallback_classification", None)
    ctx.mark_progress()
    return SUCCESS


@action(reads=["fallback_classification", "messages"], writes=["messages"])
def inject_fallback_hint(ctx: TickContext) -> RunStatus:
    """Tell the model the hint alone, whatever was decided besides."""
    bb = ctx.blackboard
    if bb is None:
        return FAILURE
    decision = bb_get(bb, "fallback_classification")
    _tell_hint(bb, decision.get("hint") if decision else None)
    ctx.mark_progress()
    return SUCCESS


def _classified(ctx: TickContext, **situation: Any) -> FallbackClassification:
    """By the classifier in place; whenever that is not there, or fails, by the heuristic."""
    try:
        decision = services_of(ctx).classify_fallback(**situation)
        FallbackAction(decision.action)
        return decision
    except Exception as problem:
        log.warning("the heuristic decides, because the classifier failed: %r", problem)
        return heuristic_classify(**situation)


def _another_way(
    decision: FallbackClassification, signal: Mapping[str, Any]
) -> FallbackClassification:
    """Who says to be stuck is shown another way, as long as it is not the tools that fail."""
    if signal.get("type") != "stuck" or decision.action is FallbackAction.ESCALATE:
        return decision
    blocker = signal.get("blocker", "")
    return FallbackClassification(
        FallbackAction.RETRY_WITH_HINT,
        decision.confidence,
        hint=f"You say that this is in the way: {blocker} Take another way.",
        reason="stuck, by its own account",
    )


def _on_their_way(bb: TypedBlackboard) -> list[dict[str, Any]]:
    """Calls of this response are run after the decision: whoever calls is not standing still."""
    calls: list[dict[str, Any]] = bb_get(bb, "calls") or []
    return [{"name": call["name"], "success": True} for call in calls if "not_run" not in call]


def _question(query: Any) -> str:
    if isinstance(query, Mapping):
        return str(query.get("question", ""))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return str(query or "")


def _tell_hint(bb: TypedBlackboard, hint: str | None) -> None:
    if hint:
        add_system_message(bb, hint)


def _force_response(bb: TypedBlackboard, hint: str | None) -> None:
    add_system_message(bb, f"{hint} {FINAL_RESPONSE}" if hint else FINAL_RESPONSE)
    bb_set(bb, "tools_withdrawn", True)


def _retry_with_hint(bb: TypedBlackboard, hint: str | None) -> None:
    _tell_hint(bb, hint)
    bb_set(bb, "strategy", (bb_get(bb, "strategy_applied") or 0) + 1)


def _escalate(bb: TypedBlackboard, hint: str | None) -> None:
    add_pending_chunk(bb, {"type": "system", "content": TROUBLE, "severity": "warning"})
    add_system_message(bb, HONEST_ANSWER)
    bb_set(bb, "tools_withdrawn", True)


_CARRY_OUT: Final[Mapping[FallbackAction, Callable[[TypedBlackboard, str | None], None]]] = {
    FallbackAction.CONTINUE: _tell_hint,
    FallbackAction.FORCE_RESPONSE: _force_response,
    FallbackAction.RETRY_WITH_HINT: _retry_with_hint,
    FallbackAction.ESCALATE: _escalate,
}

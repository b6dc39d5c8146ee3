"""Consult the fallback, and carry out its decision.

It does not end the loop, but its decision binds the next turn. The tree has a branch for each of
the four decisions; `apply_heuristic_classification` does the same in one leaf, for other trees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from oracle.bt.actions.oracle import add_pending_chunk, bb_get, bb_set
from oracle.bt.board import board_of, services_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import say_verdict, tell_model
from oracle.bt.second_opinion import second_opinion
from oracle.bt.state.base import FAILURE, SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.logs import logger_of
from oracle.services.bert.fallback import combined_classify
from oracle.services.bert.prototypes import last_sentences
from oracle.services.fallback_classifier import (
    FallbackAction,
    FallbackClassification,
    heuristic_classify,
    log_fallback_trigger,
)

log = logger_of(__name__)

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


READING: Final = "reading"
"""In `fallback_classification`, before there is a decision: what BERT reads in the model's text."""


@action(reads=["accumulated_content"], writes=["fallback_classification"])
async def read_the_situation(ctx: TickContext) -> RunStatus:
    """Let BERT read what the model said last, for `trigger_fallback`, which decides."""
    bb = board_of(ctx)
    said = last_sentences(bb_get(bb, "accumulated_content"))
    if said:
        found = await second_opinion(ctx, "fallback", [*said], lambda bert: bert.situation(said))
        bb_set(bb, "fallback_classification", None if found is None else {READING: found})
    return SUCCESS


@action(
    reads=[
        "query",
        "accumulated_content",
        "turns_without_signal",
        "tool_results",
        "calls",
        "signal",
        "last_signal",
        "fallback_classification",
    ],
    writes=[
        "fallback_classification",
        "signal_consulted",
        "signal_malformed",
        "turns_at_last_fallback",
    ],
)
def trigger_fallback(ctx: TickContext) -> RunStatus:
    """Have the situation classified, and note that this signal or silence was heard."""
    bb = ctx.blackboard
    if bb is None:
        return FAILURE
    silent_turns = bb_get(bb, "turns_without_signal") or 0
    signal: dict[str, Any] = bb_get(bb, "last_signal") or {}
    results: list[dict[str, Any]] = [*(bb_get(bb, "tool_results") or []), *_on_their_way(bb)]
    decision = _classified(
        ctx,
        query=_question(bb_get(bb, "query")),
        accumulated_content=bb_get(bb, "accumulated_content") or "",
        turns_without_signal=silent_turns,
        tool_results=results,
        last_signal_confidence=signal.get("confidence"),
    )
    before: dict[str, Any] = bb_get(bb, "fallback_classification") or {}
    if READING in before:
        decision = combined_classify(decision, before[READING], results)
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
        source=ctx.node_path,
    )
    say_verdict(ctx, f"fallback_{decision.action.value}", decision.reason)
    ctx.mark_progress()
    return SUCCESS


@action(reads=["fallback_classification", "messages"], writes=["messages"])
def inject_fallback_hint(ctx: TickContext) -> RunStatus:
    """Give the model the hint of the decision, if there is one."""
    return _carried_out(ctx, _tell_hint)


@action(reads=["fallback_classification", "messages"], writes=["messages", "tools_withdrawn"])
def force_response(ctx: TickContext) -> RunStatus:
    """Withdraw the tools and ask for the final response."""
    return _carried_out(ctx, _force_response)


@action(
    reads=["fallback_classification", "messages", "_pending_chunks"],
    writes=["messages", "_pending_chunks", "tools_withdrawn"],
)
def escalate(ctx: TickContext) -> RunStatus:
    """Tell the user, withdraw the tools and ask for an honest answer."""
    return _carried_out(ctx, _escalate)


@action(writes=["fallback_classification"])
def forget_decision(ctx: TickContext) -> RunStatus:
    if ctx.blackboard is None:
        return FAILURE
    bb_set(ctx.blackboard, "fallback_classification", None)
    return SUCCESS


@action(
    reads=["fallback_classification", "messages", "_pending_chunks"],
    writes=["fallback_classification", "messages", "_pending_chunks", "tools_withdrawn"],
)
def apply_heuristic_classification(ctx: TickContext) -> RunStatus:
    """Carry out the decision, whichever it is, and forget it. A retry only gets its hint here."""
    bb = ctx.blackboard
    if bb is None:
        return FAILURE
    decision = bb_get(bb, "fallback_classification")
    if decision:
        _carried_out(ctx, _CARRY_OUT.get(FallbackAction(decision["action"]), _tell_hint))
        bb_set(bb, "fallback_classification", None)
    return SUCCESS


def _carried_out(
    ctx: TickContext, carry_out: Callable[[TypedBlackboard, str | None], None]
) -> RunStatus:
    bb = ctx.blackboard
    if bb is None:
        return FAILURE
    decision = bb_get(bb, "fallback_classification")
    carry_out(bb, decision.get("hint") if decision else None)
    ctx.mark_progress()
    return SUCCESS


def _classified(ctx: TickContext, **situation: Any) -> FallbackClassification:
    """Ask the classifier in place; if it is missing or fails, the heuristic."""
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
    """A model that calls itself stuck is shown another way, unless it is the tools that fail."""
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
    """The calls of this response are run after the decision: no failure so far, and no result."""
    calls: list[dict[str, Any]] = bb_get(bb, "calls") or []
    return [
        {"name": call["name"], "success": True, "empty": True, "pending": True} for call in calls
    ]


def _question(query: Any) -> str:
    if isinstance(query, Mapping):
        return str(query.get("question", ""))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return str(query or "")


def _tell_hint(bb: TypedBlackboard, hint: str | None) -> None:
    if hint:
        tell_model(bb, hint)


def _force_response(bb: TypedBlackboard, hint: str | None) -> None:
    tell_model(bb, f"{hint} {FINAL_RESPONSE}" if hint else FINAL_RESPONSE)
    bb_set(bb, "tools_withdrawn", True)


def _escalate(bb: TypedBlackboard, hint: str | None) -> None:
    add_pending_chunk(bb, {"type": "system", "content": TROUBLE, "severity": "warning"})
    tell_model(bb, HONEST_ANSWER)
    bb_set(bb, "tools_withdrawn", True)


_CARRY_OUT: Final[Mapping[FallbackAction, Callable[[TypedBlackboard, str | None], None]]] = {
    FallbackAction.FORCE_RESPONSE: _force_response,
    FallbackAction.ESCALATE: _escalate,
}

"""Decides what to do when the model's signals are missing, weak, or say that it is stuck.

The heuristic is the default. Another classifier with the same protocol may replace it. If that one
is not available, or fails, the heuristic decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Final, Protocol

from oracle.lazy_dataclass import dataclass
from oracle.services.ans.bus import get_event_bus
from oracle.services.ans.event import Event, Severity, event_time

SUBSTANTIAL_CHARACTERS: Final = 500
"""A longer text is probably an answer."""
SIMPLE_QUERY_WORDS: Final = 20
"""A shorter question can often be answered without tools."""
MANY_TOOL_CALLS: Final = 3
"""With fewer calls the share of failures means nothing."""
HIGH_FAILURE_SHARE: Final = 0.7
SILENT_TURNS: Final = 3
"""After this many turns in a row without a signal the model is asked for one, or to retry."""
WEAK_CONFIDENCE: Final = 0.3
WEAK_SIGNAL_PENALTY: Final = 0.15
"""Subtracted from the confidence of a decision after a weak signal."""

SAY_HOW_YOU_STAND: Final = (
    "Go on, and end your next response with one signal that says how you stand."
)


class FallbackAction(Enum):
    CONTINUE = "continue"
    FORCE_RESPONSE = "force_response"
    RETRY_WITH_HINT = "retry_with_hint"
    ESCALATE = "escalate"


@dataclass(frozen=True, slots=True)
class FallbackClassification:
    """A decision with its confidence and reason. `hint` is a message to the model."""

    action: FallbackAction
    confidence: float
    hint: str | None = None
    reason: str = ""


class FallbackClassifier(Protocol):
    def __call__(
        self,
        query: str,
        accumulated_content: str,
        turns_without_signal: int,
        tool_results: Sequence[Mapping[str, Any]],
        last_signal_confidence: float | None = None,
    ) -> FallbackClassification: ...


def heuristic_classify(
    query: str,
    accumulated_content: str,
    turns_without_signal: int,
    tool_results: Sequence[Mapping[str, Any]],
    last_signal_confidence: float | None = None,
) -> FallbackClassification:
    """Decide from the tool results, the text so far, and the number of turns without a signal.

    The rules are tried in order; the first one that applies decides. A call that succeeded but
    found nothing (`empty`) is neither a failure nor a result.
    """
    failed = [str(r.get("name", "a tool")) for r in tool_results if not r.get("success")]
    has_results = any(r.get("success") and not r.get("empty") for r in tool_results)
    decision = (
        _if_tools_fail(failed, tool_results)
        or _if_an_answer_is_there(accumulated_content, turns_without_signal)
        or _if_no_tool_was_needed(query, tool_results)
        or _if_silent(turns_without_signal, failed, has_results)
        or FallbackClassification(
            FallbackAction.CONTINUE,
            0.5,
            hint=SAY_HOW_YOU_STAND,
            reason="no reason to change course",
        )
    )
    return _doubted(decision, last_signal_confidence)


def _if_tools_fail(
    failed: list[str], results: Sequence[Mapping[str, Any]]
) -> FallbackClassification | None:
    calls = len(results)
    if calls < MANY_TOOL_CALLS or len(failed) / calls <= HIGH_FAILURE_SHARE:
        return None
    # Calls that are about to run count as hope, but a reader looks for those that have run.
    run = sum(not result.get("pending") for result in results)
    reason = f"high failure rate: {len(failed)} of {run} tool calls"
    return FallbackClassification(FallbackAction.ESCALATE, 0.7, reason=reason)


def _if_an_answer_is_there(content: str, silent_turns: int) -> FallbackClassification | None:
    # One turn earlier than without text: the answer seems to be there.
    if len(content) <= SUBSTANTIAL_CHARACTERS or silent_turns < SILENT_TURNS - 1:
        return None
    reason = f"an answer of {len(content)} characters without a signal"
    return FallbackClassification(FallbackAction.FORCE_RESPONSE, 0.8, reason=reason)


def _if_no_tool_was_needed(
    query: str, tool_results: Sequence[Mapping[str, Any]]
) -> FallbackClassification | None:
    if tool_results or len(query.split()) >= SIMPLE_QUERY_WORDS:
        return None
    return FallbackClassification(
        FallbackAction.FORCE_RESPONSE,
        0.75,
        hint="The question is short and no tool was needed so far: answer it directly.",
        reason="a simple question without tool calls",
    )


def _if_silent(
    silent_turns: int, failed: list[str], has_results: bool
) -> FallbackClassification | None:
    """A tool call with a result is progress. Without one, silent turns are a standstill."""
    if silent_turns < SILENT_TURNS:
        return None
    if has_results:
        return FallbackClassification(
            FallbackAction.CONTINUE,
            0.6,
            hint=SAY_HOW_YOU_STAND,
            reason=f"{silent_turns} turns without a signal, but with results",
        )
    names = ", ".join(dict.fromkeys(failed))
    hint = "Nothing has come of the last turns. "
    hint += f"These failed: {names}. " if names else ""
    return FallbackClassification(
        FallbackAction.RETRY_WITH_HINT,
        0.6,
        hint=f"{hint}Take another way: other words, another source.",
        reason=f"no progress in {silent_turns} turns",
    )


def _doubted(
    decision: FallbackClassification, last_signal_confidence: float | None
) -> FallbackClassification:
    """Lower the confidence if the model's last signal was weak."""
    if last_signal_confidence is None or last_signal_confidence >= WEAK_CONFIDENCE:
        return decision
    confidence = round(decision.confidence - WEAK_SIGNAL_PENALTY, 2)
    return FallbackClassification(decision.action, confidence, decision.hint, decision.reason)


def log_fallback_trigger(
    reason: str,
    turns_without_signal: int,
    last_signal_type: str | None,
    last_signal_confidence: float | None,
    classification_action: str,
    classification_confidence: float,
    *,
    source: str = "fallback_classifier",
) -> None:
    """Report a decision of the fallback to the event bus."""
    payload = {
        "timestamp": datetime.fromtimestamp(event_time(), UTC).isoformat(),
        "reason": reason,
        "turns_without_signal": turns_without_signal,
        "last_signal_type": last_signal_type,
        "last_signal_confidence": last_signal_confidence,
        "classification_action": classification_action,
        "classification_confidence": classification_confidence,
    }
    escalates = classification_action == FallbackAction.ESCALATE.value
    get_event_bus().emit(
        Event(
            type="fallback.triggered",
            source=source,
            severity=Severity.WARNING if escalates else Severity.INFO,
            payload=payload,
        )
    )

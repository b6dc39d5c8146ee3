"""Words for the codes of a run: stop reasons, signals, decisions, calls and their results.

A code that is not in a table is shown as words too: a tree of one's own may have others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

LONGEST_VALUE: Final = 200
LONGEST_RESULT: Final = 240

STOP_REASONS: Final[Mapping[str, str]] = {
    "answered": "answered",
    "partial_answer": "partial answer",
    "stuck": "got stuck",
    "turn_limit": "turn limit",
    "token_limit": "token limit",
    "money_limit": "cost limit",
    "time_limit": "time limit",
    "refusal": "model refused",
    "content_filter": "filtered by the provider",
    "cancelled": "cancelled",
    "model_unavailable": "model unavailable",
    "no_progress": "no progress",
    "tick_budget": "too many steps",
    "internal_error": "internal error",
    "invalid_input": "invalid input",
    "store_failed": "not stored",
    "held_elsewhere": "held by another process",
    "spend_limit": "a budget is used up",
    "shadow_limit": "cost limit of the shadow",
    "settled": "ended",
    "not_recorded": "not recorded",
    "never_begun": "never began",
}

_SIGNALS: Final[Mapping[str, str]] = {
    "need_turn": "needs another turn: {reason}",
    "context_sufficient": "has enough to answer, from {sources_found} sources",
    "stuck": "is stuck: {blocker}",
    "need_capability": "asks for a tool: {capability} ({reason})",
    "partial_answer": "has a partial answer; missing: {missing}",
    "delegation_recommended": "wants to delegate {scope}: {reason}",
}

VERDICTS: Final[Mapping[str, str]] = {
    "granted": "granted it",
    "refused": "refused it",
    "gave_up": "gave up",
    "believed": "took it as the answer",
    "not_believed": "did not take it as the answer",
    "asked_again": "asked again",
    "strategy_changed": "changed the approach",
    "asked_for_the_answer": "asked for the answer now",
    "taken_as_stuck": "took it as the end: stuck",
    "taken_as_the_last_word": "took it as the last word",
    "taken_as_partial": "took it as a partial answer",
    "fallback_continue": "let it go on (fallback)",
    "fallback_force_response": "asked for the answer (fallback)",
    "fallback_retry_with_hint": "gave a hint and tried another way (fallback)",
    "fallback_escalate": "withdrew the tools and asked for an honest answer (fallback)",
}

OUTCOMES: Final[Mapping[str, str]] = {
    "answer": "the text is the answer",
    "draft": "the text is a draft",
    "tools": "tools were called",
    "empty": "the response was empty",
    "cut": "the response was cut off",
}


def stop_words(reason: str) -> str:
    """>>> stop_words("token_limit"), stop_words("own_reason")
    ('reached the token limit', 'own reason')
    """
    return STOP_REASONS.get(reason, reason.replace("_", " "))


def signal_words(signal: Mapping[str, Any]) -> str:
    """What the model said of its own state, as the rest of a sentence that begins with it."""
    known = _SIGNALS.get(str(signal.get("type")))
    try:
        text = known.format_map(signal) if known else str(signal.get("type")).replace("_", " ")
    except (KeyError, IndexError, ValueError, AttributeError):
        # A record of another version, or one that was changed, may lack the field.
        text = str(signal.get("type")).replace("_", " ")
    return text.replace("from 1 sources", "from 1 source")


def confidence_words(confidence: Any) -> str:
    return f"{confidence:.0%} sure" if isinstance(confidence, int | float) else ""


def decision_words(verdict: str, reason: str = "") -> str:
    """What the tree decided, as the rest of a sentence that begins with it."""
    words = VERDICTS.get(verdict, verdict.replace("_", " "))
    return f"{words}: {reason}" if reason else words


def call_words(name: str, arguments: Any, *, with_names: bool = False) -> str:
    """A call as programmers write it. `with_names` names the first argument too.

    >>> call_words("search_code", {"query": "login", "limit": 10})
    'search_code("login", limit=10)'
    """
    if not isinstance(arguments, Mapping):
        return f"{name}({_value(arguments)})" if arguments else f"{name}()"
    given = [
        f"{key}={_value(value)}"
        if with_names or number or not isinstance(value, str)
        else _value(value)
        for number, (key, value) in enumerate(cast("Mapping[str, Any]", arguments).items())
    ]
    return f"{name}({', '.join(given)})"


def _value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= LONGEST_VALUE:
        return text
    return f"{text[:LONGEST_VALUE]}… ({len(text):,} characters)"


def result_words(content: str, *, places: int) -> str:
    """The first line of a result, which says what was found."""
    first = next((line for line in map(str.strip, content.splitlines()) if line), "")
    if not first:
        return "1 place" if places == 1 else f"{places} places" if places else "nothing"
    return first if len(first) <= LONGEST_RESULT else f"{first[: LONGEST_RESULT - 1]}…"


def resumed_words(model: object) -> str:
    by = f", with the model {model}" if model else ""
    return f"the process died here, and another one resumed the run{by}"


def budget_words(budget: str, used: float, limit: float | None) -> str:
    """`used 21 of 30 turns`; of a tool, `used search_code 8 of 8 times`."""
    of = "" if limit is None else f" of {limit:,g}"
    if budget in ("turns", "tokens", "seconds"):
        return f"used {used:,g}{of} {budget}"
    if budget == "money":
        return f"spent {used:,g}{of}"
    return f"used {budget} {used:,g}{of} times"

"""What to do about an unclear signal, from what BERT reads in the model's text and the heuristic.

BERT sees only words, the heuristic only counts. Both are pure functions of the record here: what
BERT read is given, so a replay comes to the same decision without it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from oracle.services.bert.prototypes import STATES
from oracle.services.fallback_classifier import (
    SAY_HOW_YOU_STAND,
    FallbackAction,
    FallbackClassification,
)

ACTIONS: Final[Mapping[str, FallbackAction]] = {
    "progressing": FallbackAction.CONTINUE,
    "done": FallbackAction.FORCE_RESPONSE,
    "confused": FallbackAction.RETRY_WITH_HINT,
    "blocked": FallbackAction.ESCALATE,
}
HINTS: Final[Mapping[str, str]] = {
    "rephrase": "Search with other words: a synonym, a part of the name, what the code might say.",
    "another_source": "Look in another kind of source than so far: code, notes, threads.",
    "coverage": "Make a list of all places first, then read them one after the other.",
    "more_tools": "If no tool on offer can do it, say so with a need_capability signal.",
}

# In units of log-probability. Chosen on the tuning part of the labelled situations.
HEURISTIC_WEIGHT: Final = 1.0
PENDING_WEIGHT: Final = 1.0
"""For `progressing`, if calls wait to be run. Confused models call tools too, so it is small."""
FAILED_WEIGHT: Final = 2.0
"""For `blocked`, times the share of calls that failed."""


def combined_classify(
    heuristic: FallbackClassification,
    reading: Mapping[str, Any],
    tool_results: Sequence[Mapping[str, Any]],
) -> FallbackClassification:
    """`reading` is what `Prototypes.situation` returned."""
    found = _probabilities(heuristic, reading["states"], tool_results)
    state = max(STATES, key=lambda each: found[each])
    action = ACTIONS[state]
    if action is heuristic.action:
        hint = heuristic.hint
    else:
        hint = SAY_HOW_YOU_STAND if action is FallbackAction.CONTINUE else None
    if action is FallbackAction.RETRY_WITH_HINT:
        strategies: Mapping[str, float] = reading["strategies"]
        hint = HINTS[max(strategies, key=lambda each: strategies[each])]
    return FallbackClassification(
        action,
        round(found[state], 2),
        hint=hint,
        reason=f"by its last words it is {state}; heuristic: {heuristic.reason}",
    )


def _probabilities(
    heuristic: FallbackClassification,
    states: Mapping[str, float],
    tool_results: Sequence[Mapping[str, Any]],
) -> dict[str, float]:
    pending = any(result.get("pending") for result in tool_results)
    failed = sum(not result.get("success") for result in tool_results)
    # One more call than were made: a single failure is not yet a share of 1.
    share = failed / (len(tool_results) + 1)
    scores = {
        state: math.log(max(states[state], 1e-4))
        + HEURISTIC_WEIGHT * (ACTIONS[state] is heuristic.action)
        for state in STATES
    }
    scores["progressing"] += PENDING_WEIGHT * pending
    scores["blocked"] += FAILED_WEIGHT * share
    total = sum(map(math.exp, scores.values()))
    return {state: math.exp(score) / total for state, score in scores.items()}

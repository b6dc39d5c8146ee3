"""The answer that the tree itself gives when the model could not finish one.

It is made of what there is: the text so far, and the places that were found. It invents nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

MOST_PLACES: Final = 8
LONGEST_QUOTATION: Final = 160

EXPLAINED: Final[Mapping[str, str]] = {
    "turn_limit": "the limit of turns was reached",
    "token_limit": "the limit of tokens was reached",
    "money_limit": "the limit of money was reached",
    "time_limit": "the limit of time was reached",
    "cancelled": "it was cancelled",
    "model_unavailable": "the language model could not be asked",
    "stuck": "no way forward was left",
    "partial_answer": "a part of the question stays open",
    "no_progress": "nothing happened for too long",
    "tick_budget": "the tree did not come to an end",
    "settled": "the tree ended without a word",
    "invalid_input": "it could not be asked",
    "held_elsewhere": "another process is at work on it",
    "store_failed": "it could not be written down",
    "internal_error": "something went wrong inside the program",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Remains:
    """What a run leaves behind."""

    stop_reason: str
    detail: str
    text: str
    is_cut: bool
    places: Sequence[Mapping[str, Any]]
    tried: Sequence[str]
    missing: Sequence[str]


def last_words(remains: Remains) -> str:
    """The text so far with the place of the cut, why it ends, what was found, tried, missing."""
    parts = [_text(remains), _reason(remains)]
    if remains.places:
        parts.append(_found(remains.places))
    elif not remains.text.strip():
        parts.append("Nothing was found before that.")
    if remains.tried:
        parts.append(f"Tried: {', '.join(remains.tried)}.")
    if remains.missing:
        parts.append("Missing: " + "; ".join(remains.missing) + ".")
    return "\n\n".join(part for part in parts if part)


def _text(remains: Remains) -> str:
    text = remains.text.strip()
    return f"{text} […]" if text and remains.is_cut else text


def _reason(remains: Remains) -> str:
    why = EXPLAINED.get(remains.stop_reason, remains.stop_reason)
    detail = f" ({remains.detail})" if remains.detail else ""
    return f"*This answer is not complete: {why}{detail}.*"


def _found(places: Sequence[Mapping[str, Any]]) -> str:
    lines = [_quotation(place) for place in places[:MOST_PLACES]]
    if len(places) > MOST_PLACES:
        lines.append(f"- … and {len(places) - MOST_PLACES} more")
    return "Found so far:\n\n" + "\n".join(lines)


def _quotation(place: Mapping[str, Any]) -> str:
    text = " ".join(str(place.get("text", "")).split())
    if len(text) > LONGEST_QUOTATION:
        text = text[:LONGEST_QUOTATION].rstrip() + "…"
    return f"- `{place['where']}`" + (f": {text}" if text else "")

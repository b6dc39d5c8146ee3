"""The answer that the tree itself writes when the model could not finish one.

It consists of the text so far and the places that were found. It invents nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from oracle.lazy_dataclass import dataclass
from oracle.services.citations import find_citations
from oracle.services.tools.answer import inline_quotation

MOST_PLACES: Final = 8
LONGEST_QUOTATION: Final = 160
CUT_HERE: Final = " […]"
"""The mark at the end of a text that stops in the middle."""

NO_SEARCH: Final = "No search was allowed"
"""The embedded model says so if it had no tools at all."""
NO_SURE_PLACE: Final = "a place that surely answers the question"
"""Where the embedded model quotes its best matches, and none of them is sure to be the answer."""
NOTHING_LOOKED_AT: Final = "any source, because nothing was looked at"
NO_ANSWER: Final = "an answer of the model"
NOTHING_PIPED: Final = "the text, because nothing was piped in"
NOTHING_ATTACHED: Final = "any text, because what is attached is empty"
NOTHING_CHANGED: Final = "the change itself, because nothing was changed"
NOT_COMPLETE: Final = "This answer is not complete"
EXPLAINED: Final[Mapping[str, str]] = {
    "turn_limit": "the limit of turns was reached",
    "token_limit": "the limit of tokens was reached",
    "money_limit": "the limit of money was reached",
    "time_limit": "the limit of time was reached",
    "cancelled": "it was cancelled",
    "model_unavailable": "the language model did not answer",
    "refusal": "the model declined to answer",
    "content_filter": "a filter of the provider stopped it",
    "stuck": "no way forward was left",
    "partial_answer": "it answers only a part of the question",
    "no_progress": "nothing happened for too long",
    "tick_budget": "the tree did not finish",
    "settled": "the tree ended without an answer",
    "invalid_input": "the question could not be asked",
    "held_elsewhere": "another process is working on it",
    "spend_limit": "a budget is used up",
    "store_failed": "it could not be saved",
    "internal_error": "something went wrong inside the program",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class UnfinishedRun:
    """What a run has found when it ends without an answer.

    `is_cut` says that `text` stops in the middle. `tried` are tools, `missing` are open questions.
    """

    stop_reason: str
    detail: str
    text: str = ""
    is_cut: bool = False
    places: Sequence[Mapping[str, Any]] = ()
    tried: Sequence[str] = ()
    missing: Sequence[str] = ()


def unfinished_answer(run: UnfinishedRun) -> str:
    """The text so far, the reason for the end, then what was found, tried and is missing."""
    reason, *rest = own_words(run)
    parts = [_text(run), reason]
    if run.places and not _has_seen_enough(run):
        parts.append(_found(run.places))
    elif not run.text.strip():
        parts.append("Nothing was found before that.")
    return "\n\n".join(part for part in [*parts, *rest] if part)


def own_words(run: UnfinishedRun) -> list[str]:
    """The paragraphs that the tree words itself: why the run ended, what was tried, what is
    missing. An address or a file in them is not a citation.
    """
    words = [_reason(run)]
    if _has_seen_enough(run):
        return words
    if run.tried:
        words.append(f"Tried: {', '.join(run.tried)}.")
    if run.missing:
        words.append("Missing: " + "; ".join(run.missing) + ".")
    return words


def _has_seen_enough(run: UnfinishedRun) -> bool:
    """Whether a person stopped an answer that was being written.

    The text was on the screen. A list of everything that was found would bury it.
    """
    return run.stop_reason == "cancelled" and bool(run.text.strip())


def _text(run: UnfinishedRun) -> str:
    text = run.text.strip()
    return f"{text}{CUT_HERE}" if text and run.is_cut else text


def _reason(run: UnfinishedRun) -> str:
    why = EXPLAINED.get(run.stop_reason, run.stop_reason)
    if run.stop_reason == "model_unavailable" and run.is_cut:
        why = "the language model did not finish it"
    detail = f" ({run.detail})" if run.detail else ""
    return f"*{NOT_COMPLETE}: {why}{detail}.*"


def _found(places: Sequence[Mapping[str, Any]]) -> str:
    lines = [_quotation(place) for place in places[:MOST_PLACES]]
    if len(places) > MOST_PLACES:
        lines.append(f"- … and {len(places) - MOST_PLACES} more")
    return "Found so far:\n\n" + "\n".join(lines)


def _quotation(place: Mapping[str, Any]) -> str:
    """The text of a file is inline code, so that nothing in it is taken for our own words: neither
    a signal nor a citation, and not by the model when the conversation continues.
    """
    where = f"- {inline_quotation(str(place['where']))}"
    text = " ".join(str(place.get("text", "")).split())
    if not text or _is_only_a_citation(text):
        return where
    # The ellipsis is ours, and the quotation must be found in the file as it is.
    is_long = len(text) > LONGEST_QUOTATION
    quoted = inline_quotation(text[:LONGEST_QUOTATION])
    return f"{where}: {quoted}{'…' if is_long else ''}"


def _is_only_a_citation(text: str) -> bool:
    """A line such as `b.py:3` says nothing, and as inline code it would be a citation of ours."""
    bare = text.strip('`"“”„ ')
    return any(citation.text == bare for citation in find_citations(text[:LONGEST_QUOTATION]))

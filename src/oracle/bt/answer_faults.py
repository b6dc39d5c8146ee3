"""What is wrong with an answer, as far as it can be seen without knowing the right one.

Conditions ask this before the run ends, and `partly` names it afterwards. Like `shortfall`, one
place decides it for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from oracle.bt.board import OFFER, bb_get, classification_of, granted_tools, shares_of
from oracle.bt.shortfall import SPOKEN_OF, shown_sources, was_searched_for
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.models.query_classification import QueryType
from oracle.services.citations import check_answer
from oracle.services.control.needs import parts_left_open, share_of_words
from oracle.services.control.own_words import says_it_is_no_answer
from oracle.services.control.places import (
    cited_stretches,
    cites_beside_the_question,
    share_cited,
)
from oracle.services.control.substance import says_nothing
from oracle.services.coverage.parts import as_results, is_covered, left_out
from oracle.services.questions.project_topics import project_question
from oracle.services.questions.search_words import asks_for_all

JUDGED: Final = (*SPOKEN_OF, *OFFER, "history")
"""The keys that the functions here read."""
_ONE_FILE: Final = 1
_TERSE: Final = 40
"""Characters. So short a text is not judged by its citations alone."""


def own_doubt(bb: TypedBlackboard) -> str:
    """What the response says of itself: that it is no answer, or not all of one. "" if nothing.

    Only for a question about sources. "I cannot help with that" may answer small talk; and what was
    to be written is judged by what was written.
    """
    if bb_get(bb, "classification") is None:
        return ""
    asked = classification_of(bb)
    if not asked.needs_any_source or asked.query_type is QueryType.ACTION:
        return ""
    return says_it_is_no_answer(_text(bb))


def is_empty_talk(bb: TypedBlackboard) -> bool:
    """Whether the response only repeats the question, or only names places."""
    return was_searched_for(bb) and says_nothing(bb_get(bb, "query"), _text(bb))


def is_beside_the_question(bb: TypedBlackboard, *, part: float) -> bool:
    """Whether no cited place has this part of the question's words that the best place has, found
    or known in a source on offer.

    What the project is asked about itself is in its files in other words.
    """
    query: str = bb_get(bb, "query")
    if not was_searched_for(bb) or project_question(query) is not None:
        return False
    offered = {spec.source for spec in granted_tools(bb)}
    known = max((share for kind, share in shares_of(bb).items() if kind in offered), default=0.0)
    return cites_beside_the_question(query, _text(bb), shown_sources(bb), part=part, known=known)


def cites_what_was_not_read(bb: TypedBlackboard) -> bool:
    """Whether it cites something, and nothing of that was read in this conversation.

    A tool of somebody else may give texts without places: then it is not known what was read.
    """
    if not _can_be_judged_by_places(bb):
        return False
    history: list[dict[str, Any]] = bb_get(bb, "history")
    checked = check_answer(
        _text(bb),
        evidence=bb_get(bb, "evidence"),
        messages=[*bb_get(bb, "messages"), *as_results(bb_get(bb, "parts"))],
        earlier=[place for said in history for place in said["metadata"].get("places", ())],
    )
    found = checked.citations
    return bool(found) and all(one["status"] == "unknown" for one in found)


def is_covered_by_its_places(bb: TypedBlackboard, *, share: float) -> bool:
    """Whether the places that the response cites have this share of those words of the question
    that were found. True if it is not about what this run has searched for.
    """
    query: str = bb_get(bb, "query")
    if not _can_be_judged_by_places(bb) or project_question(query) is not None:
        return True
    return share_cited(query, _text(bb), shown_sources(bb)) >= share * share_of_words(
        query, bb_get(bb, "words_found")
    )


def unread_parts(bb: TypedBlackboard) -> str:
    """The parts that were found and not read, if every one is asked for: some may belong to it."""
    return left_out(bb_get(bb, "parts")) if asks_for_all(bb_get(bb, "query")) else ""


def parts_without_a_place(bb: TypedBlackboard) -> list[str]:
    """The parts of a broad question that no cited place has a word of, if the response cites a
    single file although several were read for it.
    """
    if not was_searched_for(bb):
        return []
    read = {str(part["file"]) for part in _parts(bb) if is_covered(part)}
    cited = cited_stretches(_text(bb), shown_sources(bb))
    files = {stretch.partition("\n")[0] for stretch in cited}
    if len(read) <= _ONE_FILE or len(files) != _ONE_FILE:
        return []
    return parts_left_open(bb_get(bb, "query"), "\n".join(cited))


def _can_be_judged_by_places(bb: TypedBlackboard) -> bool:
    """Whether it is about what was searched for, not terse, and places are known that were read."""
    if not was_searched_for(bb) or len(_text(bb)) < _TERSE:
        return False
    return any(source.get("path") or source.get("url") for source in shown_sources(bb))


def _text(bb: TypedBlackboard) -> str:
    response: dict[str, Any] = bb_get(bb, "response")
    return response["text"]


def _parts(bb: TypedBlackboard) -> Sequence[dict[str, Any]]:
    return bb_get(bb, "parts")

"""What a run lacks: evidence, a write that was to be made, the rest of the answer.

Conditions ask this before the run ends, and `finish` names it afterwards. One place decides it for
both, so that a stop reason and what is named as missing always agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from oracle.bt.board import PIPE_EMPTY, all_tools, bb_get, classification_of, granted_tools
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.models.query_classification import QueryType
from oracle.services.citations import find_citations, lines_cited
from oracle.services.control.announcements import LONGEST, is_announcement
from oracle.services.control.asked_for import asks_for
from oracle.services.control.ledger import STOP_AT
from oracle.services.control.needs import names_in, parts_left_open, words_left_out
from oracle.services.control.unfinished_answer import NO_ANSWER, NOTHING_LOOKED_AT
from oracle.services.control.writes import is_anything_written, undone_writes, was_a_write_tried
from oracle.services.coverage.parts import is_covered, left_out
from oracle.services.questions.project_topics import project_question
from oracle.services.questions.search_words import points_at_a_text
from oracle.services.signals.said import is_visible

GROUNDS: Final = (
    "evidence",
    "earlier_evidence",
    "topic_shift",
    "classification",
    "attachment",
    "facts",
    "query",
)
"""The keys that `lacks_evidence` reads."""

NAMED: Final = (*GROUNDS, "attached", "words_found")
"""The keys that `names_not_found` reads."""

SPOKEN_OF: Final = (*NAMED, "response", "messages", "parts")
"""The keys that `words_not_spoken_of` and `parts_not_spoken_of` read."""

ORDERED: Final = ("query", "classification", "granted", "tool_list", "tool_results")
"""The keys that `is_write_ordered` and `unwritten` read."""

OPEN_END: Final = (
    "stop_reason",
    "response",
    "signal",
    "last_signal",
    "answer",
    "answer_so_far",
    "sources_tried",
    "sources_empty",
    *GROUNDS,
)
"""The keys that `open_end` reads."""

_TERSE: Final = 40
"""Characters. A shorter text that cites nothing says yes or no, or a number."""

# -- evidence --------------------------------------------------------------------------------------


def lacks_evidence(bb: TypedBlackboard) -> bool:
    """Whether the question needs sources, and nothing was gathered for it.

    This run may have gathered something, or an earlier exchange on the same topic, or the user has
    attached it. If it is about a text that did not come through the pipe, there is nothing to look
    for.
    """
    if bb_get(bb, "evidence") or is_visible(bb_get(bb, "attachment") or "") or _misses_its_text(bb):
        return False
    if bb_get(bb, "earlier_evidence") and not bb_get(bb, "topic_shift"):
        return False
    # A tree of somebody else may use the fallback and classify nothing.
    return bb_get(bb, "classification") is not None and classification_of(bb).needs_any_source


def names_not_found(bb: TypedBlackboard) -> list[str]:
    """What the question calls by name, if none of it is in anything that was found.

    Only for what this run has searched for: what the user gives, or said before, may name it.
    """
    if not was_searched_for(bb):
        return []
    names = names_in(bb_get(bb, "query"))
    found: list[str] = bb_get(bb, "words_found")
    return [] if any(name in found for name in names) else names


def was_searched_for(bb: TypedBlackboard) -> bool:
    """Whether the question is about sources, and all that is known of it was found in this run."""
    if bb_get(bb, "attachment") or bb_get(bb, "attached") or bb_get(bb, "earlier_evidence"):
        return False
    if bb_get(bb, "classification") is None or not bb_get(bb, "evidence"):
        return False
    # What is to be written has names of its own.
    asked = classification_of(bb)
    return asked.needs_any_source and asked.query_type is not QueryType.ACTION


def words_not_spoken_of(bb: TypedBlackboard, *, of_found: float, of_all: float) -> list[str]:
    """The words of the question that neither the response nor the lines that it cites have, if it
    has less than these shares of them: of those that were found, or of all.
    """
    query, found = bb_get(bb, "query"), bb_get(bb, "words_found")
    said = _said(bb)
    return words_left_out(query, said, found, of_found=of_found, of_all=of_all) if said else []


def parts_not_spoken_of(bb: TypedBlackboard) -> list[str]:
    """The parts of the question that neither the response nor the lines that it cites have a word
    of.
    """
    said = _said(bb)
    return parts_left_open(bb_get(bb, "query"), said) if said else []


def _said(bb: TypedBlackboard) -> str:
    """The response and the lines that it cites; "" if it is not judged by its words.

    It is judged only on what this run has searched for, as with names. "Yes, since 4.2." need not
    repeat the question. What the project is asked about itself (its licence, how its tests are run)
    is in its files in other words. A text that was cut is told as cut.
    """
    if project_question(bb_get(bb, "query")) is not None:
        return ""
    response = bb_get(bb, "response")
    text: str = response["text"]
    if response["ending"]["kind"] != "whole":
        return ""
    cited = lines_cited(text, shown_sources(bb))
    if not was_searched_for(bb) or (not cited and len(text) < _TERSE):
        return ""
    return "\n".join((text, *cited))


def shown_sources(bb: TypedBlackboard) -> list[Mapping[str, Any]]:
    """What the model was shown, with its text: what is still in the conversation, and the parts
    that it was asked about alone. Of what is neither, the beginning is known from the evidence.
    """
    messages: list[Mapping[str, Any]] = bb_get(bb, "messages") or []
    carriers = [*messages, *(part for part in bb_get(bb, "parts") if is_covered(part))]
    sources = [source for each in carriers for source in each.get("sources", ())]
    known = {(source.get("where"), source.get("path")) for source in sources}
    rest = (one for one in bb_get(bb, "evidence") if (one["where"], one.get("path")) not in known)
    return [*sources, *rest]


def words_for_no_evidence(bb: TypedBlackboard) -> str:
    if found := _found_but_not_shown(bb):
        return f"what was found in {found}, because there was no room to show it to the model"
    tried = ", ".join(bb_get(bb, "sources_tried"))
    return f"anything in {tried}" if tried else NOTHING_LOOKED_AT


def why_no_evidence(bb: TypedBlackboard) -> str:
    if _found_but_not_shown(bb):
        return "the model was shown nothing of what was found"
    return "no source brought anything" if bb_get(bb, "sources_tried") else "nothing was gathered"


def _found_but_not_shown(bb: TypedBlackboard) -> str:
    empty: list[str] = bb_get(bb, "sources_empty")
    return ", ".join(kind for kind in bb_get(bb, "sources_tried") if kind not in empty)


def _misses_its_text(bb: TypedBlackboard) -> bool:
    facts = bb_get(bb, "facts")
    return bool(facts and facts.get(PIPE_EMPTY) and points_at_a_text(bb_get(bb, "query")))


# -- writes ----------------------------------------------------------------------------------------


def is_write_ordered(bb: TypedBlackboard) -> bool:
    """Whether the question is an order to write, and was granted a tool for it.

    It is classified as an action, or it asks for an own tool in the tool's words.
    """
    granted: list[str] = bb_get(bb, "granted")
    writing = [spec for spec in all_tools(bb) if spec.writes and spec.name in granted]
    if not writing or bb_get(bb, "classification") is None:
        return False
    if classification_of(bb).query_type is QueryType.ACTION:
        return True
    return any(spec.needs_yes and asks_for(bb_get(bb, "query"), spec) for spec in writing)


def is_write_still_possible(bb: TypedBlackboard) -> bool:
    """Whether an ordered write was not tried yet, and a tool for it is on offer."""
    was_tried = was_a_write_tried(bb_get(bb, "tool_results"))
    is_offered = any(spec.writes for spec in granted_tools(bb))
    return is_offered and not was_tried and is_write_ordered(bb)


def unwritten(bb: TypedBlackboard) -> list[str]:
    """What was to be written and was not: by a call of the model, or by an order of the user."""
    results: list[dict[str, Any]] = bb_get(bb, "tool_results")
    if undone := undone_writes(results):
        return undone
    is_open = is_write_ordered(bb) and not is_anything_written(results)
    return ["nothing was written"] if is_open else []


# -- the rest --------------------------------------------------------------------------------------


def only_announces(bb: TypedBlackboard) -> bool:
    """Whether the last response only says what the model will do next.

    By its words, or by its signal: who asks for another turn, and has found nothing so far, has
    nothing to say yet. Nor has one who calls tools in a last turn, when none is offered any more,
    and names no place.
    """
    response: dict[str, Any] = bb_get(bb, "response") or {}
    text: str = response.get("text", "")
    signal: dict[str, Any] = response.get("signal") or {}
    if signal.get("type") == "need_turn" and len(text) <= LONGEST and lacks_evidence(bb):
        return True
    is_about_sources = (
        bb_get(bb, "classification") is not None and classification_of(bb).needs_any_source
    )
    if is_about_sources and bb_get(bb, "is_last_turn") and response.get("calls"):
        return len(text) <= LONGEST and not find_citations(text)
    return is_about_sources and is_announcement(text)


def open_end(bb: TypedBlackboard, *, is_anything_named: bool) -> list[str]:
    """What a run lacks that ended before its answer, whatever ended it.

    A run that could have looked and found nothing lacks evidence. Where nothing else is named, it
    is what the model still wanted, or the rest.
    """
    stop: str = bb_get(bb, "stop_reason")
    if stop in ("answered", "partial_answer"):
        return []
    could_look = stop == "stuck" or stop in STOP_AT.values()
    if could_look and lacks_evidence(bb):
        return [words_for_no_evidence(bb)]
    return [] if is_anything_named else [_the_rest(bb)]


def words_for_a_wish(signal: Mapping[str, Any]) -> str:
    """What a signal asks for that there was no room for; "" if it asks for nothing."""
    match signal.get("type"):
        case "need_turn":
            return f"another turn ({signal['reason']})"
        case "need_capability":
            return f"{signal['capability']} ({signal['reason']})"
        case "delegation_recommended":
            return f"{signal['scope']} ({signal['reason']})"
        case "stuck":
            return str(signal["blocker"])
        case _:
            return ""


def _the_rest(bb: TypedBlackboard) -> str:
    response: dict[str, Any] | None = bb_get(bb, "response")
    # What a whole response does not ask for any more was granted before.
    is_whole = response is not None and response["is_complete"]
    signal: dict[str, Any] | None = bb_get(bb, "signal" if is_whole else "last_signal")
    if wish := words_for_a_wish(signal or {}):
        return wish
    has_text = bb_get(bb, "answer") or bb_get(bb, "answer_so_far")
    return "the rest of the answer" if has_text else NO_ANSWER


def why_cut(ending: Mapping[str, str]) -> str:
    """Why a response has no end; "" if it has."""
    if ending["kind"] == "whole":
        return ""
    if ending["kind"] == "unknown":
        return f"the provider ended it with {ending['said']!r}"
    return "it reached the longest output of the model"


def left_undone(bb: TypedBlackboard) -> list[str]:
    """What was to be delegated or read, and was not."""
    delegations: list[dict[str, Any]] = bb_get(bb, "delegations")
    scopes = [one["scope"] for one in delegations if not one.get("covered")]
    undone = [f"delegated work on {scope}" for scope in scopes]
    unread = left_out(bb_get(bb, "parts"))
    return [*undone, f"{unread} (not read)"] if unread else undone

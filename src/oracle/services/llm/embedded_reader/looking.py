"""What to look at next: first searches, other words, other tools, then the best places closer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oracle.services.llm.embedded_reader.choosing import Passage, passages, terms_for
from oracle.services.llm.embedded_reader.quotations import Quotation, quotations_in
from oracle.services.llm.embedded_reader.situation import Call, Situation
from oracle.services.llm.embedded_reader.words import (
    SearchWords,
    goes_on,
    other_words,
    search_words,
)

ToCall = tuple[str, dict[str, object]]

SEARCHES: Final = ("search_code", "search_vault", "search_threads", "web_search")
READS: Final = ("read_file", "read_note", "read_thread", "web_fetch")
_EVERY: Final = re.compile(
    r"\b(?:every|all|each|list|everywhere|wherever|which (?:files|modules|functions|places|tests))\b",
    re.I,
)
_USES: Final = re.compile(
    r"\b(?:called|calls?|callers?|used|uses|usages?|using|invoked|imported|references?|referenced)\b",
    re.I,
)
_PLACES: Final = 8
_MANY_PLACES: Final = 20
_READ_CLOSER: Final = 3
_LINES_BEFORE: Final = 6
_LINES_BEHIND: Final = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Aim:
    """What is asked for. `own` are the question's own words, `words` with those it leans on."""

    words: SearchWords
    own: SearchWords
    wants_all: bool
    wants_uses: bool


def aim_of(situation: Situation) -> Aim:
    own = search_words(situation.question)
    words = own
    asked = situation.question
    for exchange in reversed(situation.history[-4:]):
        if not goes_on(asked, words):
            break
        asked = exchange.question
        words = words.joined(search_words(asked))
    return Aim(
        words=words,
        own=own,
        wants_all=bool(_EVERY.search(situation.question)),
        wants_uses=bool(_USES.search(situation.question)),
    )


def first_calls(situation: Situation, aim: Aim, names: Sequence[str] = SEARCHES) -> list[ToCall]:
    """A search in each source on offer, side by side, and what was named looked up directly."""
    words = aim.words
    calls: list[ToCall] = []
    limit = _MANY_PLACES if aim.wants_all or aim.wants_uses else _PLACES
    if "search_code" in names and situation.has("find_definition"):
        wanted = [*words.names, *words.guesses][:3]
        calls += [("find_definition", {"name": name[:300]}) for name in wanted]
    for name in names:
        if situation.has(name) and words.query:
            calls.append((name, {"query": _query_for(name, situation, words), "limit": limit}))
    for path in [path for path in words.paths if "." in path.rpartition("/")[2]][:2]:
        if path.endswith(".md") and situation.has("read_note"):
            calls.append(("read_note", {"note": path}))
        elif situation.has("read_file"):
            calls.append(("read_file", {"path": path}))
    return calls


def _query_for(name: str, situation: Situation, words: SearchWords) -> str:
    if name == "web_search":
        return situation.question[:390]
    return words.query


def closer_calls(situation: Situation, found: Sequence[Passage]) -> list[ToCall]:
    """The best places with what stands around them, one reading a file."""
    calls: list[ToCall] = []
    seen: set[str] = set()
    for passage in found[:_READ_CLOSER]:
        source = passage.source
        if source.path in seen or source.is_thread:
            continue
        seen.add(source.path)
        calls += _closer(situation, passage)
    made = [(call.name, dict(call.arguments)) for call in situation.calls]
    return [call for call in calls if call not in made]


def _closer(situation: Situation, passage: Passage) -> list[ToCall]:
    source = passage.source
    if source.is_web:
        return [("web_fetch", {"url": source.where})] if situation.has("web_fetch") else []
    if not source.first:
        return []
    line = source.first + passage.best
    around: dict[str, object] = {
        "start": max(1, line - _LINES_BEFORE),
        "end": line + _LINES_BEHIND,
    }
    if situation.has("read_file"):
        return [("read_file", {"path": source.path, **around})]
    if situation.has("read_note"):
        return [("read_note", {"note": source.path, **around})]
    return []


def found_in(situation: Situation) -> list[Quotation]:
    """All that was quoted, what was read closer before what a search showed; nothing twice."""
    calls = [call for call in situation.calls if call.success]
    in_order = [
        *(call for call in calls if call.name == "find_definition"),
        *(call for call in calls if call.name in READS),
        *(call for call in calls if call.name in SEARCHES),
    ]
    found: dict[str, Quotation] = {}
    for call in in_order:
        for quotation in quotations_in(call.content):
            found.setdefault(quotation.where, quotation)
    return list(found.values())


def best_of(situation: Situation, aim: Aim) -> list[Passage]:
    sources = found_in(situation)
    return passages(sources, terms_for(aim.words, sources), uses=aim.wants_uses)


def other_calls(situation: Situation, aim: Aim) -> list[ToCall]:
    """Another way: the same sources by other words, and tools that have not been asked yet."""
    words = other_words(aim.words)
    calls: list[ToCall] = []
    for name in SEARCHES[:3]:
        if situation.has(name) and words and not _has_failed(situation.calls, name):
            calls.append((name, {"query": " ".join(words), "limit": _PLACES}))
    if situation.has("find_definition") and not situation.was_called("find_definition"):
        wanted = [*aim.words.names, *aim.words.plain][:3]
        calls += [("find_definition", {"name": name}) for name in wanted]
    if not calls or any(call.name == "search_code" for call in situation.failed):
        calls += [(name, {}) for name in ("get_repo_map", "list_notes") if situation.has(name)]
    made = [(call.name, dict(call.arguments)) for call in situation.calls]
    return [call for call in calls if call not in made]


def new_searches(situation: Situation) -> list[str]:
    """Searches that are on offer now and have not been made."""
    return [n for n in SEARCHES if situation.has(n) and not situation.was_called(n)]


def _has_failed(calls: Sequence[Call], name: str) -> bool:
    return any(call.name == name and call.success is False for call in calls)

"""What to look at next: first searches, other words, other tools, then the best places closer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oracle.services.embedded.requests import asks_for_a_change
from oracle.services.embedded.situation import Call, Situation
from oracle.services.reading.choosing import (
    LAST_RANK,
    Passage,
    every_line,
    passages,
    terms_for,
)
from oracle.services.reading.quotations import Quotation, quotations_in
from oracle.services.reading.words import (
    SearchWords,
    asks_for_all,
    asks_for_uses,
    goes_on,
    other_words,
    search_words,
)

ToCall = tuple[str, dict[str, object]]

SEARCHES: Final = ("search_code", "search_vault", "search_threads", "web_search")
READS: Final = ("read_file", "read_note", "read_thread", "web_fetch")
_PLACES: Final = 12
_MANY_PLACES: Final = 20
_READ_CLOSER: Final = 3
_LINES_BEFORE: Final = 6
_LINES_BEHIND: Final = 30
_LINES_OF_A_FILE: Final = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class Aim:
    """What is asked for. `own` are the question's own words, `words` with those it leans on."""

    words: SearchWords
    own: SearchWords
    wants_all: bool = False
    wants_uses: bool = False
    wants_a_change: bool = False


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
        wants_all=asks_for_all(situation.question),
        wants_uses=asks_for_uses(situation.question),
        wants_a_change=asks_for_a_change(situation.question),
    )


def first_calls(situation: Situation, aim: Aim, names: Sequence[str] = SEARCHES) -> list[ToCall]:
    """A search in each source on offer, side by side, and what was named looked up directly."""
    words = aim.words
    calls: list[ToCall] = []
    limit = _MANY_PLACES if aim.wants_all or aim.wants_uses else _PLACES
    if "search_code" in names and situation.has("find_definition"):
        wanted = [*words.names, *words.guesses][:3]
        calls += [_definition_of(name) for name in wanted]
    for name in names:
        if situation.has(name) and words.query:
            calls.append((name, {"query": _query_for(name, situation, aim), "limit": limit}))
    files = [path for path in words.paths if "." in path.rpartition("/")[2]]
    calls += [call for path in files[:2] for call in _whole(situation, path)]
    return _not_made(situation, calls)


def _not_made(situation: Situation, calls: Sequence[ToCall]) -> list[ToCall]:
    """A call that was made has its result: it is never made again."""
    made = [(call.name, dict(call.arguments)) for call in situation.calls]
    return [call for call in calls if call not in made]


def _whole(situation: Situation, path: str) -> list[ToCall]:
    if situation.has("read_file"):
        return [("read_file", {"path": path, "start": 1, "end": _LINES_OF_A_FILE})]
    if situation.has("read_note"):
        return [("read_note", {"note": path, "start": 1, "end": _LINES_OF_A_FILE})]
    return []


def _definition_of(name: str) -> ToCall:
    return "find_definition", {"name": name[:300]}


def _query_for(name: str, situation: Situation, aim: Aim) -> str:
    """The question as it was asked, which says most; its words where it leans on another one."""
    if name == "web_search":
        return situation.question[:390]
    return situation.question[:900] if aim.words is aim.own else aim.words.query


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
    return _not_made(situation, calls)


def _closer(situation: Situation, passage: Passage) -> list[ToCall]:
    source = passage.source
    if source.is_web:
        return [("web_fetch", {"url": source.where})] if situation.has("web_fetch") else []
    if not source.first:
        return []
    line = source.first + passage.best
    around: dict[str, object] = {
        "start": 1 if line <= _LINES_BEHIND else line - _LINES_BEFORE,
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
    terms = terms_for(aim.words, sources)
    ranks = _ranks(situation)
    return passages(sources, terms, ranks=ranks, prefers_prose=aim.words.asks_what)


def _ranks(situation: Situation) -> dict[str, int]:
    """How far up a search has a file, the first being 0, as is what was looked up by its name."""
    ranks: dict[str, int] = {}
    for call in situation.calls:
        if call.success and call.name in (*SEARCHES, "find_definition"):
            is_search = call.name in SEARCHES
            for rank, quotation in enumerate(quotations_in(call.content)):
                best = ranks.get(quotation.path, LAST_RANK)
                ranks[quotation.path] = min(best, rank if is_search else 0)
    return ranks


def all_of(situation: Situation, aim: Aim) -> list[Passage]:
    sources = found_in(situation)
    return every_line(sources, terms_for(aim.words, sources), uses=aim.wants_uses)


def nearest_of(situation: Situation, aim: Aim) -> list[Passage]:
    """What was found by other words only."""
    sources = found_in(situation)
    words = SearchWords(plain=other_words(aim.words))
    return passages(sources, terms_for(words, sources), ranks=_ranks(situation))


def mapped_calls(situation: Situation, aim: Aim) -> list[ToCall]:
    """Files that a map or a list of notes names and that sound like the question."""
    terms = terms_for(aim.words, ())
    calls: list[ToCall] = []
    for call in situation.calls:
        if call.success and call.name in ("get_repo_map", "list_notes"):
            paths = [path for path in _paths_in(call) if any(term.is_in(path) for term in terms)]
            calls += [call for path in paths for call in _whole(situation, path)]
    return _not_made(situation, calls)[:_READ_CLOSER]


def _paths_in(call: Call) -> list[str]:
    """A line is a path with what it defines, or a folder with its files."""
    paths: list[str] = []
    for quotation in quotations_in(call.content):
        for line in quotation.lines:
            head, _, rest = line.partition(": ")
            is_folder = head.endswith("/")
            names = [name.strip() for name in rest.split(",")] if is_folder else [""]
            paths += [head.removeprefix("./") + name for name in names]
    return [path for path in paths if not path.endswith(("/", ")"))]


def other_calls(situation: Situation, aim: Aim) -> list[ToCall]:
    """Another way: the same sources by other words, and tools that have not been asked yet."""
    words = other_words(aim.words)
    calls: list[ToCall] = []
    query: dict[str, object] = {"query": " ".join(words), "limit": _PLACES}
    calls += [
        (name, query)
        for name in SEARCHES[:3]
        if situation.has(name) and words and not _has_failed(situation.calls, name)
    ]
    if situation.has("find_definition") and not situation.was_called("find_definition"):
        wanted = [*aim.words.names, *aim.words.plain][:3]
        calls += [_definition_of(name) for name in wanted]
    if not calls or any(call.name == "search_code" for call in situation.failed):
        calls += [(name, {}) for name in ("get_repo_map", "list_notes") if situation.has(name)]
    return _not_made(situation, calls)


def new_searches(situation: Situation) -> list[str]:
    """Searches that are on offer now and have not been made."""
    return [n for n in SEARCHES if situation.has(n) and not situation.was_called(n)]


def _has_failed(calls: Sequence[Call], name: str) -> bool:
    return any(call.name == name and call.success is False for call in calls)

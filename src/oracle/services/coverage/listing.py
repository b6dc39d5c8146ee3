"""Find the parts: what to search for, and which ranges of which files came of it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from oracle.services.coverage.parts import Part
from oracle.services.reading.choosing import Term, is_dull, terms_for
from oracle.services.reading.words import (
    SearchWords,
    asks_for_all,
    asks_for_uses,
    search_words,
    telling,
)
from oracle.services.tools.answer import one_line
from oracle.services.tools.used_lines import UsesBeyond, uses_beyond

SEARCHES: Final = ("search_code", "search_vault", "search_threads")
READS: Final = ("read_file", "read_note", "read_thread")
USES: Final = "find_definition"
MAP: Final = "get_repo_map"
LINES_OF_A_PART: Final = 120
_LINES_BEFORE: Final = 20
_RANGES_OF_A_FILE: Final = 3
_SINGLE_WORDS: Final = 4
_NAMES: Final = 2
_PLACES: Final = 30
_PLACES_OF_A_WORD: Final = 10
_FILES_OF_A_MAP: Final = 12
_RANK_OFFSET: Final = 10
_WHERE: Final = re.compile(r"(?P<path>.+?):(?P<start>\d+)(?:-\d+)?")
_CODE: Final = re.compile(r"_|[a-z][A-Z]|[A-Z][a-z]+[A-Z]|\w[.:]\w")

ToCall = tuple[str, dict[str, Any]]
Source = Mapping[str, Any]
Found = tuple[str, Sequence[Source]]
"""The name of a tool that looked, and what it found."""


def asks_where_it_is_used(question: str) -> bool:
    """Whether each use of something with a name is wanted, rather than how it is used."""
    is_how = re.match(r"\s*(?:how|why)\b", question, re.I)
    return not is_how and bool(search_words(question).names) and asks_for_uses(question)


def searches_for(question: str, tools: Collection[str]) -> list[ToCall]:
    """The question in each source, and then each telling word alone: a part in the middle of
    a flow may know only one of them. Uses of a name are looked up, else a map shows what lies
    between the places.
    """
    words = search_words(question)
    if not words.query:
        return []
    single = [word[:900] for word in telling(words)[:_SINGLE_WORDS] if word != words.query]
    asked = [(question[:900], _PLACES), *((word, _PLACES_OF_A_WORD) for word in single)]
    calls: list[ToCall] = [
        (tool, {"query": query, "limit": limit}) for query, limit in asked for tool in SEARCHES
    ]
    names = _names_to_look_up(question, words)
    calls += [(USES, {"name": name[:300], "references": True}) for name in names]
    calls += [] if names else [(MAP, {"question": question[:2_000]})]
    return [call for call in calls if call[0] in tools]


def parts_of(question: str, found: Sequence[Found], tools: Collection[str]) -> list[Part]:
    """The distinct ranges behind what several searches found, best first.

    Each search votes by its own order, so that what several of them name comes before what one
    does. Where the uses of a name are wanted, what does not have the name is no part.
    """
    names = _names_to_look_up(question, search_words(question))
    ranges: dict[str, list[_Range]] = defaultdict(list)
    named = _with_names(names, found, or_none=asks_for_uses(question))
    for tool, sources in _lively_first(question, named):
        if tool == MAP:
            _vote_by_map(ranges, sources)
            continue
        for rank, source in enumerate(sources):
            _vote(ranges[_name_of(source)], source, 1 / (_RANK_OFFSET + rank))
    ordered = sorted((one for all_ in ranges.values() for one in all_), key=lambda r: -r.votes)
    counted = {name: len(of_one) for name, of_one in ranges.items()}
    parts = [_part(each, tools, is_one_of_many=counted[each.name] > 1) for each in ordered]
    return [part for part in parts if part is not None]


def listed_uses(calls: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> list[Part]:
    """The lists of uses themselves, by call and result: they stand before the model as they are.

    Where a list ends before the uses do, the other lines and files are parts that were not read.
    """
    parts: list[Part] = []
    for call, result in calls:
        arguments: Mapping[str, Any] = call["arguments"]
        if call["name"] != USES or not result["success"] or result.get("empty"):
            continue
        name = f"uses of {one_line(str(arguments['name']))}"
        listed = {"name": name, "tool": USES, "arguments": dict(arguments), "told": ""}
        parts.append({**listed, "state": "whole", "text": result["content"]})
        beyond = [] if (left := uses_beyond(result["content"])) is None else _beyond(left)
        parts += [{**listed, "name": each, "state": "left", "text": ""} for each in beyond]
    return parts


def without_listed(parts: Sequence[Part], found: Sequence[Found], count: int) -> list[Part]:
    """The first `count`; of the others only those in files of which no list of uses has a line."""
    listed = {_name_of(source) for tool, sources in found if tool == USES for source in sources}
    others = (part for part in parts[count:] if part["arguments"].get("path") not in listed)
    return [*parts[:count], *others]


def _beyond(left: UsesBeyond) -> list[str]:
    lines = f"{left.lines - left.shown} of {left.lines} lines that use {left.name}"
    more = [f"{left.more_files} more files that use {left.name}"] if left.more_files else []
    return [lines, *left.others, *more]


def part_around(source: Source) -> Part:
    """The part of a file that has this place."""
    start, end = _lines_around(_line_of(source))
    each = _Range(name=_name_of(source), source=source, start=start, end=end)
    return _as_part(each, "read_file", {"path": each.name, "start": start, "end": end})


@dataclass(kw_only=True, slots=True)
class _Range:
    name: str
    source: Source
    start: int
    end: int
    votes: float = 0.0


def _names_to_look_up(question: str, words: SearchWords) -> list[str]:
    """Any name whose uses are asked for; where it is everything of a kind, what is clearly code."""
    if asks_for_uses(question):
        return list(words.names[:_NAMES])
    if not asks_for_all(question):
        return []
    return [name for name in words.names if _CODE.search(name) or f"`{name}" in question][:_NAMES]


def _with_names(
    names: Collection[str], found: Sequence[Found], *, or_none: bool
) -> Sequence[Found]:
    """What has one of the names; all where nothing has, unless nothing else is wanted."""
    if not names:
        return found
    bare = "|".join(re.escape(re.split(r"[.:]+", name)[-1]) for name in names)
    pattern = re.compile(rf"(?<!\w)(?:{bare})(?!\w)")
    kept = [
        (tool, [source for source in sources if pattern.search(str(source.get("text", "")))])
        for tool, sources in found
    ]
    return kept if or_none or any(sources for _, sources in kept) else found


def _lively_first(question: str, found: Sequence[Found]) -> list[Found]:
    """Without the places that only import what is asked for; where no search has found another
    one in such a file, they come last.
    """
    terms = [term for term in terms_for(search_words(question), ()) if not term.is_extra]
    lively = [
        (tool, [s for s in sources if not _only_imports(s, terms)]) for tool, sources in found
    ]
    files = {_name_of(source) for _, sources in lively for source in sources}
    return [
        (tool, [*first, *(source for source in sources if _name_of(source) not in files)])
        for (tool, sources), (_, first) in zip(found, lively, strict=True)
    ]


def _only_imports(source: Source, terms: Sequence[Term]) -> bool:
    """Whether each line that has a word of the question is a dull one, and there is such a line."""
    lines = str(source.get("text", "")).split("\n")
    speaking = [line for line in lines if any(term.is_in(line) for term in terms)]
    return bool(speaking) and all(map(is_dull, speaking))


def _vote(ranges: list[_Range], source: Source, vote: float) -> None:
    """For the range that has the place, or for another one of the same file far enough away."""
    line = _line_of(source)
    for known in ranges:
        if not line or known.start <= line <= known.end:
            known.votes += vote
            return
    if len(ranges) >= _RANGES_OF_A_FILE:
        ranges[0].votes += vote
        return
    start, end = _lines_around(line)
    start = max([start, *(known.end + 1 for known in ranges if known.end < line)])
    end = min([end, *(known.start - 1 for known in ranges if known.start > line)])
    ranges.append(_Range(name=_name_of(source), source=source, start=start, end=end, votes=vote))


def _vote_by_map(ranges: Mapping[str, list[_Range]], sources: Sequence[Source]) -> None:
    """A map knows files, best first, and no lines: it votes for those that a search has found."""
    for source in sources:
        files = [line for line in str(source.get("text", "")).split("\n") if line[:1].strip()]
        for rank, path in enumerate(files[:_FILES_OF_A_MAP]):
            if ranges.get(path):
                ranges[path][0].votes += 1 / (_RANK_OFFSET + rank)


def _name_of(source: Source) -> str:
    if source.get("kind") == "threads":
        return f"thread:{source.get('title') or source['where']}"
    where = str(source["where"])
    found = _WHERE.fullmatch(where)
    return str(source.get("path") or (found["path"] if found else where))


def _line_of(source: Source) -> int:
    """0 for what has no lines."""
    if source.get("kind") == "threads":
        return 0
    found = _WHERE.fullmatch(str(source["where"]))
    return int(source.get("start") or (found["start"] if found else 1))


def _lines_around(line: int) -> tuple[int, int]:
    """From the top where the place is near it, else from a little above it."""
    start = 1 if line <= LINES_OF_A_PART // 2 else line - _LINES_BEFORE
    return start, start + LINES_OF_A_PART - 1


def _part(each: _Range, tools: Collection[str], *, is_one_of_many: bool) -> Part | None:
    """None where nothing on offer reads it."""
    tool, arguments = _reading_of(each, tools)
    if tool not in tools or each.source.get("kind") == "web":
        return None
    part = _as_part(each, tool, arguments)
    return {**part, "name": f"{part['name']}:{each.start}-{each.end}"} if is_one_of_many else part


def _as_part(each: _Range, tool: str, arguments: dict[str, Any]) -> Part:
    known = {"name": one_line(each.name), "tool": tool, "arguments": arguments}
    return {**known, "state": "open", "text": "", "told": ""}


def _reading_of(each: _Range, tools: Collection[str]) -> ToCall:
    if each.source.get("kind") == "threads":
        return "read_thread", {"thread": each.name.removeprefix("thread:")}
    lines = {"start": each.start, "end": each.end}
    if each.source.get("kind") == "vault" and "read_note" in tools:
        return "read_note", {"note": each.name, **lines}
    return "read_file", {"path": each.name, **lines}

"""Find the parts of a broad question: what to search for, and the ranges that were found."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from oracle.lazy_dataclass import dataclass
from oracle.models.source import MoreUses
from oracle.models.source_kind import kind_named
from oracle.models.tool_spec import Role, ToolSpec
from oracle.patterns import lazy_pattern
from oracle.services.control.needs import words_in
from oracle.services.coverage.parts import Part
from oracle.services.questions.search_words import (
    SearchWords,
    asks_for_all,
    asks_for_uses,
    bare_name,
    search_words,
    specific_words,
)
from oracle.services.quoting.passages import is_dull
from oracle.services.quoting.terms import Term, terms_for
from oracle.services.tools.answer import one_line
from oracle.services.tools.offered import (
    ToCall,
    local,
    read_call,
    reader_of,
    search_call,
    uses_call,
    with_role,
)

LINES_OF_A_PART: Final = 120
_LINES_BEFORE: Final = 20
# More places of one file strengthen its first range: one file must not fill the list.
_RANGES_OF_A_FILE: Final = 3
_SINGLE_WORDS: Final = 2
_NAMES: Final = 2
_PLACES: Final = 30
_PLACES_OF_A_WORD: Final = 10
# A vote is 1 / (10 + rank): the offset keeps one first place from outweighing two good ones.
_RANK_OFFSET: Final = 10
# Of the best place of a search, which has 1. Below it, a place shares one common word at most.
_LEAST_SCORE: Final = 0.15
_NO_SCORE: Final = 1.0
# A name that cannot be a plain word: `a_b`, `aB`, `AbC`, `a.b`.
_CODE: Final = lazy_pattern(r"_|[a-z][A-Z]|[A-Z][a-z]+[A-Z]|\w[.:]\w")

SourceData = Mapping[str, Any]
Found = tuple[Role, Sequence[SourceData]]
"""The role of a tool, and the sources that it found."""


def can_cover(tools: Sequence[ToolSpec]) -> bool:
    """Whether there are a tool that searches the project and a tool that reads from it."""
    return bool(local(tools, "search")) and bool(local(tools, "read"))


def asks_where_it_is_used(question: str) -> bool:
    """Whether it asks for each use of a name, not for how it is used."""
    is_how = re.match(r"\s*(?:how|why)\b", question, re.I)
    return not is_how and bool(search_words(question).names) and asks_for_uses(question)


def searches_for(question: str, tools: Sequence[ToolSpec]) -> list[ToCall]:
    """Search each source for the question, and look up the uses of a name."""
    words = search_words(question)
    if not words.query:
        return []
    calls = [search_call(tool, question, _PLACES) for tool in local(tools, "search")]
    return [*calls, *calls_for_uses(_names_to_look_up(question, words), tools)]


def searches_for_words(
    question: str, found: Sequence[Found], tools: Sequence[ToolSpec]
) -> list[ToCall]:
    """Search for each specific word that nothing found so far has: a part in the middle of a flow
    may have only that one. If everything of a kind is asked for, search for the first words anyway:
    one place that has all of them hides those that have one.
    """
    words = search_words(question)
    sources = [source for _, sources in found for source in sources]
    texts = "\n".join(f"{_name_of(source)}\n{source.get('text', '')}" for source in sources)
    known = {words.query, *(() if asks_for_all(question) else words_in(question, texts))}
    missing = [word for word in specific_words(words) if word not in known]
    searching = local(tools, "search")[:1]
    return [
        search_call(tool, word, _PLACES_OF_A_WORD)
        for word in missing[:_SINGLE_WORDS]
        for tool in searching
    ]


def calls_for_uses(names: Sequence[str], tools: Sequence[ToolSpec]) -> list[ToCall]:
    looking_up = with_role(tools, "uses")[:1]
    return [uses_call(tool, name, references=True) for tool in looking_up for name in names]


def parts_of(question: str, found: Sequence[Found], tools: Sequence[ToolSpec]) -> list[Part]:
    """The distinct ranges of files that the searches found, best first.

    Each search votes by its own order, so a range that several searches found comes before one that
    a single search found. If the question asks for the uses of a name, a place without the name is
    not a part. Nor is a range that matches far worse than the best place of its search, unless all
    places or all uses are asked for.
    """
    names = _names_to_look_up(question, search_words(question))
    ranges: dict[str, list[_Range]] = defaultdict(list)
    named = _with_names(names, found, or_none=asks_for_uses(question))
    for _, sources in _without_mere_imports(question, named):
        for rank, source in enumerate(sources):
            _vote(ranges[_name_of(source)], source, 1 / (_RANK_OFFSET + rank))
    found_ranges = (one for all_ in ranges.values() for one in all_)
    wants_all = asks_for_all(question) or asks_where_it_is_used(question)
    least = 0.0 if wants_all else _LEAST_SCORE
    matching = (one for one in found_ranges if one.score >= least)
    ordered = sorted(matching, key=lambda r: -r.votes)
    counted = {name: len(of_one) for name, of_one in ranges.items()}
    parts = [_part(each, tools, is_one_of_many=counted[each.name] > 1) for each in ordered]
    return [part for part in parts if part is not None]


def listed_uses(calls: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> list[Part]:
    """The lists of uses as parts, from calls and results: the model is shown them whole.

    If a list does not show all uses, the other lines and files are parts that were not read.
    """
    parts: list[Part] = []
    for call, result in calls:
        arguments: Mapping[str, Any] = call["arguments"]
        if result.get("tool_role") != "uses" or not result["success"] or result.get("empty"):
            continue
        name = f"uses of {one_line(str(arguments['name']))}"
        of_the_tool = {"role": "uses", "kind": result.get("tool_kind"), "tool": call["name"]}
        listed = {**of_the_tool, "arguments": dict(arguments), "told": "", "lines": None}
        shown = {"text": result["content"], "sources": result["sources"]}
        left: MoreUses | None = result.get("more_uses")
        more = {} if left is None else {"more_uses": left}
        parts.append({**listed, **shown, **more, "name": name, "file": name, "state": "whole"})
        for each in () if left is None else _not_shown(left):
            unread = {"name": each, "file": each, "state": "left", "text": ""}
            parts.append({**listed, **unread, "sources": []})
    return parts


def without_listed(parts: Sequence[Part], found: Sequence[Found], count: int) -> list[Part]:
    """The first `count` parts; of the others only those in files that no list of uses names."""
    listed = {_name_of(source) for role, sources in found if role == "uses" for source in sources}
    others = (part for part in parts[count:] if part["file"] not in listed)
    return [*parts[:count], *others]


def _not_shown(left: MoreUses) -> list[str]:
    lines = f"{left['lines'] - left['shown']} of {left['lines']} lines that use {left['name']}"
    more = f"{left['more_files']} more files that use {left['name']}"
    return [lines, *left["others"], *([more] if left["more_files"] else [])]


def part_around(source: SourceData, tools: Sequence[ToolSpec]) -> Part | None:
    """The part of a file around this place; None if no tool on offer reads it."""
    start, end = _lines_around(_line_of(source))
    each = _Range(name=_name_of(source), source=source, start=start, end=end)
    return _part(each, tools, is_one_of_many=False)


@dataclass(kw_only=True, slots=True)
class _Range:
    name: str
    source: SourceData
    start: int
    end: int
    votes: float = 0.0
    score: float = 0.0
    quoted: list[SourceData] = field(default_factory=list[SourceData])

    def take(self, source: SourceData, vote: float) -> None:
        """Count a place that is in this range. A tool of somebody else may give no score."""
        self.votes += vote
        self.score = max(self.score, float(source.get("score") or _NO_SCORE))
        if source.get("text") and all(source["where"] != each["where"] for each in self.quoted):
            self.quoted.append(source)


def _names_to_look_up(question: str, words: SearchWords) -> list[str]:
    """All names if the question asks for uses; only clear names of code if it asks for all."""
    if asks_for_uses(question):
        return list(words.names[:_NAMES])
    if not asks_for_all(question):
        return []
    return [name for name in words.names if _CODE.search(name) or f"`{name}" in question][:_NAMES]


def _with_names(
    names: Collection[str], found: Sequence[Found], *, or_none: bool
) -> Sequence[Found]:
    """The sources that have one of the names. If none has, all sources, unless `or_none`."""
    if not names:
        return found
    bare = "|".join(re.escape(bare_name(name)) for name in names)
    pattern = re.compile(rf"(?<!\w)(?:{bare})(?!\w)")
    kept: list[Found] = [
        (role, [source for source in sources if pattern.search(str(source.get("text", "")))])
        for role, sources in found
    ]
    return kept if or_none or any(sources for _, sources in kept) else found


def _without_mere_imports(question: str, found: Sequence[Found]) -> list[Found]:
    """Without places that only import what is asked for. They are kept, at the end, if no search
    found another place in their file.
    """
    terms = [term for term in terms_for(search_words(question), ()) if not term.is_extra]
    kept = [(role, [s for s in sources if not _only_imports(s, terms)]) for role, sources in found]
    files = {_name_of(source) for _, sources in kept for source in sources}
    return [
        (role, [*first, *(source for source in sources if _name_of(source) not in files)])
        for (role, sources), (_, first) in zip(found, kept, strict=True)
    ]


def _only_imports(source: SourceData, terms: Sequence[Term]) -> bool:
    """Whether all lines with a word of the question are dull, and there is at least one."""
    lines = str(source.get("text", "")).split("\n")
    matching = [line for line in lines if any(term.is_in(line) for term in terms)]
    return bool(matching) and all(map(is_dull, matching))


def _vote(ranges: list[_Range], source: SourceData, vote: float) -> None:
    """For the range that has the place; otherwise for a new range of the same file."""
    line = _line_of(source)
    for known in ranges:
        if not line or known.start <= line <= known.end:
            known.take(source, vote)
            return
    if len(ranges) >= _RANGES_OF_A_FILE:
        ranges[0].votes += vote
        return
    start, end = _lines_around(line)
    # A new range ends where its neighbours begin: no line is read twice.
    start = max([start, *(known.end + 1 for known in ranges if known.end < line)])
    end = min([end, *(known.start - 1 for known in ranges if known.start > line)])
    new = _Range(name=_name_of(source), source=source, start=start, end=end)
    new.take(source, vote)
    ranges.append(new)


def _name_of(source: SourceData) -> str:
    """The file, or the thread that an entry belongs to."""
    kind = kind_named(source.get("kind"))
    if kind.citation == "entry":
        return f"{kind.prefix}:{source.get('title') or source['where']}"
    return str(source.get("path") or source["where"])


def _line_of(source: SourceData) -> int:
    """0 if the source has no lines."""
    if not kind_named(source.get("kind")).has_lines:
        return 0
    return int(source.get("start") or 1)


def _lines_around(line: int) -> tuple[int, int]:
    """From the top of the file if the place is near it, otherwise from a little above it."""
    start = 1 if line <= LINES_OF_A_PART // 2 else line - _LINES_BEFORE
    return start, start + LINES_OF_A_PART - 1


def _part(each: _Range, tools: Sequence[ToolSpec], *, is_one_of_many: bool) -> Part | None:
    """None if no tool on offer reads it, or if it is not in the project."""
    kind = kind_named(each.source.get("kind") or "code")
    name = each.name.removeprefix(f"{kind.prefix}:") if kind.prefix else each.name
    reader = reader_of(tools, kind.name) if kind.is_local else None
    call = read_call(tools, kind.name, name, (each.start, each.end))
    if reader is None or call is None:
        return None
    tool, arguments = call
    file = one_line(each.name)
    lines = [each.start, each.end] if is_one_of_many else None
    known = {"name": file if lines is None else f"{file}:{each.start}-{each.end}", "file": file}
    by = {"tool": tool, "arguments": arguments, "role": "read", "kind": reader.source}
    known |= {"lines": lines, "quoted": each.quoted}
    return {**known, **by, "state": "open", "text": "", "sources": [], "told": ""}

"""Which tools to call next: first searches, then other words and tools, then the best places."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.models.source_kind import kind_named
from oracle.models.tool_spec import Role, ToolSpec
from oracle.patterns import lazy_pattern
from oracle.services.attachments.references import without_mentions
from oracle.services.embedded.situation import Call, Exchange, Situation
from oracle.services.embedded.write_requests import asks_for_a_change
from oracle.services.questions.members import MembersAsked, members_asked
from oracle.services.questions.project_topics import ProjectQuestion, project_questions
from oracle.services.questions.search_words import (
    SearchWords,
    asks_for_all,
    asks_for_uses,
    goes_on,
    other_words,
    search_words,
    specific_words,
)
from oracle.services.quoting.kinds_of_lines import names_opened
from oracle.services.quoting.passages import LAST_RANK, Passage, every_line, passages
from oracle.services.quoting.quotation import Quotation
from oracle.services.quoting.terms import terms_for
from oracle.services.tools.offered import (
    ToCall,
    file_reader,
    read_call,
    search_call,
    uses_call,
    with_role,
)

_PLACES: Final = 12
_MANY_PLACES: Final = 20
_READ_CLOSER: Final = 6
_LOOKED_UP: Final = 3
_MOST_RELATED: Final = 5
_LINES_BEFORE: Final = 60
_LINES_AFTER: Final = 120
_LINES_OF_A_FILE: Final = 400
_CONSTANT: Final = lazy_pattern(r"[=:(,]\s*(?:\w+\.)*([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b")
_IN_ORDER: Final[Sequence[Role]] = ("uses", "read", "search", "facts")


@dataclass(frozen=True, kw_only=True, slots=True)
class Aim:
    """What is asked for. `own` are this question's words; `words` adds those of earlier ones.
    `question` and the words are without the names of attached files, which need no search. `about`
    is set if it is about the project as a whole, `members` if it asks for all things of a kind.
    """

    question: str
    words: SearchWords
    own: SearchWords
    wants_all: bool = False
    wants_uses: bool = False
    wants_a_change: bool = False
    about: Sequence[ProjectQuestion] = ()
    members: MembersAsked | None = None


def aim_of(situation: Situation) -> Aim:
    paths = [source["path"] for source in situation.attached if "path" in source]
    question = without_mentions(situation.question, lambda name: _is_one_of(name, paths))
    own = search_words(question)
    own = replace(own, paths=[path for path in own.paths if not _is_one_of(path, paths)])
    words = own
    asked = question
    for exchange in reversed(situation.history[-4:]):
        # A question with a file of its own does not refer to an earlier one.
        if paths or not goes_on(asked, words):
            break
        asked = exchange.question
        words = words.joined(_earlier_words(exchange))
    return Aim(
        question=question,
        words=words,
        own=own,
        wants_all=asks_for_all(question),
        wants_uses=asks_for_uses(question),
        wants_a_change=asks_for_a_change(question),
        about=() if paths else project_questions(question),
        members=None if paths else members_asked(question),
    )


def _earlier_words(exchange: Exchange) -> SearchWords:
    """After a question about an attached file, "it" is what the answer quoted from the file."""
    if exchange.had_attachment and (names := names_opened(exchange.answer)[:_LOOKED_UP]):
        return SearchWords(names=names)
    return search_words(exchange.question)


def _is_one_of(name: str, paths: Sequence[str]) -> bool:
    """Whether a user may mean one of the paths by this name: `./a.py`, or `a.py` for `src/a.py`."""
    named = posixpath.normpath(name)
    return any(
        named == path or path.endswith(f"/{named}") or named.endswith(f"/{path}") for path in paths
    )


def first_calls(
    situation: Situation, aim: Aim, searching: Sequence[ToolSpec] | None = None
) -> list[ToCall]:
    """A search in each source on offer, and look-ups of the names and files in the question."""
    words = aim.words
    tools = with_role(situation.tools, "search") if searching is None else searching
    calls: list[ToCall] = []
    limit = _MANY_PLACES if aim.wants_all or aim.wants_uses else _PLACES
    if with_role(tools, "search", "code"):
        calls += _definitions(situation, [*words.names, *words.guesses])
    if words.query:
        calls += [search_call(tool, _query_for(tool, aim), limit) for tool in tools]
    if (facts := situation.tool("facts")) and not words.names:
        # What a project says about itself first is often the answer, in words of its own.
        calls.append((facts.name, {"topic": "about"}))
    files = [path for path in words.paths if "." in path.rpartition("/")[2]]
    calls += [call for path in files[:2] for call in _whole(situation, path)]
    return _not_made(situation, calls)


def _not_made(situation: Situation, calls: Sequence[ToCall]) -> list[ToCall]:
    """Without calls that were made before: they would return the same result."""
    made = [(call.name, dict(call.arguments)) for call in situation.calls]
    return [call for call in calls if call not in made]


def _whole(situation: Situation, path: str) -> list[ToCall]:
    return _lines_of(situation, path, (1, _LINES_OF_A_FILE))


def _lines_of(situation: Situation, path: str, lines: tuple[int, int]) -> list[ToCall]:
    """A call of the tool on offer that reads files, if there is one."""
    kind = file_reader(situation.tools)
    call = read_call(situation.tools, kind.name, path, lines) if kind else None
    return [call] if call else []


def _definitions(situation: Situation, names: Sequence[str]) -> list[ToCall]:
    tool = situation.tool("uses")
    return [uses_call(tool, name) for name in names[:_LOOKED_UP]] if tool else []


def _query_for(tool: ToolSpec, aim: Aim) -> str:
    """The question as it was asked; only the words if it needs those of an earlier question, or
    if its words were put into English.
    """
    # A search engine works best with a whole question, so the web always gets the question.
    is_for_the_web = not kind_named(tool.source).is_local
    is_whole = aim.words is aim.own and aim.words.language == "en"
    return aim.question if is_for_the_web or is_whole else aim.words.query


def closer_calls(situation: Situation, found: Sequence[Passage]) -> list[ToCall]:
    """Calls that read the best places with the lines around them, one call a file."""
    calls: list[ToCall] = []
    seen: set[str] = set()
    for passage in found:
        if passage.source.path not in seen and len(seen) < _READ_CLOSER:
            seen.add(passage.source.path)
            calls += _closer(situation, passage)
    return _not_made(situation, calls)


def _closer(situation: Situation, passage: Passage) -> list[ToCall]:
    """A search returns whole entries of threads, so there is nothing more to read around them."""
    source = passage.source
    if source.kind.citation == "page":
        call = read_call(situation.tools, source.kind.name, source.where)
        return [call] if call else []
    if not source.first or not source.kind.has_lines:
        return []
    line = source.first + passage.best
    start = 1 if line <= _LINES_AFTER else line - _LINES_BEFORE
    end = line + _LINES_AFTER
    return (
        []
        if _was_read(situation, source.path, (start, end))
        else _lines_of(situation, source.path, (start, end))
    )


def _was_read(situation: Situation, path: str, lines: tuple[int, int]) -> bool:
    """Whether an earlier call has asked for all these lines."""
    calls = [call.arguments for call in situation.calls_of("read") if call.success]
    ranges = [(each.get("start"), each.get("end")) for each in calls if path in each.values()]
    return any(
        isinstance(start, int) and isinstance(end, int) and start <= lines[0] and end >= lines[1]
        for start, end in ranges
    )


def found_in(situation: Situation) -> list[Quotation]:
    """All quotations, no place twice: what the user attached, what was looked up or read, then
    search results.
    """
    calls = (call for role in _IN_ORDER for call in situation.calls_of(role) if call.success)
    found = {file.where: file for file in situation.attached_files}
    for call in calls:
        for quotation in call.quotations:
            found.setdefault(quotation.where, quotation)
    return list(found.values())


def best_of(situation: Situation, aim: Aim) -> list[Passage]:
    words = replace(aim.words, names=[*aim.words.names, *_constants(situation, aim)])
    return passages(
        found_in(situation),
        terms_for(words, ()),
        ranks=_ranks(situation),
        prefers_prose=aim.words.asks_what,
        question=aim.question,
    )


def _constants(situation: Situation, aim: Aim) -> list[str]:
    """Names that were looked up because a place with a value names them, and that were found."""
    found = (call for call in situation.calls_of("uses") if call.success and call.sources)
    names = [str(next(iter(call.arguments.values()), "")) for call in found]
    return [name for name in names if name.isupper() and name not in aim.words.all]


def _ranks(situation: Situation) -> dict[str, int]:
    """By file: its best rank in a search, from 0. What was looked up by name has rank 0."""
    ranks: dict[str, int] = {}
    for call in situation.calls_of("search", "uses"):
        for rank, quotation in enumerate(call.quotations if call.success else ()):
            best = ranks.get(quotation.path, LAST_RANK)
            ranks[quotation.path] = min(best, rank if call.role == "search" else 0)
    return _ranks_of_parts(situation) | ranks


def _ranks_of_parts(situation: Situation) -> dict[str, int]:
    """The parts of a broad question were found by a search of the tree, which scored them."""
    worth = {
        source["path"]: source["score"]
        for call in situation.calls_of("read")
        for source in call.sources
        if "path" in source and "score" in source
    }
    ordered = sorted(worth, key=lambda path: -worth[path])
    return {path: rank for rank, path in enumerate(ordered)}


def all_of(situation: Situation, aim: Aim) -> list[Passage]:
    sources = found_in(situation)
    return every_line(sources, terms_for(aim.words, sources), uses=aim.wants_uses)


def nearest_of(situation: Situation, aim: Aim) -> list[Passage]:
    """What was found only by other words."""
    sources = found_in(situation)
    words = SearchWords(plain=other_words(aim.words))
    return passages(sources, terms_for(words, sources), ranks=_ranks(situation))


def mapped_calls(situation: Situation, aim: Aim) -> list[ToCall]:
    """Calls that read files of a map or a list of notes, if their paths fit the question."""
    terms = terms_for(aim.words, ())
    listed = [call for call in situation.calls_of("map", "list") if call.success]
    paths = [path for call in listed for path in _paths_in(call)]
    named = [path for path in paths if any(term.is_in(path) for term in terms)]
    calls = [call for path in named for call in _whole(situation, path)]
    return _not_made(situation, calls)[:_READ_CLOSER]


def _paths_in(call: Call) -> list[str]:
    """The files of each row; a row may be a folder with the names of its files."""
    rows = [row for source in call.sources for row in source.get("listed", ())]
    return [
        path
        for row in rows
        for path in ([_inside(row["path"], name) for name in row.get("names", ())] or [row["path"]])
    ]


def _inside(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"


def other_calls(situation: Situation, aim: Aim) -> list[ToCall]:
    """Another way: search the same sources by other words, and call tools not called so far."""
    words = other_words(aim.words)
    failed = {call.name for call in situation.calls if call.success is False}
    searching = [tool for tool in situation.local_tools("search") if tool.name not in failed]
    query = " ".join(words)
    calls = [search_call(tool, query, _PLACES) for tool in searching] if words else []
    if not situation.calls_of("uses"):
        calls += _definitions(situation, [*aim.words.names, *aim.words.plain])
    if not calls or any(c.role == "search" and c.kind.name == "code" for c in situation.failed):
        calls += [(tool.name, {}) for tool in situation.local_tools("map", "list")]
    return _not_made(situation, calls)


def related_calls(situation: Situation, aim: Aim, found: Sequence[Passage]) -> list[ToCall]:
    """A search by words that may mean the same as those that the best place lacks."""
    if len(situation.calls_of("search")) > len(situation.local_tools("search")):
        return []
    there = found[0].words
    related = dict(aim.words.kin)
    lacking = [word for word in specific_words(aim.words) if word not in there]
    kin = [other for word in lacking for other in related.get(word, ())[:_MOST_RELATED]]
    # Idioms are two words, which the list of words does not have.
    kin += [other for said, meant in aim.words.kin if " " in said for other in meant]
    if not kin:
        return []
    kept = [word for word in specific_words(aim.words) if word in there]
    query = " ".join(dict.fromkeys([*kept, *kin]))
    return _not_made(
        situation,
        [search_call(tool, query, _PLACES) for tool in situation.local_tools("search")],
    )


def constant_calls(situation: Situation, aim: Aim, found: Sequence[Passage]) -> list[ToCall]:
    """Look-ups of the constants that the best places name where a value is asked for."""
    if not aim.words.asks_for_a_value:
        return []
    terms = [term for term in terms_for(aim.words, ()) if not term.is_extra]
    lines = (line for passage in found[:_LOOKED_UP] for line in passage.lines)
    named = (
        constant[1]
        for line in lines
        if (constant := _CONSTANT.search(line)) and any(term.is_in(line) for term in terms)
    )
    return _not_made(situation, _definitions(situation, [*dict.fromkeys(named)]))


def new_searches(situation: Situation) -> list[ToolSpec]:
    """Search tools that are on offer and have not been called."""
    made = {call.name for call in situation.calls}
    return [tool for tool in with_role(situation.tools, "search") if tool.name not in made]

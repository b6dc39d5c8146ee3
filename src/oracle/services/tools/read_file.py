"""read_file: a file of the project, some of its lines, or one symbol."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from oracle.errors import ToolProblem, named
from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import QueryType
from oracle.services.background import in_thread
from oracle.services.search.records import Definition
from oracle.services.search.roles import kind_of
from oracle.services.signals.said import is_visible
from oracle.services.tools.answer import Answer, one_line
from oracle.services.tools.definitions import symbols_in, where_now
from oracle.services.tools.files import FileText
from oracle.services.tools.lookup import best_named, name_parts
from oracle.services.tools.plain_arguments import PlainArguments, argument
from oracle.services.tools.registry import Tool
from oracle.services.tools.workspace import Workspace, lines_of

_MOST: Final = 12
_MOST_NEAR: Final = 12


@dataclass(frozen=True, kw_only=True)
class ReadFile(PlainArguments):
    path: str = argument(
        min_length=1, max_length=1000, description="The file, relative to the project's root."
    )
    start: int = argument(default=1, ge=1, description="The first line, from 1.")
    end: int | None = argument(
        default=None, ge=1, description="The last line; to the end without it."
    )
    symbol: str | None = argument(
        default=None,
        min_length=1,
        max_length=300,
        description="Instead of lines: a function, class or Class.method that the file defines.",
    )


def read_file(work: Workspace) -> Tool[ReadFile]:
    async def run(given: ReadFile) -> Answer:
        if given.symbol is None:
            return await in_thread(lambda: _read(work, given))
        return await _read_symbol(work, given, given.symbol)

    return Tool(
        name="read_file",
        description=(
            "Read a file of the project, or the lines from start to end of it, or just the symbol "
            "that it defines, with line numbers."
        ),
        arguments=ReadFile,
        run=run,
        query_types=frozenset({QueryType.CODE, QueryType.ACTION}),
        source="code",
        role="read",
    )


def _read(work: Workspace, given: ReadFile) -> Answer:
    text = work.files.read(given.path)
    return lines_answer(text, given.start, given.end, kind=_kind(text), tool="read_file")


def _kind(text: FileText) -> str:
    return "code" if kind_of(text.path) == "code" else "vault"


async def _read_symbol(work: Workspace, given: ReadFile, symbol: str) -> Answer:
    if given.start != 1 or given.end is not None:
        raise ToolProblem("give a symbol, or start and end, but not both")
    text = await in_thread(work.files.read, given.path)
    catalogued = await work.lookup.symbols(text.path)
    return await in_thread(lambda: _symbol_answer(text, symbol, catalogued, _kind(text)))


def _symbol_answer(
    text: FileText, symbol: str, catalogued: Sequence[Definition], kind: str
) -> Answer:
    # First the index, whose lines are checked against the file; then the file as it is now.
    found = _named_in(catalogued, symbol)
    now = [place for each in found for place in where_now(each, text)]
    now = now or _named_in(symbols_in(text), symbol)
    if not now:
        known = [*catalogued, *symbols_in(text)]
        raise ToolProblem(_nothing_named(text, symbol, [each.full_name for each in known]))
    sources = [lines_of(text, each.start, each.end, kind) for each in now[:_MOST]]
    lines = ", ".join(f"{each.start} to {each.end}" for each in now[:_MOST])
    return Answer(
        summary=f"{one_line(text.path)} defines {named(symbol)} in lines {lines}.",
        findings=sources,
        rest=lambda shown, lines: "For the rest call read_file with start and end.",
    )


def _named_in(symbols: Sequence[Definition], wanted: str) -> list[Definition]:
    """The case of letters is ignored only if nothing fits exactly. An owner must fit."""
    *owners, name = name_parts(wanted)
    whole = [each for each in symbols if each.name == wanted]
    same = [each for each in symbols if each.name.casefold() == name.casefold()]
    fitting = [each for each in same if not owners or each.parent == owners[-1]]
    return whole or best_named(fitting, name, owners)


def _nothing_named(text: FileText, symbol: str, names: Sequence[str]) -> str:
    known = list(dict.fromkeys(names))
    near = get_close_matches(symbol[:200], known, n=_MOST_NEAR, cutoff=0.4)
    bare = name_parts(symbol)[-1].casefold()
    near += [name for name in known if bare in name.casefold() and name not in near]
    listed = ", ".join(one_line(name, 100) for name in (near or known)[:_MOST_NEAR])
    wrong = f"{named(text.path)} defines no {named(symbol)}"
    if not listed:
        return f"{wrong}, and no other symbol was recognised; read it with start and end"
    return f"{wrong}; {'the nearest names are' if near else 'it defines'} {listed}"


def lines_answer(text: FileText, start: int, end: int | None, *, kind: str, tool: str) -> Answer:
    """The requested lines, or a problem that says how many lines there are."""
    total = len(text.lines)
    last = total if end is None else min(end, total)
    if total == 0:
        return Answer(summary=f"{one_line(text.path)} is empty.", empty=True)
    if start > total:
        raise ToolProblem(f"{named(text.path)} has {total} lines; give a start from 1 to {total}")
    if last < start:
        raise ToolProblem(f"end {end} is before start {start}; give an end of {start} or more")
    summary = f"{one_line(text.path)}: lines {start} to {last} of {total}."
    if text.is_partial:
        summary += " The file is very large: only its beginning can be read and is counted here."
    source = lines_of(text, start, last, kind)
    if not is_visible(source["text"]):
        return Answer(summary=f"{summary} They are blank.", findings=[source], empty=True)
    return Answer(
        summary=summary,
        findings=[source],
        rest=lambda _, lines: f"For the rest call {tool} with start {start + lines}.",
    )

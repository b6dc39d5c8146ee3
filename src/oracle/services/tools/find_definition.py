"""find_definition: where a name is defined, and where it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Final

from oracle.errors import ToolProblem
from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import QueryType
from oracle.services.background import in_thread
from oracle.services.search.records import Definition, Reference
from oracle.services.search.roles import kind_of
from oracle.services.tools.answer import Answer, quotation
from oracle.services.tools.definitions import where_now
from oracle.services.tools.files import FileText
from oracle.services.tools.lookup import best_named, name_parts, with_left_out
from oracle.services.tools.plain_arguments import PlainArguments, argument
from oracle.services.tools.protocol import Source
from oracle.services.tools.registry import Tool
from oracle.services.tools.used_lines import more_uses, spread, summary_of_uses
from oracle.services.tools.workspace import Workspace, found_places, lines_of, place_to_look

_MOST: Final = 12
_LONGEST: Final = 60
_LONGEST_BESIDE_USAGES: Final = 12
_MOST_FILES_WITH_OWNERS: Final = 60
"""Files of which the function around each use is looked up."""


@dataclass(frozen=True, kw_only=True)
class FindDefinition(PlainArguments):
    name: str = argument(
        min_length=1,
        max_length=300,
        description="The name of a class, function, type or constant; Class.method too.",
    )
    path: str | None = argument(
        default=None, max_length=500, description="Only in this folder or file."
    )
    references: bool = argument(
        default=False, description="Also list the lines that use the name, after its definitions."
    )


def find_definition(work: Workspace) -> Tool[FindDefinition]:
    async def run(given: FindDefinition) -> Answer:
        return with_left_out(await _find(work, given), work.lookup)

    return Tool(
        name="find_definition",
        description=(
            "Find where a class, function, type or constant is defined, with its lines; with "
            "references also the lines that use it."
        ),
        arguments=FindDefinition,
        run=run,
        query_types=frozenset({QueryType.CODE}),
        source="code",
        role="uses",
    )


async def _find(work: Workspace, given: FindDefinition) -> Answer:
    *owners, name = name_parts(given.name)
    place = _CodeBelow(work, place_to_look(work, given.path))
    defined = [each for each in await work.lookup.definitions(name) if each.path in place]
    chosen = best_named(defined, name, owners)
    if not given.references:
        return await in_thread(
            lambda: _answer(given, list(islice(_quoted(place, chosen, _LONGEST), _MOST)))
        )
    used = [each for each in await work.lookup.usages(name) if each.path in place]
    files = list(dict.fromkeys(each.path for each in used))[:_MOST_FILES_WITH_OWNERS]
    around = {path: await work.lookup.symbols(path) for path in files}
    return await in_thread(lambda: _answer_with_usages(place, given, name, chosen, used, around))


class _CodeBelow:
    """The code in one folder. Each file is read once."""

    def __init__(self, work: Workspace, under: str) -> None:
        self._work = work
        self._under = under
        self._texts: dict[str, FileText | None] = {}

    def __contains__(self, path: str) -> bool:
        is_inside = not self._under or f"{path}/".startswith(f"{self._under}/")
        return is_inside and kind_of(path) == "code"

    def text(self, path: str) -> FileText | None:
        if path not in self._texts:
            try:
                self._texts[path] = self._work.files.read(path)
            except ToolProblem:
                self._texts[path] = None
        return self._texts[path]


def _quoted(place: _CodeBelow, symbols: Sequence[Definition], longest: int) -> Iterator[Source]:
    """Each definition once, with its lines as they are now."""
    seen: set[tuple[str, int]] = set()
    for symbol in symbols:
        text = place.text(symbol.path)
        for now in where_now(symbol, text) if text else ():
            if text is not None and (now.path, now.start) not in seen:
                seen.add((now.path, now.start))
                end = min(now.end, now.start + longest - 1)
                source = lines_of(text, now.start, end, "code")
                source["score"] = 1.0
                yield source


def _answer(given: FindDefinition, sources: Sequence[Source]) -> Answer:
    return found_places(
        given.name,
        sources,
        of="definitions",
        otherwise="Try the bare name in its exact spelling, or a search.",
    )


def _answer_with_usages(
    place: _CodeBelow,
    given: FindDefinition,
    name: str,
    symbols: Sequence[Definition],
    used: Sequence[Reference],
    around: Mapping[str, Sequence[Definition]],
) -> Answer:
    """Definitions are shown shorter, so that there is room for the lines that use the name."""
    definitions = list(islice(_quoted(place, symbols, _LONGEST_BESIDE_USAGES), _MOST))
    found = list(_used_lines(place, name, used, around))
    usages = spread(found, sum(len(quotation(source)) + 2 for source in definitions))
    left = more_uses(name, found, usages)
    return Answer(
        summary=f"{_answer(given, definitions).summary} {summary_of_uses(name, found, left)}",
        findings=[*definitions, *usages],
        more_uses=left,
        rest=lambda shown, lines: "Give a path to see the uses in one folder.",
        empty=not definitions and not usages,
    )


def _used_lines(
    place: _CodeBelow,
    name: str,
    used: Sequence[Reference],
    around: Mapping[str, Sequence[Definition]],
) -> Iterator[Source]:
    """Lines that still have the name: a file may have changed since it was indexed."""
    for path, usages in groupby(used, key=lambda usage: usage.path):
        text = place.text(path)
        if text is not None:
            for line in (usage.line for usage in usages):
                if any(name in held for held in text.lines[line - 1 : line]):
                    source = lines_of(text, line, line, "code")
                    if owner := _owner_of(line, around.get(path, ())):
                        source["symbol"] = owner
                    yield source


def _owner_of(line: int, symbols: Sequence[Definition]) -> str:
    """The innermost function or class around a line; empty at the top level of a file."""
    inside = [
        each
        for each in symbols
        if each.kind != "constant" and each.start <= line <= each.end and each.start < each.end
    ]
    return max(inside, key=lambda each: each.start).full_name if inside else ""

"""find_definition: where a name is defined."""

from __future__ import annotations

import re

from pydantic import Field

from oracle.models.query_classification import QueryType
from oracle.services.tools.answer import Answer
from oracle.services.tools.definitions import definitions_in, end_of
from oracle.services.tools.files import FileText
from oracle.services.tools.protocol import Source
from oracle.services.tools.registry import Arguments, Tool, in_thread
from oracle.services.tools.vault import kind_of
from oracle.services.tools.workspace import Workspace, found_places, lines_of, place_to_look

_MOST = 12


class FindDefinition(Arguments):
    name: str = Field(
        min_length=1,
        max_length=300,
        description="The name of a class, function, type or constant; Class.method too.",
    )
    path: str | None = Field(
        default=None, max_length=500, description="Only in this folder or file."
    )


def find_definition(work: Workspace) -> Tool[FindDefinition]:
    async def run(given: FindDefinition) -> Answer:
        return await in_thread(lambda: _find(work, given))

    return Tool(
        name="find_definition",
        description="Find where a class, function, type or constant is defined, with its lines.",
        arguments=FindDefinition,
        run=run,
        query_types=frozenset({QueryType.CODE}),
        source="code",
    )


def _find(work: Workspace, given: FindDefinition) -> Answer:
    *owners, name = [part for part in re.split(r"[.#]|::|->", given.name.strip("() ")) if part] or [
        given.name
    ]
    found = _in_files(work, name, place_to_look(work, given.path))
    if owners:
        found.sort(key=lambda pair: -_belongs(pair[1], pair[0], owners[-1]))
        if found and _belongs(found[0][1], found[0][0], owners[-1]):
            found = [pair for pair in found if _belongs(pair[1], pair[0], owners[-1])]
    return found_places(
        given.name,
        [source for source, _ in found[:_MOST]],
        of="definitions",
        otherwise="Try the bare name in its exact spelling, or search_code.",
    )


def _in_files(work: Workspace, name: str, under: str) -> list[tuple[Source, FileText]]:
    found: list[tuple[Source, FileText]] = []
    for entry in work.files.entries():
        if under and entry.path != under and not entry.path.startswith(f"{under}/"):
            continue
        if kind_of(entry.path, work.notes_folder) != "code":
            continue
        text = work.files.text_of(entry)
        if text is None or name not in text.raw:
            continue
        for definition in definitions_in(text.raw, entry.path):
            if definition.name == name:
                end = end_of(definition, text.lines, entry.path)
                source = lines_of(text, definition.line, end, "code")
                source["score"] = 1.0
                found.append((source, text))
    return found


def _belongs(text: FileText, source: Source, owner: str) -> bool:
    """The owner is the file itself, or the nearest definition above that is indented less."""
    stem = text.path.rpartition("/")[2].partition(".")[0]
    if stem == owner:
        return True
    start = source.get("start", 1)
    line = text.lines[start - 1]
    depth = len(line) - len(line.lstrip())
    above = [
        definition
        for definition in definitions_in(text.raw, text.path)
        if definition.line < start and definition.depth < depth
    ]
    return bool(above) and max(above, key=lambda definition: definition.line).name == owner

"""get_repo_map: what there is, as much of it as fits."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence

from pydantic import Field

from oracle.errors import ToolProblem, named
from oracle.models.query_classification import QueryType
from oracle.models.source import Listed, Source
from oracle.services.project.safe_open import inner_path
from oracle.services.tools.answer import Answer, one_line
from oracle.services.tools.catalogue import MappedFile
from oracle.services.tools.definitions import definitions_in
from oracle.services.tools.files import FileEntry, ProjectFiles
from oracle.services.tools.registry import Arguments, Tool, in_thread
from oracle.services.tools.workspace import Workspace

Row = tuple[str, Listed | None]
"""How a row of the map is drawn, and the files that it names; None where it only counts them."""

_FITS = 16_000
_MOST_TOKENS = 4_000
_MOST_NAMES = 12


class GetRepoMap(Arguments):
    path: str | None = Field(
        default=None, max_length=500, description="Only this folder, in more detail."
    )
    question: str | None = Field(
        default=None,
        max_length=2_000,
        description="What you want to know: the files that matter to it come first.",
    )


def get_repo_map(work: Workspace) -> Tool[GetRepoMap]:
    async def run(given: GetRepoMap) -> Answer:
        folder = inner_path(given.path or "")
        if given.question and given.question.strip():
            drawn = await work.catalogue.map_for(given.question, _MOST_TOKENS, under=folder)
            if drawn:
                return _ranked(drawn, folder)
        return await in_thread(lambda: _map(work.files, given))

    return Tool(
        name="get_repo_map",
        description=(
            "Show the project's folders and files, and what the files define, as far as it fits. "
            "Give a path to see one folder closer, or a question to see what matters to it first."
        ),
        arguments=GetRepoMap,
        run=run,
        query_types=frozenset({QueryType.CODE}),
        source="code",
        role="map",
    )


def _map(files: ProjectFiles, given: GetRepoMap) -> Answer:
    folder = inner_path(given.path or "")
    entries = files.entries(folder)
    if not entries:
        raise ToolProblem(
            f"{named(given.path or '.')} is no folder with files to read; leave path out to see all"
        )
    rows, detail = _most_detailed(files, entries, folder)
    summary = f"{len(entries)} files below {one_line(folder or '.')}, shown with {detail}."
    return _drawn(summary, rows, folder)


def _ranked(files: Sequence[MappedFile], folder: str) -> Answer:
    summary = (
        f"Files below {one_line(folder or '.')} that matter most to the question, best first, with "
        "the lines where they define what others use."
    )
    rows = [(file.text, Listed(path=file.path, lines=[*file.lines])) for file in files]
    return _drawn(summary, rows, folder)


def _drawn(summary: str, rows: Sequence[Row], folder: str) -> Answer:
    text = _text_of(rows)
    source = Source(
        kind="code",
        where=folder or ".",
        text=text,
        path=folder or ".",
        digest=hashlib.sha256(text.encode()).hexdigest(),
        listed=[listed for _, listed in rows if listed is not None],
    )
    return Answer(
        summary=summary,
        findings=[source],
        rest=lambda shown, lines: "Give a path to see one folder closer.",
    )


def _text_of(rows: Sequence[Row]) -> str:
    return "\n".join(text for text, _ in rows)


def _most_detailed(
    files: ProjectFiles, entries: list[FileEntry], folder: str
) -> tuple[list[Row], str]:
    """What fits; where nothing does, the folders, which are cut like any long result."""
    steps: tuple[tuple[str, Callable[[], list[Row]]], ...] = (
        ("what they define", lambda: _files_with_names(files, entries)),
        ("their names", lambda: _grouped(entries)),
    )
    for detail, draw in steps:
        if len(entries) <= 2000 and len(_text_of(rows := draw())) <= _FITS:
            return rows, detail
    for depth in (4, 3, 2):
        if len(_text_of(rows := _folders(entries, folder, depth))) <= _FITS:
            break
    else:
        rows = _folders(entries, folder, 1)
    return rows, "their number a folder; give a path to see one closer"


def _files_with_names(files: ProjectFiles, entries: list[FileEntry]) -> list[Row]:
    rows: list[Row] = []
    for entry in entries:
        text = files.text_of(entry)
        found = sorted(definitions_in(text.raw, entry.path), key=lambda d: d.line) if text else []
        names = [definition.name for definition in found if definition.depth == 0]
        names = list(dict.fromkeys(names))
        shown = ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
        drawn = f"{one_line(entry.path)}: {shown}" if shown else one_line(entry.path)
        rows.append((drawn, Listed(path=entry.path)))
        if len(rows) * 8 > _FITS:
            break
    return rows


def _grouped(entries: list[FileEntry]) -> list[Row]:
    """A line for each folder, with the names of its files."""
    folders: dict[str, list[str]] = {}
    for entry in entries:
        folder, _, name = entry.path.rpartition("/")
        folders.setdefault(folder or ".", []).append(name)
    return [
        (
            f"{one_line(folder)}/: {', '.join(map(one_line, names))}",
            Listed(path=folder, names=names),
        )
        for folder, names in folders.items()
    ]


def _folders(entries: list[FileEntry], folder: str, depth: int) -> list[Row]:
    base = len(folder.split("/")) if folder else 0
    counts: Counter[str] = Counter()
    for entry in entries:
        parts = entry.path.split("/")[:-1]
        counts["/".join(parts[: base + depth]) or "."] += 1
    return [(f"{one_line(name)}/ ({count} files)", None) for name, count in sorted(counts.items())]

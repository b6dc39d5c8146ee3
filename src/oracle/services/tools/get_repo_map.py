"""get_repo_map: the folders and files of the project, with as much detail as fits."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from oracle.errors import ToolProblem, named
from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import QueryType
from oracle.models.source import Listed, Source
from oracle.services.background import in_thread
from oracle.services.project.safe_open import inner_path
from oracle.services.project.walk import FoundFile
from oracle.services.search.records import FileOnMap
from oracle.services.tools.answer import Answer, one_line
from oracle.services.tools.lookup import with_left_out
from oracle.services.tools.plain_arguments import PlainArguments, argument
from oracle.services.tools.registry import Tool
from oracle.services.tools.workspace import Workspace

Row = tuple[str, Listed | None]
"""The text of a row of the map, and the files that it names; None if it only counts them."""

_FITS = 16_000
_MOST_TOKENS = 4_000
_MOST_NAMES = 12
_MOST_LISTED = 2_000


@dataclass(frozen=True, kw_only=True)
class GetRepoMap(PlainArguments):
    path: str | None = argument(
        default=None, max_length=500, description="Only this folder, in more detail."
    )
    question: str | None = argument(
        default=None,
        max_length=2_000,
        description="What you want to know: the files that matter to it come first.",
    )


def get_repo_map(work: Workspace) -> Tool[GetRepoMap]:
    async def run(given: GetRepoMap) -> Answer:
        folder = inner_path(given.path or "")
        if given.question and given.question.strip():
            drawn = await work.lookup.map_for(given.question, _MOST_TOKENS, under=folder)
            if drawn:
                return with_left_out(_ranked(drawn, folder), work.lookup)
        return await _map(work, given)

    return Tool(
        name="get_repo_map",
        description=(
            "Show the project's folders and files, and what the files define, as much as fits. "
            "Give a path to see one folder closer, or a question to see what matters to it first."
        ),
        arguments=GetRepoMap,
        run=run,
        query_types=frozenset({QueryType.CODE}),
        source="code",
        role="map",
    )


async def _map(work: Workspace, given: GetRepoMap) -> Answer:
    folder = inner_path(given.path or "")
    entries = await in_thread(work.files.entries, folder)
    if not entries:
        raise ToolProblem(
            f"{named(given.path or '.')} is not a folder with files to read; leave path out to see "
            "all"
        )
    names: Mapping[str, Sequence[str]] = {}
    if len(entries) <= _MOST_LISTED:
        names = await work.lookup.top_names()
    rows, detail = await in_thread(_most_detailed, entries, folder, names)
    summary = f"{len(entries)} files below {one_line(folder or '.')}, shown with {detail}."
    return _drawn(summary, rows, folder)


def _ranked(files: Sequence[FileOnMap], folder: str) -> Answer:
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
    entries: list[FoundFile], folder: str, names: Mapping[str, Sequence[str]]
) -> tuple[list[Row], str]:
    """The most detailed form that fits. If none fits, the top folders, cut like any long result."""
    steps: tuple[tuple[str, Callable[[], list[Row]]], ...] = (
        ("what they define", lambda: _files_with_names(entries, names)),
        ("their names", lambda: _grouped(entries)),
    )
    for detail, draw in steps:
        if len(entries) <= _MOST_LISTED and len(_text_of(rows := draw())) <= _FITS:
            return rows, detail
    for depth in (4, 3, 2):
        if len(_text_of(rows := _folders(entries, folder, depth))) <= _FITS:
            break
    else:
        rows = _folders(entries, folder, 1)
    return rows, "their number a folder; give a path to see one closer"


def _files_with_names(entries: list[FoundFile], names: Mapping[str, Sequence[str]]) -> list[Row]:
    rows: list[Row] = []
    for entry in entries:
        own = list(dict.fromkeys(names.get(entry.path, ())))
        shown = ", ".join(own[:_MOST_NAMES]) + (", …" if len(own) > _MOST_NAMES else "")
        drawn = f"{one_line(entry.path)}: {shown}" if shown else one_line(entry.path)
        rows.append((drawn, Listed(path=entry.path)))
        # A row has about eight characters or more: the form cannot fit any more.
        if len(rows) * 8 > _FITS:
            break
    return rows


def _grouped(entries: list[FoundFile]) -> list[Row]:
    """One row for each folder, with the names of its files."""
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


def _folders(entries: list[FoundFile], folder: str, depth: int) -> list[Row]:
    base = len(folder.split("/")) if folder else 0
    counts: Counter[str] = Counter()
    for entry in entries:
        parts = entry.path.split("/")[:-1]
        counts["/".join(parts[: base + depth]) or "."] += 1
    return [(f"{one_line(name)}/ ({count} files)", None) for name, count in sorted(counts.items())]

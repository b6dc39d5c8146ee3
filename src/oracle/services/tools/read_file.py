"""read_file: lines of one file of the project."""

from __future__ import annotations

from pydantic import Field

from oracle.errors import ToolProblem
from oracle.models.query_classification import QueryType
from oracle.services.tools.answer import Answer, one_line
from oracle.services.tools.files import FileText
from oracle.services.tools.messages import named
from oracle.services.tools.protocol import SourceKind
from oracle.services.tools.registry import Arguments, Tool, in_thread
from oracle.services.tools.vault import kind_of
from oracle.services.tools.workspace import Workspace, lines_of


class ReadFile(Arguments):
    path: str = Field(
        min_length=1, max_length=1000, description="The file, relative to the project's root."
    )
    start: int = Field(default=1, ge=1, description="The first line, from 1.")
    end: int | None = Field(default=None, ge=1, description="The last line; to the end without it.")


def read_file(work: Workspace) -> Tool[ReadFile]:
    async def run(given: ReadFile) -> Answer:
        return await in_thread(lambda: _read(work, given))

    return Tool(
        name="read_file",
        description=(
            "Read a file of the project, or the lines from start to end of it, with line numbers."
        ),
        arguments=ReadFile,
        run=run,
        query_types=frozenset({QueryType.CODE}),
        source="code",
    )


def _read(work: Workspace, given: ReadFile) -> Answer:
    text = work.files.read(given.path)
    kind = "code" if kind_of(text.path, work.notes_folder) == "code" else "vault"
    return lines_answer(text, given.start, given.end, kind=kind, tool="read_file")


def lines_answer(
    text: FileText, start: int, end: int | None, *, kind: SourceKind, tool: str
) -> Answer:
    """The lines asked for, or a problem that says how many there are."""
    total = len(text.lines)
    last = total if end is None else min(end, total)
    if total == 0:
        return Answer(summary=f"{one_line(text.path)} is empty.", empty=True)
    if start > total:
        raise ToolProblem(f"{named(text.path)} has {total} lines; give a start from 1 to {total}")
    if last < start:
        raise ToolProblem(f"end {end} lies before start {start}; give an end from {start} on")
    summary = f"{one_line(text.path)}: lines {start} to {last} of {total}."
    if text.is_partial:
        summary += " The file is huge: only its beginning can be read, and is counted here."
    return Answer(
        summary=summary,
        findings=[lines_of(text, start, last, kind)],
        rest=lambda _, lines: f"For the rest call {tool} with start {start + lines}.",
    )

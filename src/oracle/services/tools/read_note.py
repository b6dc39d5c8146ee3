"""read_note: a note or document, by its path or title."""

from __future__ import annotations

from oracle.lazy_dataclass import dataclass
from oracle.services.background import in_thread
from oracle.services.tools.answer import Answer
from oracle.services.tools.plain_arguments import PlainArguments, argument
from oracle.services.tools.read_file import lines_answer
from oracle.services.tools.registry import Tool
from oracle.services.tools.workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class ReadNote(PlainArguments):
    note: str = argument(
        min_length=1, max_length=1000, description="The note's path, or its title."
    )
    start: int = argument(default=1, ge=1, description="The first line, from 1.")
    end: int | None = argument(
        default=None, ge=1, description="The last line; to the end without it."
    )


def read_note(work: Workspace) -> Tool[ReadNote]:
    async def run(given: ReadNote) -> Answer:
        return await in_thread(lambda: _read(work, given))

    return Tool(
        name="read_note",
        description=(
            "Read a note or document of the project by its path or title, or lines start to end."
        ),
        arguments=ReadNote,
        run=run,
        source="vault",
        role="read",
    )


def _read(work: Workspace, given: ReadNote) -> Answer:
    text = work.files.read(work.vault.path_of(given.note))
    return lines_answer(text, given.start, given.end, kind="vault", tool="read_note")

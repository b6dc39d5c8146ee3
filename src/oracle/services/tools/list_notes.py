"""list_notes: the notes and documents of the project."""

from __future__ import annotations

from oracle.lazy_dataclass import dataclass
from oracle.models.source import Listed, Source
from oracle.services.background import in_thread
from oracle.services.project.safe_open import inner_path
from oracle.services.tools.answer import Answer, one_line
from oracle.services.tools.plain_arguments import PlainArguments, argument
from oracle.services.tools.registry import Tool
from oracle.services.tools.vault import Note
from oracle.services.tools.workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class ListNotes(PlainArguments):
    folder: str | None = argument(
        default=None, max_length=500, description="Only in this folder, such as docs."
    )
    limit: int = argument(default=200, ge=1, le=1000, description="How many at most.")


def list_notes(work: Workspace) -> Tool[ListNotes]:
    async def run(given: ListNotes) -> Answer:
        return await in_thread(lambda: _list(work, given))

    return Tool(
        name="list_notes",
        description="List the project's notes and documents, each with its path and title.",
        arguments=ListNotes,
        run=run,
        source="vault",
        role="list",
    )


def _list(work: Workspace, given: ListNotes) -> Answer:
    folder = inner_path(given.folder or "")
    notes = work.vault.notes(folder)
    if not notes:
        return Answer(
            summary=f"There are no notes below {one_line(folder or '.')}. Leave folder out to see "
            "all, or search the code.",
            empty=True,
        )
    shown = notes[: given.limit]
    more = len(notes) - len(shown)
    rest = f" {more} more are left out: raise limit or give a folder." if more else ""
    return Answer(
        summary=f"{len(notes)} notes below {one_line(folder or '.')}.{rest}",
        findings=[_listing(folder or ".", shown)],
        rest=lambda count, lines: "Give a folder to see fewer.",
    )


def _listing(folder: str, notes: list[Note]) -> Source:
    text = "\n".join(f"{one_line(note.entry.path)}: {one_line(note.title)}" for note in notes)
    rows = [Listed(path=note.entry.path, title=note.title) for note in notes]
    where = f"the list of notes below {folder}"
    return Source(kind="vault", where=where, text=text, path=folder, listed=rows)

"""write_note: a new note, or with `overwrite` a new version of one."""

from __future__ import annotations

from oracle.errors import AlreadyThere, InterruptedWrite, ToolProblem, named
from oracle.lazy_dataclass import dataclass
from oracle.models.source import Source
from oracle.services.background import in_thread, in_thread_to_end
from oracle.services.tools.answer import Answer
from oracle.services.tools.files import with_plain_ends
from oracle.services.tools.plain_arguments import PlainArguments, argument
from oracle.services.tools.registry import Tool, Writes
from oracle.services.tools.tickets import TICKET_GONE, Mark
from oracle.services.tools.workspace import Workspace, lines_of
from oracle.services.tools.writing import (
    drop_mark,
    file_name,
    mark_state,
    new_mark,
    without_line_ends,
    write_file,
)


@dataclass(frozen=True, kw_only=True)
class WriteNote(PlainArguments):
    title: str = argument(
        min_length=1, max_length=200, description="The note's title, on one line."
    )
    content: str = argument(
        min_length=1, max_length=200_000, description="The note's markdown, without its title."
    )
    overwrite: bool = argument(
        default=False,
        description="Replace a note of this title. Only when the user asked for that.",
    )


@dataclass(frozen=True, kw_only=True)
class _Draft:
    folder: str
    name: str
    text: str

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}"


def write_note(work: Workspace) -> Tool[WriteNote]:
    async def run(given: WriteNote) -> Answer:
        return await write(given, None)

    async def mark(given: WriteNote) -> Mark:
        return await in_thread(_mark, work, given)

    async def write(given: WriteNote, mark: Mark | None) -> Answer:
        return await in_thread_to_end(lambda: _write(work, given, mark))

    async def was_done(given: WriteNote, mark: Mark) -> Answer | None:
        return await in_thread(_done_before, work, given, mark)

    return Tool(
        name="write_note",
        description=(
            "Write a markdown note into the project's notes. Refuses to replace a note unless "
            "overwrite is true."
        ),
        arguments=WriteNote,
        run=run,
        writes=Writes(mark=mark, run=write, was_done=was_done),
        source="vault",
        role="write",
    )


def _draft(work: Workspace, given: WriteNote) -> _Draft:
    name = file_name(given.title)
    if name is None:
        raise ToolProblem(
            f"the title {named(given.title)} has no letter or digit; give one that has"
        )
    body = with_plain_ends(given.content).strip("\n")
    title = " ".join(given.title.split())
    text = f"{body}\n" if body.startswith("# ") else f"# {title}\n\n{body}\n"
    return _Draft(folder=work.notes_folder, name=f"{name}.md", text=text)


def _mark(work: Workspace, given: WriteNote) -> Mark:
    if work.dry_run:
        return {"dry_run": True}
    draft = _draft(work, given)
    return new_mark(work.files.root, draft.folder, draft.name)


def _write(work: Workspace, given: WriteNote, mark: Mark | None) -> Answer:
    draft = _draft(work, given)
    try:
        return _checked_write(work, given, draft, mark)
    finally:
        # A refused write is over too. Its ticket would only lie about.
        drop_mark(work.files.root, draft.folder, mark)


def _checked_write(work: Workspace, given: WriteNote, draft: _Draft, mark: Mark | None) -> Answer:
    target = work.files.root / draft.path
    if target.is_dir():
        raise ToolProblem(f"{named(draft.path)} is a folder; give another title")
    if not given.overwrite and (target.exists() or target.is_symlink()):
        raise _taken(draft)
    if work.dry_run:
        return _planned(draft)
    # Another process may have written it since the check above, so `write_file` checks again.
    try:
        write_file(
            work.files.root,
            draft.folder,
            draft.name,
            draft.text,
            overwrite=given.overwrite,
            mark=mark,
        )
    except AlreadyThere:
        raise _taken(draft) from None
    return _written(work, draft)


def _taken(draft: _Draft) -> ToolProblem:
    return ToolProblem(
        f"{named(draft.path)} already exists, so nothing was written; read it first, "
        "then give another title, or overwrite true if the user wants it replaced"
    )


def _planned(draft: _Draft) -> Answer:
    plan = Source(kind="vault", where=f"the plan for {draft.path}", text=draft.text.rstrip("\n"))
    return Answer(
        summary=f"Dry run: nothing was written. This would become {draft.path}.",
        findings=[plan],
        plan=True,
    )


def _written(work: Workspace, draft: _Draft) -> Answer:
    text = work.files.read(draft.path)
    return Answer(
        summary=f"Written: {draft.path}.",
        findings=[lines_of(text, 1, len(text.lines), "vault")],
        rest=lambda shown, lines: "All of it is in the file.",
    )


def _done_before(work: Workspace, given: WriteNote, mark: Mark) -> Answer | None:
    if mark.get("dry_run"):
        return None
    draft = _draft(work, given)
    state = mark_state(work.files.root, draft.folder, draft.name, mark)
    if state.is_linked or (state.ticket != "fresh" and _is_there(work, draft)):
        drop_mark(work.files.root, draft.folder, mark)
        return _written(work, draft)
    if state.ticket == "gone":
        raise InterruptedWrite(f"{draft.path} is not as it was to be written, and {TICKET_GONE}")
    if state.ticket == "placing":
        raise InterruptedWrite(
            f"{draft.path} is not there as it was to be written; it may have been changed or "
            "deleted since"
        )
    # Without `overwrite`, a write that was never begun cannot replace anything.
    is_safe = state.ticket == "fresh" and not given.overwrite
    if not is_safe and state.is_changed:
        raise InterruptedWrite(f"{draft.path} was changed since the write was begun")
    return None


def _is_there(work: Workspace, draft: _Draft) -> bool:
    try:
        text = work.files.read(draft.path)
    except ToolProblem:
        return False
    return without_line_ends(text.raw) == without_line_ends(draft.text)

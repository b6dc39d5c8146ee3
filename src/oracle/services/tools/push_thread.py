"""push_thread: add an entry to a thread, a log of decisions."""

from __future__ import annotations

from oracle.errors import ToolProblem, named
from oracle.lazy_dataclass import dataclass
from oracle.models.source import Source
from oracle.services.background import in_thread, in_thread_to_end
from oracle.services.project.root import THREADS_FOLDER
from oracle.services.tools.answer import Answer
from oracle.services.tools.plain_arguments import PlainArguments, argument
from oracle.services.tools.registry import Tool, Writes
from oracle.services.tools.threads import Entry, as_body
from oracle.services.tools.tickets import Mark
from oracle.services.tools.workspace import Workspace
from oracle.services.tools.writing import file_name


@dataclass(frozen=True, kw_only=True)
class PushThread(PlainArguments):
    thread: str = argument(
        min_length=1, max_length=200, description="The thread's name; a new one begins a thread."
    )
    entry: str = argument(
        min_length=1, max_length=50_000, description="What to add: the decision and its reason."
    )


def push_thread(work: Workspace) -> Tool[PushThread]:
    async def run(given: PushThread) -> Answer:
        return await write(given, None)

    async def mark(given: PushThread) -> Mark:
        return await in_thread(_mark, work, given)

    async def write(given: PushThread, mark: Mark | None) -> Answer:
        return await in_thread_to_end(lambda: _push(work, given, mark))

    async def was_done(given: PushThread, mark: Mark) -> Answer | None:
        return await in_thread(_pushed, work, given, mark)

    return Tool(
        name="push_thread",
        description=(
            "Add an entry with the present time to a thread, a log of decisions that only grows."
        ),
        arguments=PushThread,
        run=run,
        writes=Writes(mark=mark, run=write, was_done=was_done),
        source="threads",
        role="write",
    )


def _name(work: Workspace, given: PushThread) -> str:
    root = given.thread.partition("/")[0]
    if "/" in given.thread and root in work.files.others:
        raise ToolProblem(
            f"{named(given.thread)} is a thread of the root {root!r}, which is only read; name a "
            "thread of the project itself"
        )
    name = file_name(given.thread.removesuffix(".md"))
    if name is None:
        raise ToolProblem(
            f"the thread's name {named(given.thread)} has no letter or digit; give one that has"
        )
    if not given.entry.strip():
        raise ToolProblem("the entry is empty; say what was decided")
    return name


def _mark(work: Workspace, given: PushThread) -> Mark:
    return {"dry_run": True} if work.dry_run else work.threads.new_mark(_name(work, given))


def _push(work: Workspace, given: PushThread, mark: Mark | None) -> Answer:
    name = _name(work, given)
    path = f"{THREADS_FOLDER}/{name}.md"
    if work.dry_run:
        plan = Source(kind="threads", where=f"the plan for {path}", text=as_body(given.entry))
        return Answer(
            summary=f"Dry run: nothing was written. This would be added to {path}.",
            findings=[plan],
            plan=True,
        )
    entry = work.threads.append(name, given.entry, mark)
    return _done(_source(entry, path))


def _source(entry: Entry, path: str) -> Source:
    return Source(
        kind="threads",
        where=entry.where,
        text=f"## {entry.time}\n\n{entry.text}",
        path=path,
        start=entry.start,
        end=entry.end,
        title=entry.thread,
        entry=entry.time,
    )


def _done(source: Source) -> Answer:
    return Answer(summary=f"Added to {source.get('path')}.", findings=[source])


def _pushed(work: Workspace, given: PushThread, mark: Mark) -> Answer | None:
    name = _name(work, given)
    entry = None if mark.get("dry_run") else work.threads.added(name, given.entry, mark)
    return entry and _done(_source(entry, f"{THREADS_FOLDER}/{name}.md"))

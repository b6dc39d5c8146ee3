"""read_thread: the latest entries of one thread."""

from __future__ import annotations

from oracle.lazy_dataclass import dataclass
from oracle.models.source import Source
from oracle.services.background import in_thread
from oracle.services.tools.answer import Answer
from oracle.services.tools.files import FileText
from oracle.services.tools.plain_arguments import PlainArguments, argument
from oracle.services.tools.registry import Tool
from oracle.services.tools.threads import Entry
from oracle.services.tools.workspace import Workspace, lines_of


@dataclass(frozen=True, kw_only=True)
class ReadThread(PlainArguments):
    thread: str = argument(min_length=1, max_length=200, description="The thread's name.")
    last: int = argument(
        default=20, ge=1, le=500, description="How many entries, counted from the end."
    )


def read_thread(work: Workspace) -> Tool[ReadThread]:
    async def run(given: ReadThread) -> Answer:
        return await in_thread(lambda: _read(work, given))

    return Tool(
        name="read_thread",
        description="Read the latest entries of a thread, newest first, each with its time.",
        arguments=ReadThread,
        run=run,
        source="threads",
        role="read",
    )


def _read(work: Workspace, given: ReadThread) -> Answer:
    text, entries = work.threads.read(given.thread)
    if not entries and any(line.strip() for line in text.lines):
        return Answer(
            summary=f"The thread {given.thread!r} has no entries with times; this is its text.",
            findings=[lines_of(text, 1, len(text.lines), "vault")],
        )
    if not entries:
        return Answer(summary=f"The thread {given.thread!r} has no entry yet.", empty=True)
    latest = entries[-given.last :][::-1]
    return Answer(
        summary=f"{len(latest)} of {len(entries)} entries of {given.thread!r}, newest first.",
        findings=[entry_source(entry, text) for entry in latest],
        rest=lambda shown, lines: "Search for older ones by their words.",
    )


def entry_source(entry: Entry, text: FileText) -> Source:
    """An entry as a source. It is cited by its thread and its time."""
    return Source(
        kind="threads",
        where=entry.where,
        text="\n".join(text.lines[entry.start - 1 : entry.end]),
        path=text.path,
        start=entry.start,
        end=entry.end,
        title=entry.thread,
        entry=entry.time,
        digest=text.digest,
    )

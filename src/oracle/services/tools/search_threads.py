"""search_threads: entries of the decision logs, by words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from oracle.errors import ToolProblem, named
from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import QueryType
from oracle.services.background import in_thread
from oracle.services.search.records import Hit
from oracle.services.tools.answer import Answer
from oracle.services.tools.files import FileText
from oracle.services.tools.lookup import with_left_out
from oracle.services.tools.plain_arguments import PlainArguments, argument
from oracle.services.tools.protocol import Source
from oracle.services.tools.read_thread import entry_source
from oracle.services.tools.registry import Tool
from oracle.services.tools.threads import Entry, thread_at
from oracle.services.tools.workspace import ADVICE_IF_EMPTY, Workspace, found_places, lines_of


@dataclass(frozen=True, kw_only=True)
class SearchThreads(PlainArguments):
    query: str = argument(
        min_length=1, max_length=1000, description="Words that the entries contain."
    )
    limit: int = argument(default=8, ge=1, le=30, description="How many entries at most.")


def search_threads(work: Workspace) -> Tool[SearchThreads]:
    async def run(given: SearchThreads) -> Answer:
        hits = await work.lookup.search(given.query, "threads", 2 * given.limit)
        # Twice as many places as entries, because one entry may have several places.
        sources, unread = await in_thread(_entries, work, hits)
        answer = found_places(
            given.query,
            sources[: given.limit],
            of="entries of threads",
            otherwise=ADVICE_IF_EMPTY,
        )
        answer = replace(answer, summary=" ".join((answer.summary, *unread)))
        return with_left_out(answer, work.lookup)

    return Tool(
        name="search_threads",
        description=(
            "Search the threads, the project's logs of decisions, by words. Gives whole entries "
            "with their times."
        ),
        arguments=SearchThreads,
        run=run,
        query_types=frozenset({QueryType.DOCUMENTATION, QueryType.ACTION}),
        source="threads",
        role="search",
    )


def _entries(work: Workspace, hits: Sequence[Hit]) -> tuple[list[Source], list[str]]:
    """The entries that contain the places, each once, in the order of the places.

    Many logs are kept by hand, in a form of their own. A place outside of all entries is quoted as
    lines of its file: it would be lost otherwise, because the vault leaves threads out.
    A thread that cannot be read costs only itself: the second list has a sentence about each.
    """
    found: dict[str, Source] = {}
    unread: dict[str, str] = {}
    for hit in hits:
        try:
            text, entries = work.threads.read(thread_at(hit.path))
        except ToolProblem as problem:
            unread[hit.path] = f"Not searched: {named(hit.path)} ({problem})."
            continue
        for source in _quoted(hit, text, entries):
            source["score"] = hit.score
            found.setdefault(source["where"], source)
    return list(found.values()), list(unread.values())


def _quoted(hit: Hit, text: FileText, entries: Sequence[Entry]) -> list[Source]:
    """The lines of a place before the first entry, then the entries that it touches."""
    # Entries follow each other without a gap, so only what is before the first one is outside.
    end = min(hit.end, entries[0].start - 1 if entries else len(text.lines))
    while end > hit.start and not text.lines[end - 1].strip():
        end -= 1
    before = text.lines[hit.start - 1 : end]
    sources = [
        entry_source(entry, text)
        for entry in entries
        if entry.start <= hit.end and hit.start <= entry.end
    ]
    # The title of a thread says nothing about its entries.
    if any(line.strip() and not line.startswith("# ") for line in before):
        sources.insert(0, lines_of(text, hit.start, end, "vault"))
    return sources

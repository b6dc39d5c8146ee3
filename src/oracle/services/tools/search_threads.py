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
from oracle.services.tools.lookup import with_left_out
from oracle.services.tools.plain_arguments import PlainArguments, argument
from oracle.services.tools.protocol import Source
from oracle.services.tools.read_thread import entry_source
from oracle.services.tools.registry import Tool
from oracle.services.tools.threads import thread_at
from oracle.services.tools.workspace import ADVICE_IF_EMPTY, Workspace, found_places


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
        if not entries:
            unread[hit.path] = (
                f"{named(hit.path)} has the words too, but no entry with a heading such as "
                "## 2026-01-08T12:00:00Z; read it as a note."
            )
        for entry in entries:
            if entry.start <= hit.end and hit.start <= entry.end and entry.where not in found:
                found[entry.where] = entry_source(entry, text)
                found[entry.where]["score"] = hit.score
    return list(found.values()), list(unread.values())

"""search_vault: where in the notes and documents something is."""

from __future__ import annotations

import asyncio

from pydantic import Field

from oracle.models.query_classification import QueryType
from oracle.services.tools.answer import Answer
from oracle.services.tools.lookup import with_left_out
from oracle.services.tools.registry import Arguments, Tool
from oracle.services.tools.workspace import (
    Workspace,
    found_places,
    nothing_else,
    place_to_look,
    quoted_hits,
)


class SearchVault(Arguments):
    query: str = Field(
        min_length=1, max_length=1000, description="Words that the notes or documents contain."
    )
    path: str | None = Field(
        default=None, max_length=500, description="Only in this folder, such as docs/adr."
    )
    limit: int = Field(default=8, ge=1, le=30, description="How many places at most.")


def search_vault(work: Workspace) -> Tool[SearchVault]:
    async def run(given: SearchVault) -> Answer:
        under = place_to_look(work, given.path)
        hits = await work.lookup.search(given.query, "vault", given.limit, under=under)
        sources = await asyncio.to_thread(quoted_hits, work.files, hits, "vault")
        answer = found_places(
            given.query, sources, of="places in the vault", otherwise=nothing_else("vault")
        )
        return with_left_out(answer, work.lookup)

    return Tool(
        name="search_vault",
        description=(
            "Search the project's notes, documents and decision records by words. Gives the best "
            "places with their lines, best first; read_note shows more of one."
        ),
        arguments=SearchVault,
        run=run,
        query_types=frozenset({QueryType.DOCUMENTATION, QueryType.ACTION}),
        source="vault",
        role="search",
    )

"""search_vault: places in the notes and documents, by words."""

from __future__ import annotations

from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import QueryType
from oracle.services.tools.answer import Answer
from oracle.services.tools.plain_arguments import PlainArguments, argument
from oracle.services.tools.registry import Tool
from oracle.services.tools.workspace import Workspace, search_files


@dataclass(frozen=True, kw_only=True)
class SearchVault(PlainArguments):
    query: str = argument(
        min_length=1, max_length=1000, description="Words that the notes or documents contain."
    )
    path: str | None = argument(
        default=None, max_length=500, description="Only in this folder, such as docs/adr."
    )
    limit: int = argument(default=8, ge=1, le=30, description="How many places at most.")


def search_vault(work: Workspace) -> Tool[SearchVault]:
    async def run(given: SearchVault) -> Answer:
        return await search_files(
            work, "vault", given.query, given.limit, given.path, of="places in the vault"
        )

    return Tool(
        name="search_vault",
        description=(
            "Search the project's notes, documents and decision records by words. Gives the best "
            "places with their lines, best first."
        ),
        arguments=SearchVault,
        run=run,
        query_types=frozenset({QueryType.DOCUMENTATION, QueryType.ACTION}),
        source="vault",
        role="search",
    )

"""search_code: places in the code, by words and identifiers."""

from __future__ import annotations

from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import QueryType
from oracle.services.tools.answer import Answer
from oracle.services.tools.plain_arguments import PlainArguments, argument
from oracle.services.tools.registry import Tool
from oracle.services.tools.workspace import Workspace, search_files


@dataclass(frozen=True, kw_only=True)
class SearchCode(PlainArguments):
    query: str = argument(
        min_length=1, max_length=1000, description="Words or identifiers that the code contains."
    )
    path: str | None = argument(
        default=None, max_length=500, description="Only in this folder or file, such as src/store."
    )
    limit: int = argument(default=8, ge=1, le=30, description="How many places at most.")


def search_code(work: Workspace) -> Tool[SearchCode]:
    async def run(given: SearchCode) -> Answer:
        return await search_files(
            work, "code", given.query, given.limit, given.path, of="places in the code"
        )

    return Tool(
        name="search_code",
        description=(
            "Search the project's code by words and identifiers. Gives the best places with their "
            "lines, best first."
        ),
        arguments=SearchCode,
        run=run,
        query_types=frozenset({QueryType.CODE, QueryType.ACTION}),
        source="code",
        role="search",
    )

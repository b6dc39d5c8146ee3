"""web_search: pages of the web, from the provider in the project's settings."""

from __future__ import annotations

import hashlib

from oracle.errors import ToolProblem, WebProblem
from oracle.lazy_dataclass import dataclass
from oracle.models.source import Source
from oracle.services.tools.answer import Answer
from oracle.services.tools.plain_arguments import PlainArguments, argument
from oracle.services.tools.registry import Tool
from oracle.services.tools.workspace import Workspace, found_places
from oracle.services.web.searching import FoundPage, search_web


@dataclass(frozen=True, kw_only=True)
class WebSearch(PlainArguments):
    query: str = argument(min_length=1, max_length=400, description="What to search the web for.")
    limit: int = argument(default=6, ge=1, le=20, description="How many pages at most.")


def web_search(work: Workspace) -> Tool[WebSearch]:
    async def run(given: WebSearch) -> Answer:
        try:
            pages = await search_web(work.web, given.query, given.limit)
        except WebProblem as problem:
            raise ToolProblem(str(problem)) from problem
        return found_places(
            given.query,
            [_source(page) for page in pages],
            of="pages",
            otherwise="Try other words once; then say that it was not found.",
        )

    return Tool(
        name="web_search",
        description=("Search the web. Gives pages with their addresses and a few lines each."),
        arguments=WebSearch,
        run=run,
        source="web",
        role="search",
        timeout=25.0,
    )


def _source(page: FoundPage) -> Source:
    text = f"{page.title}\n{page.excerpt}".strip()
    source = Source(
        kind="web",
        where=page.url,
        text=text,
        title=page.title,
        url=page.url,
        digest=hashlib.sha256(text.encode(errors="replace")).hexdigest(),
    )
    if page.score is not None:
        source["score"] = page.score
    return source

"""web_fetch: a page of the public web as text."""

from __future__ import annotations

from oracle.errors import ToolProblem, WebProblem
from oracle.lazy_dataclass import dataclass
from oracle.models.source import Source
from oracle.services.project.redaction import redact
from oracle.services.tools.answer import Answer, one_line
from oracle.services.tools.plain_arguments import PlainArguments, argument
from oracle.services.tools.registry import Tool
from oracle.services.tools.workspace import Workspace
from oracle.services.web.fetching import Fetched


@dataclass(frozen=True, kw_only=True)
class WebFetch(PlainArguments):
    url: str = argument(
        min_length=1, max_length=2000, description="The page's address, http or https."
    )
    start: int = argument(
        default=1, ge=1, description="The first line of its text, to go on reading a long page."
    )


def web_fetch(work: Workspace) -> Tool[WebFetch]:
    async def run(given: WebFetch) -> Answer:
        try:
            page = await work.fetcher.fetch(given.url)
        except WebProblem as problem:
            raise ToolProblem(str(problem)) from problem
        return _answer(page, given.start)

    return Tool(
        name="web_fetch",
        description="Read one page of the public web as text, with its links.",
        arguments=WebFetch,
        run=run,
        source="web",
        role="read",
        timeout=35.0,
    )


def _answer(page: Fetched, start: int) -> Answer:
    # As a whole, before it is cut: half of a key is not recognised.
    lines = redact(page.text).split("\n")
    if not page.text.strip():
        return Answer(
            summary=f"{one_line(page.url)} has no text to read (it may be drawn by scripts). Try "
            "another page.",
            empty=True,
        )
    if start > len(lines):
        raise ToolProblem(f"the page has {len(lines)} lines of text; give a start up to that")
    cut = " Only the beginning was loaded: the page is too long." if page.is_partial else ""
    return Answer(
        summary=f"{one_line(page.url)}: lines {start} to {len(lines)} of its text.{cut}",
        findings=[
            Source(
                kind="web",
                where=page.url,
                text="\n".join(lines[start - 1 :]),
                title=page.title or page.url,
                url=page.url,
                digest=page.digest,
            )
        ],
        rest=lambda shown, count: f"For the rest call web_fetch with start {start + count}.",
    )

"""The project "harbour" to ask about: its files, its questions, and a server in place of the web.

async with harbour() as world:
    agent = OracleBTWrapper(model=model, tools=world.tools, sources=world.index)
"""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from oracle import evaluation
from oracle.patterns import lazy_pattern
from oracle.services.tools.project_index import ProjectIndex
from oracle.services.tools.project_tools import project_tools
from oracle.services.tools.protocol import Tools
from oracle.services.web.fetching import Fetcher
from oracle.services.web.searching import WebSearchAccess
from oracle.testing.web import LoopbackServer, Reply, Request, page

DATA: Final = Path(evaluation.__file__).parent / "data"
MOST_PAGES: Final = 5
_WORD: Final = lazy_pattern(r"\w{3,}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A right answer contains one of each group in `contains`, and cites one file or page of each
    group in `cites`. One that cannot be answered must not be called whole.
    """

    id: str
    question: str
    type: str
    needs: tuple[str, ...]
    contains: tuple[tuple[str, ...], ...]
    cites: tuple[tuple[str, ...], ...]
    answerable: bool
    broad: bool
    history: tuple[Mapping[str, str], ...] = ()

    @property
    def group(self) -> str:
        return self.id.partition("-")[0]


def questions() -> list[Question]:
    lines = (DATA / "harbour_questions.jsonl").read_text("utf-8").splitlines()
    return [_question(json.loads(line)) for line in lines]


def _question(row: Mapping[str, Any]) -> Question:
    return Question(
        id=row["id"],
        question=row["question"],
        type=row["type"],
        needs=tuple(row["needs"]),
        contains=tuple(map(tuple, row["contains"])),
        cites=tuple(map(tuple, row["cites"])),
        answerable=row["answerable"],
        broad=row["broad"],
        history=tuple(row["history"]),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """The project in a folder of its own. Nothing is written: tools that write only plan it."""

    root: Path
    tools: Tools
    index: ProjectIndex
    web: str


@asynccontextmanager
async def harbour() -> AsyncGenerator[World]:
    with TemporaryDirectory() as folder:
        root = Path(folder) / "harbour"
        shutil.copytree(DATA / "harbour", root)
        async with LoopbackServer(_web()) as server:
            index = ProjectIndex(root, on_disk=False)
            access = WebSearchAccess(provider="searxng", url=server.url)
            fetcher = Fetcher(allowed=[ip_network("127.0.0.0/8")])
            tools = project_tools(root, index=index, web=access, fetcher=fetcher, dry_run=True)
            yield World(root=root, tools=tools, index=index, web=server.url)


def _web() -> Any:
    """Pages by path, and a search over their words as SearXNG answers it."""
    pages: Mapping[str, Mapping[str, Any]] = json.loads(
        (DATA / "harbour_web.json").read_text("utf-8")
    )

    def answer(request: Request) -> Reply:
        if request.path != "/search":
            found = pages.get(request.path)
            return page(found["html"]) if found else Reply(status=404, body=b"nothing here")
        host = f"http://{request.headers['host']}"
        results = [
            {"title": pages[path]["title"], "url": host + path, "content": _excerpt(pages[path])}
            for path in _best(pages, request.parameter("q") or "")
        ]
        body = json.dumps({"results": results}).encode()
        return Reply(body=body, headers={"Content-Type": "application/json"})

    return answer


def _best(pages: Mapping[str, Mapping[str, Any]], query: str) -> Sequence[str]:
    asked = set(_WORD.findall(query.lower()))

    def score(path: str) -> int:
        found = pages[path]
        words = set(_WORD.findall(" ".join([found["title"], *found["keywords"]]).lower()))
        return len(asked & words)

    ranked = sorted(pages, key=lambda path: (-score(path), path))
    return [path for path in ranked if score(path)][:MOST_PAGES]


def _excerpt(found: Mapping[str, Any]) -> str:
    return f"{found['title']}: {', '.join(found['keywords'][:4])}"

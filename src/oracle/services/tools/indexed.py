"""Finding things by the project's index, which is brought up to date before the first question.

Where there can be no index (a folder that cannot be written, a disk that is full), files are
scanned instead: slower, and no less true.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from oracle.errors import OracleError
from oracle.services.tools.catalogue import Catalogue, Symbol, Usage
from oracle.services.tools.searching import Hit, Searcher, SearchKind

if TYPE_CHECKING:
    from oracle.services.index import Definition, Index

log = logging.getLogger(__name__)

Found = TypeVar("Found")


class IndexedSearcher:
    """`otherwise` searches where the index cannot. All work on the index is done in one thread."""

    def __init__(self, root: Path, otherwise: Searcher) -> None:
        self._root = root
        self._otherwise = otherwise
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="index")
        self._index: Index | None = None
        self._problem: Exception | None = None

    async def search(
        self, query: str, kind: SearchKind, k: int, *, under: str = ""
    ) -> Sequence[Hit]:
        hits = await self.asked(lambda index: _search(index, query, kind, k, under))
        if hits is None:
            return await self._otherwise.search(query, kind, k, under=under)
        return hits

    async def asked(self, question: Callable[[Index], Found]) -> Found | None:
        """Ask the index; None where there can be none."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, partial(self._asked, question))

    def _asked(self, question: Callable[[Index], Found]) -> Found | None:
        if self._problem is not None:
            return None
        try:
            return question(self._opened())
        except (OracleError, OSError) as problem:
            log.warning("files are scanned, because the index cannot be used: %s", problem)
            self._problem = problem
            return None

    def _opened(self) -> Index:
        if self._index is None:
            from oracle.services.index import Index

            index = Index.open(self._root)
            index.refresh()
            self._index = index
        return self._index


class AskIndex(Protocol):
    async def __call__(self, question: Callable[[Index], Found], /) -> Found | None: ...


class IndexedCatalogue:
    """`otherwise` is asked where there is no index, and for what the index does not find: it knows
    languages that the index does not, and files that are newer.
    """

    def __init__(self, ask: AskIndex, otherwise: Catalogue) -> None:
        self._ask = ask
        self._otherwise = otherwise

    async def definitions(self, name: str) -> Sequence[Symbol]:
        found = await self._ask(lambda index: _symbols(index.definitions(name)))
        return found or await self._otherwise.definitions(name)

    async def usages(self, name: str) -> Sequence[Usage]:
        found = await self._ask(
            lambda index: [Usage(path=use.path, line=use.line) for use in index.references(name)]
        )
        return found or await self._otherwise.usages(name)

    async def symbols(self, path: str) -> Sequence[Symbol]:
        found = await self._ask(lambda index: _symbols(index.symbols(path)))
        return found or await self._otherwise.symbols(path)

    async def map_for(self, question: str, token_budget: int, *, under: str = "") -> str | None:
        return await self._ask(lambda index: index.repo_map(question, token_budget, under=under))


def _symbols(found: Sequence[Definition]) -> list[Symbol]:
    return [
        Symbol(name=each.name, parent=each.parent, path=each.path, start=each.start, end=each.end)
        for each in found
    ]


def _search(index: Index, query: str, kind: SearchKind, k: int, under: str) -> list[Hit]:
    """The index does not know folders, so more is asked for where only one counts."""
    found = index.search(query, kind, k if not under else 10 * k)
    return [
        Hit(path=hit.path, start=hit.start, end=hit.end, score=hit.score, text=hit.text)
        for hit in found
        if not under or hit.path == under or hit.path.startswith(f"{under}/")
    ][:k]

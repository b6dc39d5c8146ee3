"""Finding things by the project's index, and by the files themselves where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from oracle.services.tools.catalogue import Catalogue, MappedFile, Symbol, Usage
from oracle.services.tools.project_index import ProjectIndex
from oracle.services.tools.searching import Hit, Searcher, SearchKind

if TYPE_CHECKING:
    from oracle.services.search import Definition
    from oracle.services.search import Hit as Found


class IndexedSearcher:
    """`otherwise` searches where the index cannot."""

    def __init__(self, index: ProjectIndex, otherwise: Searcher) -> None:
        self._index = index
        self._otherwise = otherwise

    async def search(
        self, query: str, kind: SearchKind, k: int, *, under: str = ""
    ) -> Sequence[Hit]:
        hits = await self._index.asked(
            lambda index: [_hit(found) for found in index.search(query, kind, k, under=under)]
        )
        if hits is None:
            return await self._otherwise.search(query, kind, k, under=under)
        return hits


class IndexedCatalogue:
    """`otherwise` is asked where there is no index, and for what the index does not find: it knows
    languages that the index does not, and files that are newer.
    """

    def __init__(self, index: ProjectIndex, otherwise: Catalogue) -> None:
        self._ask = index.asked
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

    async def map_for(
        self, question: str, token_budget: int, *, under: str = ""
    ) -> Sequence[MappedFile] | None:
        return await self._ask(
            lambda index: [
                MappedFile(path=file.path, lines=file.lines, text=file.text)
                for file in index.mapped_files(question, token_budget, under=under)
            ]
        )


def _hit(found: Found) -> Hit:
    return Hit(
        path=found.path, start=found.start, end=found.end, score=found.score, text=found.text
    )


def _symbols(found: Sequence[Definition]) -> list[Symbol]:
    return [
        Symbol(name=each.name, parent=each.parent, path=each.path, start=each.start, end=each.end)
        for each in found
    ]

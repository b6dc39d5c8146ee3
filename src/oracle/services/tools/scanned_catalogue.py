"""What is defined and used where, read off the files themselves each time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from oracle.errors import ToolProblem
from oracle.services.tools.catalogue import MappedFile, Symbol, Usage
from oracle.services.tools.definitions import Definition, definitions_in, end_of
from oracle.services.tools.files import FileText, ProjectFiles
from oracle.services.tools.vault import kind_of

MOST_USAGES: Final = 2_000
_LONGEST_SYMBOL: Final = 5_000


class ScannedCatalogue:
    def __init__(self, files: ProjectFiles, notes_folder: str = "notes") -> None:
        self._files = files
        self._notes_folder = notes_folder

    async def definitions(self, name: str) -> Sequence[Symbol]:
        return await asyncio.to_thread(lambda: list(self._definitions(name)))

    async def usages(self, name: str) -> Sequence[Usage]:
        return await asyncio.to_thread(lambda: list(islice(self._usages(name), MOST_USAGES)))

    async def symbols(self, path: str) -> Sequence[Symbol]:
        return await asyncio.to_thread(self._symbols, path)

    async def map_for(
        self, question: str, token_budget: int, *, under: str = ""
    ) -> Sequence[MappedFile] | None:
        return None

    def _symbols(self, path: str) -> list[Symbol]:
        try:
            return symbols_in(self._files.read(path))
        except ToolProblem:
            return []

    def _definitions(self, name: str) -> Iterator[Symbol]:
        for text in self._texts_with(name):
            yield from (symbol for symbol in symbols_in(text, name) if symbol.name == name)

    def _usages(self, name: str) -> Iterator[Usage]:
        whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        for text in self._texts_with(name):
            found = definitions_in(text.raw, text.path)
            defined = {each.line for each in found if each.name == name}
            for number, line in enumerate(text.lines, start=1):
                if number not in defined and whole.search(line):
                    yield Usage(path=text.path, line=number)

    def _texts_with(self, name: str) -> Iterator[FileText]:
        for entry in self._files.entries():
            if kind_of(entry.path, self._notes_folder) == "code":
                text = self._files.text_of(entry)
                if text is not None and name in text.raw:
                    yield text


def symbols_in(text: FileText, name: str | None = None) -> list[Symbol]:
    """What a text defines, or what it defines by this `name`, in the order of its lines."""
    found = sorted(definitions_in(text.raw, text.path), key=lambda each: each.line)
    owners: list[Definition] = []
    symbols: list[Symbol] = []
    for each in found:
        while owners and owners[-1].depth >= each.depth:
            owners.pop()
        if name in (None, each.name):
            symbols.append(_symbol(each, owners[-1] if owners else None, text))
        owners.append(each)
    return symbols


def where_now(symbol: Symbol, text: FileText) -> list[Symbol]:
    """The file may have changed since it was catalogued: then its own text is asked."""
    if any(symbol.name in line for line in text.lines[symbol.start - 1 : symbol.end]):
        return [replace(symbol, end=min(symbol.end, len(text.lines)))]
    return [each for each in symbols_in(text, symbol.name) if each.parent == symbol.parent]


def _symbol(each: Definition, owner: Definition | None, text: FileText) -> Symbol:
    """The nearest definition above that is indented less is its owner."""
    return Symbol(
        name=each.name,
        parent=owner.name if owner else None,
        path=text.path,
        start=each.line,
        end=end_of(each, text.lines, text.path, longest=_LONGEST_SYMBOL),
    )

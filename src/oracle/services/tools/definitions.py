"""What a text defines, found as the index finds it, for texts that may be newer than the index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from oracle.lazy_dataclass import dataclass
from oracle.services.search.outline import outline_of, outline_of_part
from oracle.services.search.records import Definition
from oracle.services.tools.files import FileText


@dataclass(frozen=True, kw_only=True)
class DefinedName:
    """`depth` is the indentation of the line; 0 is the top level of the file."""

    name: str
    depth: int


def definitions_in(text: str, path: str) -> Iterator[DefinedName]:
    """In the order of the lines; empty for unknown languages. `text` may be a part of a file."""
    lines = text.split("\n")
    for symbol in outline_of_part(text, path).symbols:
        line = lines[symbol.start - 1]
        yield DefinedName(name=symbol.name, depth=len(line) - len(line.lstrip()))


def symbols_in(text: FileText) -> list[Definition]:
    """What a file defines as it is now, in the order of its lines."""
    return [
        Definition(
            name=symbol.name,
            kind=symbol.kind,
            parent=symbol.parent,
            path=text.path,
            start=symbol.start,
            end=symbol.end,
        )
        for symbol in outline_of(text.raw, text.path).symbols
    ]


def where_now(found: Definition, text: FileText) -> list[Definition]:
    """Where a definition is now: the file may have changed since it was indexed."""
    # The usual case, without parsing: the lines still have the name.
    if any(found.name in line for line in text.lines[found.start - 1 : found.end]):
        return [replace(found, end=min(found.end, len(text.lines)))]
    same = (found.name, found.parent)
    return [each for each in symbols_in(text) if (each.name, each.parent) == same]

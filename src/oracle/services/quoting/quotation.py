"""A source divided into lines, from which passages are chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from oracle.lazy_dataclass import dataclass
from oracle.models.source import Source
from oracle.models.source_kind import SourceKind, kind_named
from oracle.services.tools.answer import place


@dataclass(frozen=True, kw_only=True, slots=True)
class Quotation:
    """`path` is the file; for an entry of a thread and for a page it is the same as `where`.
    `first` is the number of the first line; 0 if the lines have no numbers. `symbol` is the
    definition around the lines, if a tool says it.
    """

    where: str
    path: str
    first: int
    lines: Sequence[str]
    kind: SourceKind
    symbol: str = ""

    @classmethod
    def of(cls, source: Source | Mapping[str, Any]) -> Quotation:
        kind = kind_named(source.get("kind"))
        where = str(source["where"])
        first = int(source.get("start") or 0)
        # An entry is a part of a file, but two entries of one file are two sources.
        is_cited_by_lines = kind.has_lines and first
        return cls(
            where=where,
            path=str(source.get("path") or where) if is_cited_by_lines else where,
            first=first,
            lines=str(source.get("text", "")).split("\n"),
            kind=kind,
            symbol=str(source.get("symbol", "")),
        )

    def place(self, start: int, end: int) -> str:
        """The citation of lines `start` to `end`, which are counted from 0; `end` is included."""
        if not self.kind.has_lines or not self.first:
            return self.where
        return place(self.path, self.first + start, self.first + end)


def quotations_of(sources: Iterable[Source | Mapping[str, Any]]) -> list[Quotation]:
    return [Quotation.of(source) for source in sources]

"""The seam behind the search tools: words in, places out. An index can stand in for the scan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

SearchKind = Literal["code", "vault", "threads"]


@dataclass(frozen=True, kw_only=True)
class Hit:
    """Lines `start` to `end` of a file, from 1. `score` says how well they match, from 0 to 1."""

    path: str
    start: int
    end: int
    score: float
    text: str


class Searcher(Protocol):
    async def search(
        self, query: str, kind: SearchKind, k: int, *, under: str = ""
    ) -> Sequence[Hit]:
        """The best `k` places, best first; with `under`, only files in that folder or that file.

        The tools read the lines again from the file before they quote them, so a hit that has
        grown stale costs a place in the list and no truth.
        """
        ...

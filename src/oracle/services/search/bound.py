"""How much an index in memory may hold, and which files come first if not all fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.services.project.walk import FoundFile
from oracle.services.search.question import read_question
from oracle.services.search.terms import terms_of_text


@dataclass(frozen=True, kw_only=True)
class Bound:
    """`files` and `bytes` limit the whole index; the other fields limit one refresh.

    A refresh stops looking for files after `walked` of them, or after `walk_seconds`. It stops
    reading files after `seconds`.
    """

    files: float = inf
    bytes: float = inf
    walked: float = inf
    walk_seconds: float = inf
    seconds: float = inf


NO_BOUND: Final = Bound()
IN_MEMORY: Final = Bound(
    files=30_000, bytes=150_000_000, walked=50_000, walk_seconds=3.0, seconds=8.0
)
"""At most about 250 MB of memory. A look-up ends well within the time limit of a tool."""


def fitting(
    candidates: Sequence[FoundFile], known: Mapping[str, int], bound: Bound, *, about: str
) -> Sequence[FoundFile]:
    """The candidates that fit, given the sizes of the `known` files, which stay in the index.

    New files come before known ones that have changed, because an older state of those can already
    be found. Among the new ones, first come those whose path names what is asked `about`, then
    those nearest to the root.
    """
    if bound == NO_BOUND:
        return candidates
    asked = read_question(about).terms

    def unlikeliness(found: FoundFile) -> float:
        terms = set(terms_of_text(found.path).split()) if asked else ()
        return -sum(asked.get(term, 0.0) for term in terms)

    files, size = len(known), sum(known.values())
    new = [found for found in candidates if found.path not in known]
    chosen: list[FoundFile] = []
    # Sorting is stable, and the walk gives the nearest folders first.
    for found in sorted(new, key=unlikeliness):
        if files < bound.files and size + found.size <= bound.bytes:
            chosen.append(found)
            files, size = files + 1, size + found.size
    return [*chosen, *(found for found in candidates if found.path in known)]

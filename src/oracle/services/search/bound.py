"""How much an index in memory takes in, and which files come first where not all fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from oracle.services.project.walk import FoundFile
from oracle.services.search.question import read_question
from oracle.services.search.terms import terms_of_text


@dataclass(frozen=True, kw_only=True)
class Bound:
    """`seconds` are for one refresh; half of them for finding the files, which are `walked`."""

    files: float = inf
    bytes: float = inf
    seconds: float = inf
    walked: float = inf


NO_BOUND: Final = Bound()
IN_MEMORY: Final = Bound(files=30_000, bytes=150_000_000, seconds=5.0, walked=50_000)
"""About 250 MB of memory at most, and an answer well within the time limit of a tool."""


def fitting(
    candidates: Sequence[FoundFile], bound: Bound, *, files: int, size: int, about: str
) -> Sequence[FoundFile]:
    """Those that there is room for beside `files` of `size` bytes together.

    Files whose path names what is asked `about` come first, then those nearest to the root.
    """
    if bound == NO_BOUND:
        return candidates
    asked = read_question(about).terms

    def unlikeliness(found: FoundFile) -> float:
        terms = set(terms_of_text(found.path).split()) if asked else ()
        return -sum(asked.get(term, 0.0) for term in terms)

    chosen: list[FoundFile] = []
    # Sorting is stable, and the walk gives the nearest folders first.
    for found in sorted(candidates, key=unlikeliness):
        if files < bound.files and size + found.size <= bound.bytes:
            chosen.append(found)
            files, size = files + 1, size + found.size
    return chosen

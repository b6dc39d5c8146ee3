"""Baselines for retrieval: BM25 over whole files, and over windows of lines with the path.

All read the same files as the index and split words in the same way. They have no stemming, no
related words and no structure. The strongest one knows the roles of files, as the index does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from oracle.services.project.identifiers import parts_of
from oracle.services.search.records import Role
from oracle.services.search.roles import role_of

_STOP_LISTED: Final = (
    "a an and are as at be by can do does for from has have how if in into is it its of on or "
    "that the their there this to was what when where which who why will with you your we our "
    "i"
)
_STOP: Final = frozenset(_STOP_LISTED.split())
_K1: Final = 1.2
_B: Final = 0.75
WINDOW: Final = 50
STEP: Final = 40
PATH_WEIGHT: Final = 3
ROLE_WINDOW: Final = 60
ROLE_STEP: Final = 30
ROLES: Final = {Role.TEST: 0.3, Role.DOCUMENT: 0.4, Role.SETTINGS: 0.7}


def words(text: str) -> list[str]:
    return [word for word in parts_of(text) if word not in _STOP]


class Bm25:
    """BM25 over documents of (path, words). The score of a path is that of its best document."""

    def __init__(
        self,
        documents: Iterator[tuple[str, list[str]]],
        factor: Callable[[str], float] = lambda path: 1.0,
    ) -> None:
        self._factor = factor
        self._paths: list[str] = []
        self._lengths: list[int] = []
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for number, (path, terms) in enumerate(documents):
            self._paths.append(path)
            self._lengths.append(len(terms))
            for term, count in Counter(terms).items():
                self._postings.setdefault(term, []).append((number, count))
        self._mean = sum(self._lengths) / max(1, len(self._lengths))

    def search(self, question: str, k: int) -> list[str]:
        scores: dict[int, float] = {}
        for term in set(words(question)):
            found = self._postings.get(term, ())
            rarity = math.log(1 + (len(self._paths) - len(found) + 0.5) / (len(found) + 0.5))
            for number, count in found:
                norm = _K1 * (1 - _B + _B * self._lengths[number] / self._mean)
                gain = rarity * count * (_K1 + 1) / (count + norm)
                scores[number] = scores.get(number, 0.0) + gain
        best: dict[str, float] = {}
        for number, score in scores.items():
            path = self._paths[number]
            best[path] = max(best.get(path, 0.0), score * self._factor(path))
        return sorted(best, key=lambda path: (-best[path], path))[:k]


def over_files(texts: Mapping[str, str]) -> Bm25:
    return Bm25((path, words(text)) for path, text in texts.items())


def over_windows(texts: Mapping[str, str]) -> Bm25:
    """BM25 over overlapping windows of lines. The words of the path are added to each, repeated."""
    return Bm25(
        (path, words(path) * PATH_WEIGHT + words(window))
        for path, text in texts.items()
        for window in _windows(text, WINDOW, STEP)
    )


def over_windows_with_roles(texts: Mapping[str, str], *, with_roles: bool) -> Bm25:
    """Windows that overlap by half. For code, tests and documents are ranked lower."""
    return Bm25(
        (
            (path, words(path) * PATH_WEIGHT + words(window))
            for path, text in texts.items()
            for window in _windows(text, ROLE_WINDOW, ROLE_STEP)
        ),
        _role_factor if with_roles else lambda path: 1.0,
    )


def _role_factor(path: str) -> float:
    return ROLES.get(role_of(path), 1.0)


def _windows(text: str, size: int, step: int) -> Iterator[str]:
    lines = text.split("\n")
    for start in range(0, max(1, len(lines) - size + step), step):
        yield "\n".join(lines[start : start + size])

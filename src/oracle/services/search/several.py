"""Searches several indexes as one: the files of all of them are ranked together.

The scores of two indexes cannot be compared as they are. A word is rare in one and common in the
other, and each score is a share of the best one in its own index. So a search has three steps. All
indexes count their terms; with the sums, all find their best scores; with the best of these, all
rank their files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from oracle.services.search.index import Index
from oracle.services.search.passages import Statistics
from oracle.services.search.ranking import BestScores, Scale
from oracle.services.search.records import Hit, Kind


def search_several(indexes: Mapping[str, Index], query: str, kind: Kind, k: int) -> list[Hit]:
    """The best hits, by the prefix of each index. Their paths have the prefixes."""
    counted = [index.statistics(query, kind) for index in indexes.values()]
    statistics = total(counted)
    best = highest(index.best_scores(query, kind, statistics) for index in indexes.values())
    scale = Scale(statistics=statistics, best=best)
    found = {prefix: index.search(query, kind, k, scale=scale) for prefix, index in indexes.items()}
    return merged(found, k)


def total(counted: Iterable[Statistics]) -> Statistics:
    return reduce(lambda one, other: one + other, counted, Statistics(passages=0, having={}))


def highest(scores: Iterable[BestScores]) -> BestScores:
    return reduce(lambda one, other: one | other, scores, BestScores())


def merged(found: Mapping[str, Sequence[Hit]], k: int) -> list[Hit]:
    """The best `k`, with scores from 0 to 1. First passages of files come before further ones."""
    first: list[Hit] = []
    further: list[Hit] = []
    seen: set[str] = set()
    for prefix, hits in found.items():
        for hit in hits:
            path = prefix + hit.path
            (further if path in seen else first).append(replace(hit, path=path))
            seen.add(path)
    best = max((hit.score for hit in first), default=0.0) or 1.0
    # Sorting is stable: with equal scores the project itself, which is first, stays first.
    ordered = sorted(first, key=lambda hit: -hit.score) + sorted(further, key=lambda h: -h.score)
    return [replace(hit, score=round(hit.score / best, 4)) for hit in ordered[:k]]

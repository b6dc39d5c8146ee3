"""Decides whether the evidence is enough for an answer. A better function may replace this one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, Protocol

from oracle.lazy_dataclass import dataclass

GOOD_MATCH: Final = 0.6
"""The score from which a place counts as a good match."""
MANY_PLACES: Final = 6
"""This many good matches are enough, wherever they are."""
SEPARATE_FILES: Final = 2
"""Good matches in this many files are enough, if the last call added nothing."""
BARREN_CALLS: Final = 3
"""After this many calls without a place there is nothing to find."""
ADDED_NOTHING: Final = 2
"""After this many results in a row that add nothing, more calls will not help."""


class Verdict(StrEnum):
    ENOUGH = "enough"
    NOTHING = "nothing"
    OPEN = "open"


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What a run has gathered.

    `new_by_result` is the number of new places of each result, in order. A call that failed or
    found nothing has no result: it is one of the `barren_calls`.
    """

    places: Sequence[Mapping[str, Any]]
    new_by_result: Sequence[int]
    barren_calls: int
    sources_offered: Collection[str]
    sources_tried: Collection[str]


class Sufficiency(Protocol):
    def __call__(self, evidence: Evidence) -> Verdict: ...


def heuristic_sufficiency(evidence: Evidence) -> Verdict:
    """Enough: many good matches, or some in more than one file and results that add nothing new.

    Nothing: no place was found, and every offered source was tried, or several calls were made.
    """
    if not evidence.places:
        barren = evidence.barren_calls + len(evidence.new_by_result) >= BARREN_CALLS
        exhausted = evidence.sources_tried and set(evidence.sources_offered) <= set(
            evidence.sources_tried
        )
        return Verdict.NOTHING if exhausted or barren else Verdict.OPEN
    good = [place for place in evidence.places if place.get("score", 0.0) >= GOOD_MATCH]
    last_results = evidence.new_by_result[-ADDED_NOTHING:]
    adds_nothing = len(last_results) == ADDED_NOTHING and not any(last_results)
    if adds_nothing or len(good) >= MANY_PLACES:
        return Verdict.ENOUGH
    spread = len({place.get("path") or place.get("where") for place in good})
    last_adds_little = bool(evidence.new_by_result) and evidence.new_by_result[-1] == 0
    return Verdict.ENOUGH if spread >= SEPARATE_FILES and last_adds_little else Verdict.OPEN

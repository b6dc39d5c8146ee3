"""Is there enough to answer from? A small function that a better one may replace."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

GOOD_MATCH: Final = 0.6
MANY_PLACES: Final = 6
WELL_MATCHED: Final = 2
BARREN_CALLS: Final = 3


class Verdict(StrEnum):
    ENOUGH = "enough"
    NOTHING = "nothing"
    OPEN = "open"


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What a run has gathered. `new_by_call` is how many new places each call brought, in order."""

    places: Sequence[Mapping[str, Any]]
    new_by_call: Sequence[int]
    sources_offered: Collection[str]
    sources_tried: Collection[str]


class Sufficiency(Protocol):
    def __call__(self, evidence: Evidence) -> Verdict: ...


def heuristic_sufficiency(evidence: Evidence) -> Verdict:
    """Enough: places that match well, in more than one file or often, and calls that add no more.

    Nothing: every source on offer was tried, and no call has brought anything.
    """
    if not evidence.places:
        barren = len(evidence.new_by_call) >= BARREN_CALLS
        exhausted = evidence.sources_tried and set(evidence.sources_offered) <= set(
            evidence.sources_tried
        )
        return Verdict.NOTHING if exhausted or barren else Verdict.OPEN
    good = [place for place in evidence.places if place.get("score", 0.0) >= GOOD_MATCH]
    adds_nothing = len(evidence.new_by_call) >= 2 and not any(evidence.new_by_call[-2:])
    if adds_nothing or len(good) >= MANY_PLACES:
        return Verdict.ENOUGH
    spread = len({place.get("path") or place.get("where") for place in good})
    last_adds_little = bool(evidence.new_by_call) and evidence.new_by_call[-1] == 0
    return Verdict.ENOUGH if spread >= WELL_MATCHED and last_adds_little else Verdict.OPEN

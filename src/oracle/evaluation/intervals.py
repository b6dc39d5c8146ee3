"""Where a figure lies with a probability of 95 %."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean
from typing import Final, TypeVar

T = TypeVar("T")

RESAMPLES: Final = 400
"""How often the observations are drawn again. Enough for two digits."""
SHARE_OF_RESAMPLES: Final = 0.95
_DEVIATIONS: Final = 1.96
"""How many standard deviations hold 95 % of a normal distribution, to either side."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """The value of a figure, and where it lies with a probability of 95 %."""

    mean: float
    low: float
    high: float


def interval(values: Sequence[float]) -> Interval:
    """The mean, by drawing the values again, always in the same way."""
    if not values:
        return Interval(mean=0.0, low=0.0, high=0.0)
    return redrawn([[value] for value in values], fmean)


def redrawn(groups: Sequence[Sequence[T]], figure: Callable[[Sequence[T]], float]) -> Interval:
    """A figure of all members. Whole groups are drawn again, because their members are alike."""
    draw = random.Random(len(groups))
    found = sorted(
        figure([member for group in draw.choices(groups, k=len(groups)) for member in group])
        for _ in range(RESAMPLES)
    )
    outside = int(RESAMPLES * (1 - SHARE_OF_RESAMPLES) / 2)
    return Interval(
        mean=figure([member for group in groups for member in group]),
        low=found[outside],
        high=found[-1 - outside],
    )


def share(part: float, count: int) -> Interval:
    """A share of independent observations, by Wilson. It has a width even if all are alike."""
    if not count:
        return Interval(mean=0.0, low=0.0, high=1.0)
    mean, square = part / count, _DEVIATIONS**2
    middle = (mean + square / (2 * count)) / (1 + square / count)
    width = sqrt(mean * (1 - mean) / count + square / (4 * count**2)) / (1 + square / count)
    low, high = middle - _DEVIATIONS * width, middle + _DEVIATIONS * width
    return Interval(mean=mean, low=min(mean, max(0.0, low)), high=max(mean, min(1.0, high)))


def grouped(members: Iterable[T], by: Callable[[T], Hashable]) -> list[list[T]]:
    groups: dict[Hashable, list[T]] = {}
    for member in members:
        groups.setdefault(by(member), []).append(member)
    return [*groups.values()]

"""Whether a confidence can be trusted: how often those who say 0.9 are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from oracle.evaluation.intervals import Interval, share

if TYPE_CHECKING:
    from oracle.evaluation.agent_runs import Outcome

Bins: TypeAlias = Sequence[tuple[float, float]]

# The end of a bin is excluded, so the last one must end above 1.
TENTHS: Final[Bins] = (*((low / 10, (low + 1) / 10) for low in range(9)), (0.9, 1.01))


@dataclass(frozen=True, kw_only=True)
class CalibrationBin:
    """The answers with a confidence from `low` to `high`: their mean confidence and accuracy."""

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float

    @property
    def interval(self) -> Interval:
        return share(self.accuracy * self.count, self.count)


@dataclass(frozen=True, kw_only=True)
class ModelCalibration:
    """The confidence of a model's last signal, beside whether the answer was right.

    `error` is the expected calibration error: how far confidence and accuracy are apart, over all
    answers. `silent` answers came without any signal.
    """

    model: str
    count: int
    silent: int
    bins: tuple[CalibrationBin, ...]
    error: float


def calibration(
    confidences: Sequence[float], right: Sequence[bool], bins: Bins = TENTHS
) -> tuple[CalibrationBin, ...]:
    """Bins without an answer are left out."""
    found: list[CalibrationBin] = []
    for low, high in bins:
        members = [(c, ok) for c, ok in zip(confidences, right, strict=True) if low <= c < high]
        if members:
            found.append(
                CalibrationBin(
                    low=low,
                    high=min(high, 1.0),
                    count=len(members),
                    confidence=sum(c for c, _ in members) / len(members),
                    accuracy=sum(ok for _, ok in members) / len(members),
                )
            )
    return tuple(found)


def expected_error(bins: Sequence[CalibrationBin]) -> float:
    count = sum(each.count for each in bins)
    apart = sum(each.count * abs(each.confidence - each.accuracy) for each in bins)
    return apart / count if count else 0.0


def calibrations_of(outcomes: Sequence[Outcome]) -> Iterator[ModelCalibration]:
    """For each model. Only the tree asks for signals, so its answers alone count."""
    by_tree = [each for each in outcomes if each.loop == "tree"]
    for model in sorted({each.model for each in by_tree}):
        answers = [each for each in by_tree if each.model == model]
        said = [(each.confidence, each.is_right) for each in answers if each.confidence is not None]
        bins = calibration([confidence for confidence, _ in said], [right for _, right in said])
        yield ModelCalibration(
            model=model,
            count=len(said),
            silent=len(answers) - len(said),
            bins=bins,
            error=expected_error(bins),
        )

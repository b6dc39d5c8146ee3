"""Which comparisons count: one for each run, and none in which a loop broke down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from oracle.lazy_dataclass import dataclass
from oracle.services.comparison.comparing import Comparison
from oracle.services.comparison.facts import LoopFacts

SHADOW_LIMIT: Final = "shadow_limit"
"""The stop reason of a shadow that ended at `loop.shadow_money`, which the first loop did not have.
"""
BROKEN: Final = frozenset(
    (
        "",
        "cancelled",
        "held_elsewhere",
        "internal_error",
        "invalid_input",
        "model_unavailable",
        "not_recorded",
        SHADOW_LIMIT,
        "spend_limit",
        "store_failed",
    )
)
"""Stop reasons of a loop that something else ended. A run that did nothing needed few calls and
little time, which says nothing about its control.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """Newest first. `older` is how many more comparisons the counted runs have."""

    counted: Sequence[Comparison]
    broken: Sequence[Comparison]
    older: int

    @property
    def questions(self) -> int:
        """How many there are, whatever their case and white space."""
        return len({" ".join(each.question.casefold().split()) for each in self.counted})

    def words(self) -> str:
        """Such as `2 questions`, or `3 runs of 2 questions`."""
        runs = len(self.counted)
        questions = f"{self.questions} question{'s' if self.questions != 1 else ''}"
        return questions if runs == self.questions else f"{runs} runs of {questions}"

    def newest(self, count: int | None) -> Chosen:
        """The newest so many that count."""
        return Chosen(counted=self.counted[:count], broken=self.broken, older=self.older)

    def left_out(self) -> list[Mapping[str, Any]]:
        return [
            {
                "run_id": each.run_id,
                "shadow_run_id": each.shadow_run_id,
                "tree": each.tree.stop_reason,
                "baseline": each.baseline.stop_reason,
            }
            for each in self.broken
        ]


def is_broken(facts: LoopFacts) -> bool:
    return facts.stop_reason in BROKEN


def is_served_whole(comparison: Comparison) -> bool:
    """Whether the first run did not break down: only then another shadow can be compared."""
    served = comparison.tree if comparison.served == "tree" else comparison.baseline
    return not is_broken(served)


def is_comparable(comparison: Comparison) -> bool:
    return not (is_broken(comparison.tree) or is_broken(comparison.baseline))


def chosen(newest_first: Sequence[Comparison]) -> Chosen:
    """Of each run the newest comparison in which no loop broke down.

    A run that was never compared without a break is among the broken ones, with its newest.
    """
    counted: dict[str, Comparison] = {}
    broken: dict[str, Comparison] = {}
    older = 0
    for each in newest_first:
        if not is_comparable(each):
            broken.setdefault(each.run_id, each)
        elif each.run_id in counted:
            older += 1
        else:
            counted[each.run_id] = each
    return Chosen(
        counted=[*counted.values()],
        broken=[each for run_id, each in broken.items() if run_id not in counted],
        older=older,
    )

"""Two runs of one question side by side, many such pairs in a table, and the gate over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean, median
from typing import Any, Final, Literal, Self

from oracle.lazy_dataclass import dataclass
from oracle.services.comparison.facts import LoopFacts, words_shared

Loop = Literal["tree", "baseline"]

LATENCY_ALLOWED: Final = 1.10
"""The tree may take a tenth longer: the success criterion SC-007."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """One question, answered by both loops. `served` is the one whose answer the user got."""

    run_id: str
    shadow_run_id: str
    question: str
    model: str
    served: Loop
    tree: LoopFacts
    baseline: LoopFacts

    @property
    def shared_words(self) -> float:
        return words_shared(self.tree.answer, self.baseline.answer)

    @property
    def shared_citations(self) -> float:
        """The share of the cited files that both answers cite."""
        one, other = set(self.tree.cited), set(self.baseline.cited)
        return len(one & other) / len(one | other) if one | other else 1.0

    def as_data(self) -> dict[str, Any]:
        shared = {"words": self.shared_words, "citations": self.shared_citations}
        return {**asdict(self), "shared": shared}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        known: dict[str, Any] = {name: data[name] for name in cls.__slots__}
        for loop in ("tree", "baseline"):
            known[loop] = LoopFacts.from_dict(data[loop])
        return cls(**known)


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """A figure of each loop over all questions. `is_counted` means that the gate looks at it.

    `allowed` is how much worse the tree may be, as a factor.
    """

    name: str
    of: Callable[[Sequence[LoopFacts]], float]
    more_is_better: bool
    is_counted: bool = True
    allowed: float = 1.0
    digits: int = 2


def _mean(of: Callable[[LoopFacts], float | None]) -> Callable[[Sequence[LoopFacts]], float]:
    return lambda all_facts: fmean(of(facts) or 0.0 for facts in all_facts)


def _share(of: Callable[[LoopFacts], bool]) -> Callable[[Sequence[LoopFacts]], float]:
    return lambda all_facts: fmean(map(of, all_facts))


MEASURES: Final[Sequence[Measure]] = (
    Measure(
        name="answers with a citation that holds",
        of=_share(lambda facts: facts.resolved > 0),
        more_is_better=True,
    ),
    Measure(
        name="citations that do not hold, per answer",
        of=_mean(lambda facts: facts.unresolved),
        more_is_better=False,
    ),
    Measure(
        name="called whole without a citation that holds",
        of=_share(lambda facts: facts.is_whole and facts.resolved == 0 and facts.calls > 0),
        more_is_better=False,
    ),
    Measure(name="tool calls", of=_mean(lambda facts: facts.calls), more_is_better=False),
    Measure(
        name="needless tool calls",
        of=_mean(lambda facts: facts.needless_calls),
        more_is_better=False,
    ),
    Measure(
        name="failed tool calls", of=_mean(lambda facts: facts.failed_calls), more_is_better=False
    ),
    Measure(
        name="turns", of=_mean(lambda facts: facts.turns), more_is_better=False, is_counted=False
    ),
    Measure(
        name="tokens",
        of=_mean(lambda facts: facts.tokens),
        more_is_better=False,
        is_counted=False,
        digits=0,
    ),
    Measure(name="cost", of=_mean(lambda facts: facts.money), more_is_better=False, digits=4),
    Measure(
        name="seconds, median",
        of=lambda all_facts: median(facts.seconds for facts in all_facts),
        more_is_better=False,
        allowed=LATENCY_ALLOWED,
    ),
    Measure(
        name="called whole",
        of=_share(lambda facts: facts.is_whole),
        more_is_better=True,
        is_counted=False,
    ),
    Measure(
        name="responses with a signal",
        of=lambda all_facts: (
            sum(len(facts.signals) for facts in all_facts)
            / max(1, sum(facts.turns for facts in all_facts))
        ),
        more_is_better=True,
        is_counted=False,
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One measure of both loops. `verdict` is empty for a measure that is not counted."""

    measure: Measure
    tree: float
    baseline: float

    @property
    def is_kept(self) -> bool:
        """Whether the tree is as good or better, within what is allowed."""
        if self.measure.more_is_better:
            return self.tree >= self.baseline / self.measure.allowed
        return self.tree <= self.baseline * self.measure.allowed

    @property
    def verdict(self) -> str:
        if not self.measure.is_counted:
            return ""
        return "kept" if self.is_kept else "worse"


def rows_of(comparisons: Sequence[Comparison]) -> list[Row]:
    trees = [each.tree for each in comparisons]
    baselines = [each.baseline for each in comparisons]
    return [
        Row(measure=measure, tree=measure.of(trees), baseline=measure.of(baselines))
        for measure in MEASURES
    ]


def is_passed(comparisons: Sequence[Comparison]) -> bool:
    """The gate: the tree is as good or better on every counted measure."""
    return all(row.is_kept for row in rows_of(comparisons) if row.measure.is_counted)

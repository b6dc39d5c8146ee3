"""The ten success criteria as figures: what each measures, its goal, and whether that is met."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean, median
from typing import Any, Final, Literal, Self, TypeAlias

from oracle.evaluation.agent_runs import LIMIT_STOPS, Outcome
from oracle.evaluation.held_out import is_held_out
from oracle.evaluation.intervals import Interval, grouped, redrawn, share
from oracle.evaluation.plan import CONTROL, SIMULATED

Unit = Literal["share", "difference", "milliseconds"]
WITHOUT_MODEL: Final = "oracle eval agent --criteria"
"""The command behind figures that depend on no language model."""
ON_CAPABLE: Final = "a capable model"
ON_MISBEHAVING: Final = "simulated: misbehaving"
HELD_OUT: Final = ", held out"
"""After the name of what was asked held-out questions."""
SMALL: Final = ("openai:smollm2", "embedded")
"""Models that nobody would take for capable."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """What is measured for a criterion. `goals` holds other goals for some models. What is there
    `to_compare` has no goal.
    """

    criterion: str
    words: str
    goal: float
    at_least: bool = True
    unit: Unit = "share"
    to_compare: bool = False
    goals: Mapping[str, float] = field(default_factory=dict[str, float])

    def goal_on(self, model: str) -> float:
        return self.goals.get(model, self.goal)


MEASURES: Final[Mapping[str, Measure]] = {
    "type": Measure(criterion="SC-001", words="questions whose type is recognised", goal=0.90),
    "signals": Measure(
        criterion="SC-002",
        words="responses with a valid signal that the evidence does not contradict",
        goal=0.95,
    ),
    "needless": Measure(
        criterion="SC-003",
        words="needless tool calls saved, compared with the plain loop",
        goal=0.50,
        goals={ON_MISBEHAVING: 0.70, ON_MISBEHAVING + HELD_OUT: 0.70},
    ),
    "ends": Measure(
        criterion="SC-004", words="runs that end with an answer within all limits", goal=0.99
    ),
    "unlimited": Measure(
        criterion="SC-004", words="runs that end before a limit is reached", goal=0.99
    ),
    "complete": Measure(
        criterion="SC-005",
        words="how complete answers are, minus the plain loop's",
        goal=0.0,
        unit="difference",
    ),
    "wrongly": Measure(
        criterion="SC-005",
        words="answers wrongly called whole, minus the plain loop's",
        goal=0.0,
        at_least=False,
        unit="difference",
    ),
    "wrongly_tree": Measure(
        criterion="SC-005",
        words="answers wrongly called whole, with the tree",
        goal=0.0,
        at_least=False,
    ),
    "wrongly_plain": Measure(
        criterion="SC-005",
        words="answers wrongly called whole, with the plain loop",
        goal=0.0,
        at_least=False,
        to_compare=True,
    ),
    "heuristic": Measure(
        criterion="SC-006",
        words="runs without BERT that end with an answer and without an error",
        goal=1.0,
    ),
    "overhead": Measure(
        criterion="SC-007",
        words="time that the loop adds to a response of one second",
        goal=0.10,
        at_least=False,
    ),
    "latency": Measure(
        criterion="SC-007",
        words="median time of an answer, more than the plain loop's",
        goal=0.10,
        at_least=False,
    ),
    "parsing": Measure(
        criterion="SC-008",
        words="time to read the signals of a response of 10,000 characters",
        goal=50.0,
        at_least=False,
        unit="milliseconds",
    ),
    "logged": Measure(
        criterion="SC-009", words="signals of the models that are in the event log", goal=1.0
    ),
    "prompts": Measure(
        criterion="SC-010", words="prompts that two processes compose alike", goal=1.0
    ),
}
CRITERIA: Final[Mapping[str, str]] = {
    "SC-001": "The type of a question is recognised",
    "SC-002": "Responses carry an appropriate signal",
    "SC-003": "Fewer unnecessary tool calls than the plain loop",
    "SC-004": "Tasks are completed within the budget",
    "SC-005": "Answers are as good as the plain loop's, or better",
    "SC-006": "It works without BERT",
    "SC-007": "The tree adds little latency",
    "SC-008": "Reading signals takes little time",
    "SC-009": "All signals are logged",
    "SC-010": "Prompts are deterministic",
}
NEEDS_A_CAPABLE_MODEL: Final = (
    "signals",
    "needless",
    "ends",
    "unlimited",
    "complete",
    "wrongly",
    "wrongly_tree",
    "wrongly_plain",
    "latency",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A measure on one model, or on what else is measured. Without a value it was not measured, or
    `why` says why there is none.
    """

    measure: str
    on: str
    command: str
    count: int = 0
    value: Interval | None = None
    why: str = ""

    @property
    def is_met(self) -> Literal["", "yes", "likely", "no"]:
        """`likely`: the value meets the goal, but a part of its range does not."""
        if self.value is None:
            return ""
        measure = MEASURES[self.measure]
        if measure.to_compare:
            return ""
        goal = measure.goal_on(self.on)
        meets: Callable[[float], bool] = goal.__le__ if measure.at_least else goal.__ge__
        if not meets(self.value.mean):
            return "no"
        if measure.unit == "difference" and self.value.low == self.value.high:
            return "likely"  # a few answers that are all alike: their range is not known
        # A share of 1 always has a range below it.
        worst = self.value.low if measure.at_least else self.value.high
        return "yes" if goal == 1.0 or meets(worst) else "likely"

    def as_data(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        known: dict[str, Any] = dict(data)
        known["value"] = None if data["value"] is None else Interval(**data["value"])
        return cls(**known)


# -- from the outcomes of both loops ---------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """One question, answered by both loops with the same model."""

    tree: Outcome
    baseline: Outcome


def _needless(pairs: Sequence[Pair]) -> float:
    theirs = sum(pair.baseline.facts.needless_calls for pair in pairs)
    ours = sum(pair.tree.facts.needless_calls for pair in pairs)
    return 1 - ours / theirs if theirs else 0.0


def _signals(pairs: Sequence[Pair]) -> float:
    responses = sum(pair.tree.responses for pair in pairs)
    return sum(pair.tree.apt_signals for pair in pairs) / responses if responses else 0.0


def _latency(pairs: Sequence[Pair]) -> float:
    theirs = median(pair.baseline.facts.seconds for pair in pairs)
    return median(pair.tree.facts.seconds for pair in pairs) / theirs - 1 if theirs else 0.0


def _mean(of: Callable[[Pair], float]) -> Callable[[Sequence[Pair]], float]:
    return lambda pairs: fmean(map(of, pairs))


def _answers(outcome: Outcome) -> bool:
    return bool(outcome.facts.answer.strip())


FigureOfPairs: TypeAlias = Callable[[Sequence[Pair]], float]
OF_PAIRS: Final[Mapping[str, FigureOfPairs]] = {
    "signals": _signals,
    "needless": _needless,
    "ends": _mean(lambda pair: _answers(pair.tree) and pair.tree.kept_limits),
    "unlimited": _mean(lambda pair: pair.tree.facts.stop_reason not in LIMIT_STOPS),
    "complete": _mean(lambda pair: pair.tree.complete - pair.baseline.complete),
    "wrongly": _mean(lambda pair: pair.tree.is_wrongly_whole - pair.baseline.is_wrongly_whole),
    "wrongly_tree": _mean(lambda pair: pair.tree.is_wrongly_whole),
    "wrongly_plain": _mean(lambda pair: pair.baseline.is_wrongly_whole),
    "heuristic": _mean(
        lambda pair: _answers(pair.tree) and pair.tree.facts.stop_reason != "internal_error"
    ),
    "latency": _latency,
}


def figures_of(
    outcomes: Sequence[Outcome], commands: Mapping[str, str] | None = None
) -> Iterator[Figure]:
    """Of each group of models. `commands` says how a group was asked, where it is not obvious."""
    known = commands or {}
    pairs = [*_pairs(outcomes)]
    for on in sorted({_group(pair) for pair in pairs}, key=_order):
        own = [pair for pair in pairs if _group(pair) == on]
        for name, figure in OF_PAIRS.items():
            # A simulated model answers at once, so its seconds mean nothing.
            if name != "latency" or not on.startswith(SIMULATED):
                yield _figure_of(name, on, own, figure, known.get(on, command_for(on)))


def not_measured(figures: Sequence[Figure]) -> Iterator[Figure]:
    """What needs a capable model, if none was asked."""
    if not any(is_capable(figure.on) for figure in figures if figure.measure in OF_PAIRS):
        for name in NEEDS_A_CAPABLE_MODEL:
            yield Figure(measure=name, on=ON_CAPABLE, command=command_for("MODEL"))


def _group(pair: Pair) -> str:
    return group_of(pair.tree.model) + (HELD_OUT if is_held_out(pair.tree.question) else "")


def group_of(model: str) -> str:
    """Simulated models are measured together: the control, and all that misbehave."""
    if not model.startswith(SIMULATED):
        return model
    character = model.removeprefix(SIMULATED).partition("/")[0]
    return f"simulated: {CONTROL}" if character == CONTROL else ON_MISBEHAVING


def command_for(on: str) -> str:
    """The command that asks a group of models."""
    models, held_out, _ = on.partition(HELD_OUT)
    option = f"--model {models}"
    if on.startswith(SIMULATED):
        option = f"--simulated {CONTROL if models.endswith(CONTROL) else 'all'}"
    return f"oracle eval agent --criteria {option}" + " --held-out" * bool(held_out)


def is_capable(on: str) -> bool:
    return not on.startswith(SIMULATED) and on not in SMALL


def _order(on: str) -> tuple[bool, bool, bool, str]:
    is_misbehaving = on.startswith(ON_MISBEHAVING)
    return not on.startswith(SIMULATED), HELD_OUT in on, is_misbehaving, on


def _pairs(outcomes: Sequence[Outcome]) -> Iterator[Pair]:
    found = {each.key: each for each in outcomes}
    for tree in outcomes:
        other = (tree.model, "baseline", tree.question, tree.repeat)
        if tree.loop == "tree" and other in found:
            yield Pair(tree=tree, baseline=found[other])


def _figure_of(
    name: str, on: str, pairs: Sequence[Pair], figure: FigureOfPairs, command: str
) -> Figure:
    value, why = None, ""
    if name == "needless" and not any(pair.baseline.facts.needless_calls for pair in pairs):
        why = "the plain loop made none"
    elif name == "signals" and not any(pair.tree.responses for pair in pairs):
        why = "no response was whole"
    else:
        groups = grouped(pairs, by=lambda pair: pair.tree.question)
        value = redrawn(groups, figure)
        if MEASURES[name].unit == "share" and value.low == value.high and value.mean in (0, 1):
            value = share(value.mean * len(groups), len(groups))
    return Figure(measure=name, on=on, command=command, count=len(pairs), value=value, why=why)

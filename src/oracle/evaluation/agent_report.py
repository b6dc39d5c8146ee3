"""What the outcomes of an evaluation come to: measures of each model and loop, with intervals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any, Final, cast

from oracle.errors import InputError
from oracle.evaluation.agent_runs import LIMIT_STOPS, Outcome
from oracle.evaluation.intervals import Interval, interval, share
from oracle.services.comparison.comparing import Loop


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentMeasure:
    """`is_share` says that `of` is a yes or a no."""

    name: str
    of: Callable[[Outcome], float]
    digits: int = 2
    is_share: bool = False

    def over(self, outcomes: Sequence[Outcome]) -> Interval:
        values = [float(self.of(each)) for each in outcomes]
        # Drawn again, answers that are all alike stay alike, as if the figure were certain.
        if self.is_share and values and len({*values}) == 1:
            return share(sum(values), len(values))
        return interval(values)


MEASURES: Final[Sequence[AgentMeasure]] = (
    AgentMeasure(name="right", of=lambda each: each.is_right, is_share=True),
    AgentMeasure(name="complete", of=lambda each: each.complete),
    AgentMeasure(name="wrongly called whole", of=lambda each: each.is_wrongly_whole, is_share=True),
    AgentMeasure(
        name="ends with an answer",
        of=lambda each: bool(each.facts.answer.strip()),
        is_share=True,
    ),
    AgentMeasure(
        name="ends within its limits",
        of=lambda each: each.facts.stop_reason not in LIMIT_STOPS,
        is_share=True,
    ),
    AgentMeasure(name="tool calls", of=lambda each: each.facts.calls, digits=1),
    AgentMeasure(name="needless tool calls", of=lambda each: each.facts.needless_calls, digits=1),
    AgentMeasure(name="turns", of=lambda each: each.facts.turns, digits=1),
    AgentMeasure(name="tokens", of=lambda each: each.facts.tokens, digits=0),
    AgentMeasure(name="seconds", of=lambda each: each.facts.seconds),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentRow:
    """One measure of one model, for both loops, each over `count` answers."""

    model: str
    count: int
    measure: AgentMeasure
    tree: Interval
    baseline: Interval


def rows_of(outcomes: Sequence[Outcome]) -> Iterator[AgentRow]:
    by_model = sorted(outcomes, key=lambda each: each.model)
    for model, group in groupby(by_model, key=lambda each: each.model):
        some = [*group]
        loops = {
            loop: [each for each in some if each.loop == loop] for loop in ("tree", "baseline")
        }
        for measure in MEASURES:
            yield AgentRow(
                model=model,
                count=max(map(len, loops.values())),
                measure=measure,
                tree=measure.over(loops["tree"]),
                baseline=measure.over(loops["baseline"]),
            )


# -- kept between two calls ------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Results:
    """What a file has. `unreadable` are the numbers of lines that are not whole, for example
    because of a crash. `spent` counts also runs whose outcome does not count.
    """

    outcomes: Sequence[Outcome] = ()
    unreadable: Sequence[int] = ()
    spent: float = 0.0

    def of_agent(self, agent: str) -> Results:
        """Without those of other trees, prompts or limits. What they have cost still counts."""
        return replace(self, outcomes=[each for each in self.outcomes if each.agent == agent])

    def of_the_last_agent(self) -> Results:
        return self.of_agent(self.outcomes[-1].agent) if self.outcomes else self


def read_outcomes(file: Path) -> list[Outcome]:
    """The outcomes that count."""
    return [*read_results(file).outcomes]


def read_results(file: Path) -> Results:
    if not file.exists():
        return Results()
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{file}: cannot be read ({problem}); name another file") from None
    outcomes: list[Outcome] = []
    unreadable: list[int] = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            outcomes += [_outcome(json.loads(line))] if line.strip() else []
        except json.JSONDecodeError:
            unreadable.append(number)
        except (AttributeError, KeyError, TypeError, ValueError) as problem:
            raise InputError(
                f"{file}:{number}: not a result of `oracle eval agent` ({problem}); "
                "name another file"
            ) from None
    return Results(
        outcomes=[each for each in outcomes if not each.is_cut],
        unreadable=unreadable,
        spent=sum(each.facts.money or 0.0 for each in outcomes),
    )


def _outcome(data: Any) -> Outcome:
    if not isinstance(data, dict):
        raise TypeError("it is not an object")
    outcome = Outcome.from_data(cast("dict[str, Any]", data))
    # Read as JSON, a measure may be a text, or "not a number", which no comparison would notice.
    if not 0 <= outcome.complete <= 1:
        raise ValueError(f"complete is {outcome.complete}")
    return outcome


def append_outcome(file: Path, outcome: Outcome) -> None:
    data: Mapping[str, Any] = outcome.as_data()
    _end_last_line(file)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(data) + "\n")


def _end_last_line(file: Path) -> None:
    """Cut off a line that a crash has torn, so that the next one is not glued to it. A whole line
    that only lacks its end gets it.
    """
    content = file.read_bytes() if file.exists() else b""
    if not content or content.endswith(b"\n"):
        return
    before, newline, last = content.rpartition(b"\n")
    try:
        _outcome(json.loads(last))
    except (AttributeError, KeyError, TypeError, ValueError):
        with file.open("r+b") as torn:
            torn.truncate(len(before) + len(newline))
    else:
        with file.open("ab") as whole:
            whole.write(b"\n")


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """How a question that both results have fared: `complete` before and after."""

    model: str
    loop: Loop
    question: str
    before: float
    after: float


def changes(before: Sequence[Outcome], after: Sequence[Outcome]) -> list[Change]:
    """The questions whose answers got more or less complete, worst first."""
    known = {each.key: each for each in before}
    found = [
        Change(
            model=each.model,
            loop=each.loop,
            question=each.question,
            before=known[each.key].complete,
            after=each.complete,
        )
        for each in after
        if each.key in known and known[each.key].complete != each.complete
    ]
    return sorted(found, key=lambda change: change.after - change.before)


@dataclass(frozen=True, kw_only=True, slots=True)
class Total:
    """A measure of one loop, as the mean over all questions that both results have."""

    loop: Loop
    measure: AgentMeasure
    before: float
    after: float


def totals(before: Sequence[Outcome], after: Sequence[Outcome]) -> list[Total]:
    known = {each.key: each for each in before}
    pairs = [(known[each.key], each) for each in after if each.key in known]
    found: list[Total] = []
    loops: tuple[Loop, ...] = ("tree", "baseline")
    for loop in loops:
        own = [pair for pair in pairs if pair[1].loop == loop]
        for measure in MEASURES if own else ():
            old, new = (fmean(measure.of(pair[side]) for pair in own) for side in (0, 1))
            found.append(Total(loop=loop, measure=measure, before=old, after=new))
    return found

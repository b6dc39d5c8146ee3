"""Measures how well the fallback judges a run, on labelled situations."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final, TypeAlias

from oracle import evaluation
from oracle.evaluation.labelled import Part
from oracle.services.bert.bert import Readers
from oracle.services.bert.fallback import ACTIONS, combined_classify
from oracle.services.bert.prototypes import STATES, last_sentences
from oracle.services.fallback_classifier import FallbackClassification, heuristic_classify

_STATE_OF: Final = {action: state for state, action in ACTIONS.items()}


@dataclass(frozen=True, kw_only=True)
class Situation:
    """`tools` are calls with what became of them, such as `read_file failed`.

    `strategy` is what helps if the agent is confused; otherwise None.
    """

    query: str
    said: str
    silent: int
    confidence: float | None
    tools: tuple[str, ...]
    state: str
    strategy: str | None

    @property
    def results(self) -> list[dict[str, Any]]:
        return [_result(*call.split()) for call in self.tools]


@dataclass(frozen=True, kw_only=True)
class Judged:
    state: str
    strategy: str | None = None


Judge: TypeAlias = Callable[[Situation], Judged]


@dataclass(frozen=True, kw_only=True)
class SituationReport:
    """`confusion[truth, given]` is a count. `strategies` is right and all of the confused ones."""

    count: int
    accuracy: float
    confusion: Mapping[tuple[str, str], int]
    strategies: tuple[int, int]
    mistakes: tuple[tuple[Situation, Judged], ...]


def situations(part: Part) -> list[Situation]:
    text = files(evaluation).joinpath("data", f"fallback_{part}.jsonl").read_text("utf-8")
    rows: list[Any] = [json.loads(line) for line in text.splitlines()]
    return [Situation(**(row | {"tools": tuple(row["tools"])})) for row in rows]


def evaluate(rows: Sequence[Situation], judge: Judge) -> SituationReport:
    judged = [(row, judge(row)) for row in rows]
    right = sum(given.state == row.state for row, given in judged)
    labelled = [(row, given) for row, given in judged if row.strategy is not None]
    return SituationReport(
        count=len(rows),
        accuracy=right / len(rows) if rows else 0.0,
        confusion=Counter((row.state, given.state) for row, given in judged),
        strategies=(sum(row.strategy == given.strategy for row, given in labelled), len(labelled)),
        mistakes=tuple(pair for pair in judged if pair[0].state != pair[1].state),
    )


def by_heuristic(row: Situation) -> Judged:
    """The first strategy of the tree is always to rephrase the search."""
    return Judged(state=_STATE_OF[_heuristic(row).action], strategy="rephrase")


def by_bert(readers: Readers) -> Judge:
    """BERT alone: without words, there is nothing to judge by, and the run goes on."""

    def judge(row: Situation) -> Judged:
        said = last_sentences(row.said)
        if not said:
            return Judged(state=STATES[0])
        found = readers.prototypes.situation(said)
        return Judged(state=_best(found["states"]), strategy=_best(found["strategies"]))

    return judge


def by_both(readers: Readers) -> Judge:
    def judge(row: Situation) -> Judged:
        said = last_sentences(row.said)
        if not said:
            return by_heuristic(row)
        found = readers.prototypes.situation(said)
        decision = combined_classify(_heuristic(row), found, row.results)
        return Judged(state=_STATE_OF[decision.action], strategy=_best(found["strategies"]))

    return judge


def _heuristic(row: Situation) -> FallbackClassification:
    return heuristic_classify(row.query, row.said, row.silent, row.results, row.confidence)


def _result(name: str, outcome: str) -> dict[str, Any]:
    return {
        "name": name,
        "success": outcome != "failed",
        "empty": outcome != "ok",
        "pending": outcome == "pending",
    }


def _best(probabilities: Mapping[str, float]) -> str:
    return max(probabilities, key=lambda each: probabilities[each])

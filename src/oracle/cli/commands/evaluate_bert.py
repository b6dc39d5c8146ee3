"""The tables of `oracle eval … --bert`: the default, BERT alone, and both."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

import typer

from oracle.cli.terminal.tables import Column, shown_width, table_lines
from oracle.errors import InputError

if TYPE_CHECKING:
    from oracle.evaluation.labelled import Labelled, Part
    from oracle.evaluation.situations import Judge, Situation, SituationReport
    from oracle.services.bert.bert import Readers

Row = TypeVar("Row")
Judged = TypeVar("Judged")


def compare_classifiers(part: Part) -> None:
    from oracle.evaluation.classification import by_bert, by_both, by_default, evaluate
    from oracle.evaluation.labelled import broad_and_narrow, conversations, singles

    readers = _opened()
    sets: Mapping[str, Sequence[Labelled]] = {
        "single questions": singles(part),
        "conversations": conversations(part),
        "broad and narrow questions": broad_and_narrow(part),
    }
    ways = {"default": by_default, "BERT": by_bert(readers), "both": by_both(readers)}
    columns = (Column(f"{part.upper()} PART"), Column("BY"), *_numbers("COUNT", "RIGHT", "95 % MS"))
    rows: list[tuple[str, ...]] = []
    for title, labelled in sets.items():
        for way, classify in ways.items():
            timed = Timed(classify)
            accuracy = evaluate(labelled, timed).accuracy
            named = title if way == "default" else ""
            rows.append((named, way, str(len(labelled)), f"{accuracy:.1%}", timed.slow))
    _print(columns, rows)


def compare_fallbacks(part: Part, *, bert: bool, mistakes: bool) -> None:
    from oracle.evaluation.situations import by_bert, by_both, by_heuristic, evaluate, situations

    ways: dict[str, Judge] = {"heuristic": by_heuristic}
    if bert:
        readers = _opened()
        ways |= {"BERT": by_bert(readers), "both": by_both(readers)}
    labelled = situations(part)
    columns = (
        Column(f"{part.upper()} PART"),
        *_numbers("COUNT", "RIGHT", "STRATEGY", "95 % MS"),
    )
    rows: list[tuple[str, ...]] = []
    for way, judge in ways.items():
        timed = Timed(judge)
        report = evaluate(labelled, timed)
        right, all_ = report.strategies
        counts = (str(report.count), f"{report.accuracy:.1%}", f"{right} of {all_}", timed.slow)
        rows.append((way, *counts))
    _print(columns, rows)
    # Of the last way: the one that a run would use.
    report = evaluate(labelled, list(ways.values())[-1])
    typer.echo()
    _print_confusion(report)
    if mistakes:
        typer.echo("\n" + "\n".join(_mistakes(report)))


def _print_confusion(report: SituationReport) -> None:
    from oracle.services.bert.prototypes import STATES

    columns = (Column("LABELLED / GIVEN"), *_numbers(*(state.upper() for state in STATES)))
    rows = [
        (truth, *(str(report.confusion.get((truth, given), 0)) for given in STATES))
        for truth in STATES
    ]
    _print(columns, rows)


def _mistakes(report: SituationReport) -> Iterable[str]:
    return (f"{row.state} taken for {given.state}: {_words(row)}" for row, given in report.mistakes)


def _words(row: Situation) -> str:
    return f"{row.query!r}: {row.said[-80:]!r} ({', '.join(row.tools) or 'no calls'})"


class Timed(Generic[Row, Judged]):
    """Calls a function and remembers how long each call took."""

    def __init__(self, function: Callable[[Row], Judged]) -> None:
        self._function = function
        self._seconds: list[float] = []

    def __call__(self, row: Row) -> Judged:
        began = time.perf_counter()
        try:
            return self._function(row)
        finally:
            self._seconds.append(time.perf_counter() - began)

    @property
    def slow(self) -> str:
        """The time within which 95 % of the calls have returned, in milliseconds."""
        return f"{1000 * sorted(self._seconds)[int(0.95 * len(self._seconds))]:.1f}"


def _opened() -> Readers:
    from oracle.services.bert.bert import open_readers
    from oracle.services.bert.minilm import BertMissing

    try:
        return open_readers()
    except BertMissing as problem:
        raise InputError(f"BERT {problem}") from None


def _numbers(*headings: str) -> list[Column]:
    return [Column(heading, is_number=True) for heading in headings]


def _print(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    typer.echo("\n".join(table_lines(columns, rows, width=shown_width())))

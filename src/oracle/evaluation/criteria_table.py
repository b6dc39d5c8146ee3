"""The success criteria as a table, for a terminal and for the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from oracle.evaluation.criteria import CRITERIA, MEASURES, Figure, Measure

NOT_MEASURED: Final = "not measured"
HEADINGS: Final = ("criterion", "measured", "figure", "goal", "met", "on", "n", "command")


class CriterionRow(NamedTuple):
    """The cells of one figure. Of several in a row the first one names the criterion."""

    criterion: str
    measured: str
    figure: str
    goal: str
    met: str
    on: str
    n: str
    command: str


def criterion_rows(figures: Iterable[Figure]) -> Iterator[CriterionRow]:
    """In the order of the criteria; every criterion has a row."""
    places = [*MEASURES]
    ordered = sorted(figures, key=lambda figure: places.index(figure.measure))
    for criterion in CRITERIA:
        own = [each for each in ordered if MEASURES[each.measure].criterion == criterion]
        if not own:
            yield CriterionRow(criterion, CRITERIA[criterion], NOT_MEASURED, "", "", "", "", "")
        for place, figure in enumerate(own):
            yield _row(figure, "" if place else criterion)


def markdown(figures: Sequence[Figure]) -> str:
    rows = [HEADINGS, tuple("---" for _ in HEADINGS)]
    for row in criterion_rows(figures):
        criterion = f"**{row.criterion}** {CRITERIA[row.criterion]}" if row.criterion else ""
        command = f"`{row.command}`" if row.command else ""
        rows.append((criterion, *row[1:-1], command))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def _row(figure: Figure, criterion: str) -> CriterionRow:
    measure = MEASURES[figure.measure]
    goal = f"{'≥' if measure.at_least else '≤'} {_goal(measure.goal_on(figure.on), measure)}"
    return CriterionRow(
        criterion,
        measure.words,
        _value(figure, measure),
        "" if measure.to_compare else goal,
        figure.is_met,
        figure.on,
        f"{figure.count:,}" if figure.count else "",
        figure.command,
    )


def _value(figure: Figure, measure: Measure) -> str:
    if figure.value is None:
        return figure.why or NOT_MEASURED
    mean, low, high = (
        _shown(each, measure) for each in (figure.value.mean, figure.value.low, figure.value.high)
    )
    return mean if low == high else f"{mean} ({low} to {high})"


def _goal(value: float, measure: Measure) -> str:
    return f"{100 * value:.0f} %" if measure.unit == "share" else _shown(value, measure)


def _shown(value: float, measure: Measure) -> str:
    match measure.unit:
        case "share":
            return f"{100 * value:.1f} %"
        case "difference":
            return f"{value:+.2f}" if round(value, 2) else "0.00"
        case "milliseconds":
            return f"{value:.1f} ms"

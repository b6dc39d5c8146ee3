"""What `oracle signals report` shows, as tables that a terminal and a page can draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oracle.evaluation.adherence import Adherence
from oracle.evaluation.calibration import ModelCalibration

MOST_ROWS: Final = 8
"""Of what is counted by its wording, such as problems, for each model."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A table. The first `texts` columns are texts, the others numbers."""

    title: str
    headings: tuple[str, ...]
    texts: int
    rows: tuple[tuple[str, ...], ...]


def sections_of(
    adherence: Sequence[Adherence], calibrations: Sequence[ModelCalibration]
) -> Iterator[Section]:
    """Sections without a row are left out."""
    for section in (*_about_signals(adherence), *_about_confidence(calibrations)):
        if section.rows:
            yield section


def _about_signals(models: Sequence[Adherence]) -> Iterator[Section]:
    yield Section(
        title="Responses with a valid signal",
        headings=("model", "runs", "responses", "valid", "malformed", "missing"),
        texts=1,
        rows=tuple((each.model, *_shares(each)) for each in models),
    )
    yield Section(
        title="Valid signals with another fault",
        headings=("model", "second signal", "text after it", "not believed"),
        texts=1,
        rows=tuple(
            (each.model, *map(str, (each.second, each.misplaced, each.not_believed)))
            for each in models
        ),
    )
    yield _counted("Types of signals", "type", models, lambda each: each.types)
    yield _counted("Problems", "problem", models, lambda each: each.problems)
    yield Section(
        title="What the tree did",
        headings=("model", "after", "what", "times"),
        texts=3,
        rows=tuple(
            (each.model, after, what, str(count))
            for each in models
            for (after, what), count in [*each.reactions.items()][:MOST_ROWS]
        ),
    )


def _shares(each: Adherence) -> tuple[str, ...]:
    valid = each.valid_share
    return (
        str(each.runs),
        str(each.responses),
        f"{valid.mean:.0%} ({valid.low:.0%} to {valid.high:.0%})" if each.responses else "none",
        str(each.malformed),
        str(each.missing),
    )


def _counted(
    title: str,
    what: str,
    models: Sequence[Adherence],
    of: Callable[[Adherence], Mapping[str, int]],
) -> Section:
    rows = tuple(
        (each.model, name, str(count))
        for each in models
        for name, count in [*of(each).items()][:MOST_ROWS]
    )
    return Section(title=title, headings=("model", what, "times"), texts=2, rows=rows)


def _about_confidence(models: Sequence[ModelCalibration]) -> Iterator[Section]:
    yield Section(
        title="Calibration: confidence of the last signal, and answers that are right",
        headings=("model", "confidence", "answers", "mean confidence", "right"),
        texts=2,
        rows=tuple(
            (
                each.model,
                f"{of.low:.1f} to {of.high:.1f}",
                str(of.count),
                f"{of.confidence:.2f}",
                f"{of.accuracy:.2f} ({of.interval.low:.2f} to {of.interval.high:.2f})",
            )
            for each in models
            for of in each.bins
        ),
    )
    yield Section(
        title="Expected calibration error",
        headings=("model", "answers", "without a signal", "error"),
        texts=1,
        rows=tuple(
            (
                each.model,
                str(each.count),
                str(each.silent),
                f"{each.error:.2f}" if each.count else "",
            )
            for each in models
        ),
    )

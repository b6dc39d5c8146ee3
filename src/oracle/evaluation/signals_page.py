"""One page about signals: bars of each model's adherence, plots of its calibration, and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from oracle.evaluation.adherence import Adherence
from oracle.evaluation.calibration import CalibrationBin, ModelCalibration
from oracle.evaluation.signals_report import sections_of
from oracle.services.report_page import Heading, Square, page, plot, table, text

WIDTH, LINE, NAMES = 760, 26, 240
"""A plot of bars: its width, the height of a bar, and the room for the names of models."""
_KINDS: Final = (("valid", "good"), ("malformed", "middle"), ("missing", "bad"))


def signals_page(adherence: Sequence[Adherence], calibrations: Sequence[ModelCalibration]) -> str:
    return page("Signals", _parts(adherence, [each for each in calibrations if each.count]))


def _parts(
    adherence: Sequence[Adherence], calibrations: Sequence[ModelCalibration]
) -> Iterator[str]:
    if adherence:
        yield text("Each response should carry one valid signal, and no text after it.")
        yield _bars(adherence)
    if calibrations:
        yield text(
            "A dot is all answers with about the same confidence, and larger if these are many. "
            "On the line, a model is right as often as it says. The bars are ranges of 95 %."
        )
        yield from map(_reliability, calibrations)
    for section in sections_of(adherence, calibrations):
        headings = [
            Heading(each, is_number=place >= section.texts)
            for place, each in enumerate(section.headings)
        ]
        yield f"<h2>{escape(section.title)}</h2>"
        yield table(headings, section.rows)


def _bars(models: Sequence[Adherence]) -> str:
    shapes = "".join(_bar(place, each) for place, each in enumerate(models))
    legend = "".join(
        f'<rect class="{kind}" x="{NAMES + 110 * place}" y="0" width="12" height="12"/>'
        f'<text x="{NAMES + 110 * place + 18}" y="10">{name}</text>'
        for place, (name, kind) in enumerate(_KINDS)
    )
    height = LINE * (len(models) + 1)
    return plot("Responses by model", legend + shapes, width=WIDTH, height=height)


def _bar(place: int, each: Adherence) -> str:
    y, left = LINE * (place + 1), float(NAMES)
    found = (
        f'<text x="{NAMES - 8}" y="{y + 13}" text-anchor="end">{escape(_cut(each.model))}</text>'
    )
    for name, kind in _KINDS:
        count = getattr(each, name)
        width = (WIDTH - NAMES) * count / max(1, each.responses)
        found += (
            f'<rect class="{kind}" x="{left:.1f}" y="{y}" width="{width:.1f}" height="{LINE - 8}">'
            f"<title>{name}: {count} of {each.responses}</title></rect>"
        )
        left += width
    return found


def _cut(name: str) -> str:
    return name if len(name) <= 36 else f"{name[:35]}…"


def _reliability(each: ModelCalibration) -> str:
    square = Square(across="confidence", up="right")
    most = max(of.count for of in each.bins)
    title = f"{_cut(each.model)} (error {each.error:.2f}, n = {each.count})"
    return square.drawn(title, "".join(_dot(square, of, most) for of in each.bins))


def _dot(square: Square, of: CalibrationBin, most: int) -> str:
    x, likely = square.x(of.confidence), of.interval
    return (
        f'<line class="range" x1="{x}" y1="{square.y(likely.low)}" '
        f'x2="{x}" y2="{square.y(likely.high)}"/>'
        f'<circle class="dot" cx="{x}" cy="{square.y(of.accuracy)}" '
        f'r="{3 + 5 * (of.count / most) ** 0.5:.1f}">'
        f"<title>confidence {of.confidence:.2f}, right {of.accuracy:.2f}, n = {of.count}</title>"
        "</circle>"
    )

"""A page with a report: tables and plots in one file that needs nothing from outside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY
from html import escape
from importlib.resources import files
from typing import Final

from oracle import services
from oracle.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    text: str
    _: KW_ONLY
    is_number: bool = False


def page(title: str, parts: Iterable[str]) -> str:
    """The parts are HTML."""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{_style()}</style></head><body>",
            f"<h1>{escape(title)}</h1>",
            *parts,
            "</body></html>\n",
        ]
    )


def _style() -> str:
    return files(services).joinpath("report_page.css").read_text("utf-8")


def table(headings: Sequence[Heading], rows: Iterable[Sequence[str]]) -> str:
    """The cells are text. One that is a verdict, such as `worse`, is coloured."""
    head = "".join(f"<th{_class(each, '')}>{escape(each.text)}</th>" for each in headings)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{_class(heading, cell)}>{escape(cell)}</td>"
            for heading, cell in zip(headings, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def text(words: str) -> str:
    return f"<p>{escape(words)}</p>"


def plot(title: str, shapes: str, *, width: int, height: int) -> str:
    """A figure with its title. The shapes are SVG."""
    return (
        f'<figure style="width: {width}px"><figcaption>{escape(title)}</figcaption>'
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(title)}">{shapes}</svg></figure>'
    )


SIDE: Final = 280
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 10, 36
"""The room around a square plot, for its axes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Square:
    """A plot with both axes from 0 to `most`, and a line where they are equal."""

    across: str
    up: str
    most: float = 1.0

    def x(self, value: float) -> float:
        return round(LEFT + value / self.most * (SIDE - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        return round(SIDE - BOTTOM - value / self.most * (SIDE - TOP - BOTTOM), 1)

    def drawn(self, title: str, shapes: str) -> str:
        right, bottom = SIDE - RIGHT, SIDE - BOTTOM
        most = _in_short(self.most)
        axes = (
            f'<line class="axis" x1="{LEFT}" y1="{bottom}" x2="{right}" y2="{bottom}"/>'
            f'<line class="axis" x1="{LEFT}" y1="{bottom}" x2="{LEFT}" y2="{TOP}"/>'
            f'<line class="even" x1="{LEFT}" y1="{bottom}" x2="{right}" y2="{TOP}"/>'
            f'<text x="{LEFT - 4}" y="{bottom}" text-anchor="end">0</text>'
            f'<text x="{LEFT - 4}" y="{TOP + 8}" text-anchor="end">{most}</text>'
            f'<text x="{right}" y="{bottom + 14}" text-anchor="end">{most}</text>'
            f'<text x="{(LEFT + right) / 2}" y="{SIDE - 6}" text-anchor="middle">'
            f"{escape(self.across)}</text>"
            f'<text transform="translate(12 {(TOP + bottom) / 2}) rotate(-90)" '
            f'text-anchor="middle">{escape(self.up)}</text>'
        )
        return plot(title, axes + shapes, width=SIDE, height=SIDE)


def _in_short(value: float) -> str:
    """Short enough for the room beside an axis.

    >>> _in_short(0.5), _in_short(950), _in_short(306_126), _in_short(2_400_000)
    ('0.5', '950', '306k', '2.4M')
    """
    for size, sign in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:.3g}{sign}"
    return f"{value:.3g}"


_VERDICTS: Final = ("worse", "kept", "yes", "no")


def _class(heading: Heading, cell: str) -> str:
    names = [name for name in ("n",) if heading.is_number] + [v for v in _VERDICTS if v == cell]
    return f' class="{" ".join(names)}"' if names else ""

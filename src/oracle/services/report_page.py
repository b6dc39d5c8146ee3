"""A page with a report: tables and plots in one file that needs nothing from outside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from html import escape
from typing import Final

_STYLE: Final = """
:root { color-scheme: light dark; --text: #1f2328; --back: #fff; --line: #d8dee4; --faint: #57606a;
        --good: #1a7f37; --bad: #b42318; --dot: #2f6feb; --middle: #bf8700; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --back: #0d1117; --line: #30363d; --faint: #9198a1;
          --good: #3fb950; --bad: #f85149; --dot: #58a6ff; --middle: #d29922; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
       color: var(--text); background: var(--back); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 0 0 1rem; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line);
         vertical-align: top; overflow-wrap: break-word; }
th { color: var(--faint); font-weight: 600; vertical-align: bottom; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
td.n { white-space: nowrap; }
.worse, .no { color: var(--bad); } .kept, .yes { color: var(--good); }
.faint { color: var(--faint); }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
figure { display: inline-block; max-width: 100%; margin: 0 1rem 1rem 0; vertical-align: bottom; }
figcaption { font-size: .9rem; font-weight: 600; margin-bottom: .3rem; overflow-wrap: anywhere; }
svg { max-width: 100%; height: auto; }
svg text { font: 11px system-ui, sans-serif; fill: var(--faint); }
.axis { stroke: var(--faint); } .even { stroke: var(--faint); stroke-dasharray: 4; }
.dot { fill: var(--dot); fill-opacity: .65; } .range { stroke: var(--dot); }
.good { fill: var(--good); } .middle { fill: var(--middle); } .bad { fill: var(--bad); }
"""


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
            f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{escape(title)}</h1>",
            *parts,
            "</body></html>\n",
        ]
    )


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
        most = f"{self.most:,.3g}" if self.most < 1000 else f"{self.most:,.0f}"
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


_VERDICTS: Final = ("worse", "kept", "yes", "no")


def _class(heading: Heading, cell: str) -> str:
    names = [name for name in ("n",) if heading.is_number] + [v for v in _VERDICTS if v == cell]
    return f' class="{" ".join(names)}"' if names else ""

"""One page with plots of all comparisons, without anything from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Final

from oracle.services.comparison.comparing import Comparison, Row, rows_of
from oracle.services.comparison.facts import LoopFacts

_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #1f2328; background: #fff; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { text-align: left; padding: .3rem .8rem; border-bottom: 1px solid #d8dee4; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
.worse { color: #b42318; } .kept { color: #1a7f37; }
figure { display: inline-block; margin: 0 1rem 1rem 0; } figcaption { font-size: .9rem; }
.tree { fill: #2f6feb; } .line { stroke: #8c959f; stroke-dasharray: 4; } .axis { stroke: #57606a; }
@media (prefers-color-scheme: dark) { body { background: #0d1117; color: #e6edf3; }
  th, td { border-color: #30363d; } }
"""
SIDE: Final = 220
"""Width and height of a plot."""
_PLOTS: Final[Sequence[tuple[str, Callable[[LoopFacts], float]]]] = (
    ("tool calls", lambda facts: facts.calls),
    ("needless tool calls", lambda facts: facts.needless_calls),
    ("turns", lambda facts: facts.turns),
    ("tokens", lambda facts: facts.tokens),
    ("seconds", lambda facts: facts.seconds),
)


def page_of(comparisons: Sequence[Comparison]) -> str:
    models = ", ".join(sorted({comparison.model for comparison in comparisons}))
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>Tree and plain loop</title><style>{_STYLE}</style></head><body>",
            "<h1>Tree and plain loop</h1>",
            f"<p>{len(comparisons)} questions, model {escape(models)}.</p>",
            _measures(rows_of(comparisons)),
            "<p>Each dot is a question. Below the line, the tree needed less.</p>",
            *(_plot(title, comparisons, of) for title, of in _PLOTS),
            _questions(comparisons),
            "</body></html>\n",
        ]
    )


def _measures(rows: Sequence[Row]) -> str:
    body = "".join(
        f"<tr><td>{escape(row.measure.name)}</td>"
        f'<td class="n">{row.tree:,.{row.measure.digits}f}</td>'
        f'<td class="n">{row.baseline:,.{row.measure.digits}f}</td>'
        f'<td class="{row.verdict}">{row.verdict}</td></tr>'
        for row in rows
    )
    head = '<tr><th>measure</th><th class="n">tree</th><th class="n">plain loop</th><th></th></tr>'
    return f"<table>{head}{body}</table>"


def _plot(title: str, comparisons: Sequence[Comparison], of: Callable[[LoopFacts], float]) -> str:
    pairs = [(of(comparison.baseline), of(comparison.tree)) for comparison in comparisons]
    most = max(1.0, *(value for pair in pairs for value in pair))
    scale = (SIDE - 20) / most
    dots = "".join(
        f'<circle class="tree" cx="{10 + x * scale:.1f}" cy="{SIDE - 10 - y * scale:.1f}" r="3">'
        f"<title>plain loop {x:g}, tree {y:g}</title></circle>"
        for x, y in pairs
    )
    far = SIDE - 10
    return (
        f'<figure><svg width="{SIDE}" height="{SIDE}" role="img" aria-label="{title}">'
        f'<line class="axis" x1="10" y1="{far}" x2="{far}" y2="{far}"/>'
        f'<line class="axis" x1="10" y1="{far}" x2="10" y2="10"/>'
        f'<line class="line" x1="10" y1="{far}" x2="{far}" y2="10"/>{dots}</svg>'
        f"<figcaption>{title}: plain loop → , tree ↑, up to {most:,.4g}</figcaption></figure>"
    )


def _questions(comparisons: Sequence[Comparison]) -> str:
    head = (
        "<tr><th>question</th><th>tree</th><th>plain loop</th>"
        '<th class="n">calls</th><th class="n">shared wording</th></tr>'
    )
    return f"<h2>Questions</h2><table>{head}{''.join(_rows(comparisons))}</table>"


def _rows(comparisons: Sequence[Comparison]) -> Iterator[str]:
    for each in comparisons:
        yield (
            f"<tr><td>{escape(each.question)}</td><td>{escape(each.tree.stop_reason)}</td>"
            f"<td>{escape(each.baseline.stop_reason)}</td>"
            f'<td class="n">{each.tree.calls} / {each.baseline.calls}</td>'
            f'<td class="n">{each.shared_words:.0%}</td></tr>'
        )

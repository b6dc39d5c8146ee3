"""One page with plots of all comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from oracle.services.comparison.choosing import Chosen
from oracle.services.comparison.comparing import Comparison, Row, rows_of
from oracle.services.comparison.facts import LoopFacts
from oracle.services.report_page import Heading, Square, page, table, text

_PLOTS: Final[Sequence[tuple[str, Callable[[LoopFacts], float]]]] = (
    ("tool calls", lambda facts: facts.calls),
    ("needless tool calls", lambda facts: facts.needless_calls),
    ("turns", lambda facts: facts.turns),
    ("tokens", lambda facts: facts.tokens),
    ("seconds", lambda facts: facts.seconds),
)


def page_of(found: Chosen) -> str:
    comparisons = found.counted
    models = ", ".join(sorted({comparison.model for comparison in comparisons}))
    return page(
        "Tree and plain loop",
        [
            text(f"{found.words()}, model {models}."),
            _measures(rows_of(comparisons)),
            text("Each dot is a run. Below the line, the tree needed less."),
            *(_scatter(title, comparisons, of) for title, of in _PLOTS),
            "<h2>Questions</h2>",
            _questions(comparisons),
            *_left_out(found),
        ],
    )


def _measures(rows: Sequence[Row]) -> str:
    numbers = (Heading(loop, is_number=True) for loop in ("tree", "plain loop"))
    return table(
        (Heading("measure"), *numbers, Heading("")),
        (
            (
                row.measure.name,
                f"{row.tree:,.{row.measure.digits}f}",
                f"{row.baseline:,.{row.measure.digits}f}",
                row.verdict,
            )
            for row in rows
        ),
    )


def _scatter(
    title: str, comparisons: Sequence[Comparison], of: Callable[[LoopFacts], float]
) -> str:
    pairs = [(of(comparison.baseline), of(comparison.tree)) for comparison in comparisons]
    most = max(1.0, *(value for pair in pairs for value in pair))
    square = Square(across="plain loop", up="tree", most=most)
    dots = "".join(
        f'<circle class="dot" cx="{square.x(x)}" cy="{square.y(y)}" r="4">'
        f"<title>plain loop {x:,.6g}, tree {y:,.6g}</title></circle>"
        for x, y in pairs
    )
    return square.drawn(title, dots)


def _questions(comparisons: Sequence[Comparison]) -> str:
    headings = (
        Heading("run"),
        Heading("question"),
        Heading("model"),
        Heading("tree"),
        Heading("plain loop"),
        Heading("calls, tree / plain loop", is_number=True),
        Heading("shared wording", is_number=True),
    )
    return table(headings, _rows(comparisons))


def _left_out(found: Chosen) -> Iterator[str]:
    if found.broken:
        yield "<h2>Not counted: a loop broke down</h2>"
        yield _questions(found.broken)


def _rows(comparisons: Sequence[Comparison]) -> Iterator[Sequence[str]]:
    for each in comparisons:
        yield (
            each.run_id[:12],
            each.question,
            each.model,
            _reason(each.tree),
            _reason(each.baseline),
            f"{each.tree.calls} / {each.baseline.calls}",
            f"{each.shared_words:.0%}",
        )


def _reason(facts: LoopFacts) -> str:
    return facts.stop_reason.replace("_", " ")

"""`oracle classify "…"`: the type of a question, and the evidence for it."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import JsonOption
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import Column, StyledLine, cut, show_lines, table_lines
from oracle.errors import InputError

if TYPE_CHECKING:
    from oracle.models.query_classification import QueryType
    from oracle.services.classification.classifier import Explanation

COLUMNS = (Column("SHARE", is_number=True), Column("TYPE"), Column("BECAUSE OF", cut_to=12))


def classify(
    query: Annotated[str, typer.Argument(metavar="QUESTION", help="The question.")],
    json: JsonOption = False,
) -> None:
    """Show the type of a question, the sources it needs, and why."""
    from oracle.services.classification.classifier import explain_query

    if not query.strip():
        raise InputError('the question is empty; write one: oracle classify "where is …?"')
    explanation = explain_query(query)
    if json:
        typer.echo(render_json(explanation))
    else:
        show_lines(lambda width: map(StyledLine, text_lines(explanation, width)))


def text_lines(explanation: Explanation, width: int | None) -> list[str]:
    found = explanation.classification
    sources = [name for name, needed in _sources(explanation).items() if needed]
    lines = [
        f"{found.query_type}  (confidence {found.confidence:.2f}, then {found.runner_up})",
        f"needs    {', '.join(sources) or 'nothing'}",
        f"breadth  {found.breadth:.2f}",
        f"sketch   {printable(explanation.sketch)}",
    ]
    rows = [
        (f"{probability:.1%}", query_type, _evidence(explanation, query_type))
        for query_type, probability in explanation.probabilities.items()
    ]
    heading = lines if width is None else [cut(line, width) for line in lines]
    return [*heading, "", *table_lines(COLUMNS, rows, width=width)]


def _evidence(explanation: Explanation, query_type: QueryType) -> str:
    return ", ".join(f"{name} +{weight:.2f}" for name, weight in explanation.evidence[query_type])


def render_json(explanation: Explanation) -> str:
    found = explanation.classification
    return dumps(
        {
            "query_type": found.query_type,
            "confidence": found.confidence,
            "runner_up": found.runner_up,
            **{f"needs_{name}": needed for name, needed in _sources(explanation).items()},
            "breadth": found.breadth,
            "keywords_matched": found.keywords_matched,
            "sketch": explanation.sketch,
            "probabilities": {
                kind: round(value, 4) for kind, value in explanation.probabilities.items()
            },
            "evidence": {
                kind: {name: round(weight, 3) for name, weight in evidence}
                for kind, evidence in explanation.evidence.items()
            },
        },
        indent=2,
    )


def _sources(explanation: Explanation) -> dict[str, bool]:
    found = explanation.classification
    return {"code": found.needs_code, "vault": found.needs_vault, "web": found.needs_web}

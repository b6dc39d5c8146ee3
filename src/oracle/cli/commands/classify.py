"""`oracle classify "…"`: the type of a question, and the evidence for it."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import JsonOption

if TYPE_CHECKING:
    from oracle.services.classification.classifier import Explanation


def classify(
    query: Annotated[str, typer.Argument(help="The text to classify.")],
    json: JsonOption = False,
) -> None:
    """Show the type of a question, the sources it needs, and why."""
    from oracle.services.classification.classifier import explain_query

    explanation = explain_query(query)
    typer.echo(render_json(explanation) if json else render_text(explanation))


def render_text(explanation: Explanation) -> str:
    found = explanation.classification
    sources = [name for name, needed in _sources(explanation).items() if needed]
    lines = [
        f"{found.query_type}  (confidence {found.confidence:.2f}, then {found.runner_up})",
        f"needs    {', '.join(sources) or 'nothing'}",
        f"breadth  {found.breadth:.2f}",
        f"sketch   {explanation.sketch}",
        "",
    ]
    for query_type, probability in explanation.probabilities.items():
        evidence = ", ".join(
            f"{name} +{weight:.2f}" for name, weight in explanation.evidence[query_type]
        )
        lines.append(f"{probability:6.1%}  {query_type:<15}{evidence}")
    return "\n".join(lines)


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

"""`oracle prompt`: what would be sent to the model, and what it costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.models.query_classification import QueryClassification, QueryType

if TYPE_CHECKING:
    from oracle.services.prompting.composer import ComposedPrompt

PROMPTS_FOLDER = ".oracle/prompts"


def prompt(
    query: Annotated[str, typer.Argument(help="The question.")],
    type_: Annotated[
        QueryType | None,
        typer.Option("--type", help="Take the question to be of this type, whatever its words."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--prompts", help="The project's own segments.", show_default=PROMPTS_FOLDER),
    ] = None,
    large_context: Annotated[
        bool, typer.Option("--large-context", help="As if the window were filling up.")
    ] = False,
    previous_errors: Annotated[
        bool, typer.Option("--previous-errors", help="As if the last exchange had failed.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Prompt and tokens as JSON.")] = False,
) -> None:
    """Print the system prompt of a question; the tokens of each segment go to stderr."""
    from oracle.cli.settings import settings_with
    from oracle.services.prompting.composer import compose_prompt
    from oracle.services.prompting.segment_files import load_segments

    settings = settings_with({"prompts.folder": folder and str(folder)})
    composed = compose_prompt(
        _classified(query) if type_ is None else QueryClassification.of_type(type_),
        large_context=large_context,
        previous_errors=previous_errors,
        segments=load_segments(settings.path("prompts.folder")),
    )
    if as_json:
        typer.echo(as_json_text(query, composed))
    else:
        typer.echo(composed.text, nl=False)
        typer.echo(token_table(query, composed), err=True)


def _classified(query: str) -> QueryClassification:
    from oracle.services.classification.classifier import classify_query

    return classify_query(query)


def as_json_text(query: str, composed: ComposedPrompt) -> str:
    from oracle.services.prompting.tokens import estimate_tokens

    document = {
        "query": query,
        "prompt": composed.text,
        "segments": [
            {"id": id_, "tokens": tokens} for id_, tokens in composed.token_estimates.items()
        ],
        "prompt_tokens": composed.total_tokens,
        "query_tokens": estimate_tokens(query),
        "warnings": composed.warnings,
    }
    return json.dumps(document, ensure_ascii=False, indent=2)


def token_table(query: str, composed: ComposedPrompt) -> str:
    from oracle.services.prompting.tokens import estimate_tokens

    rows = [*composed.token_estimates.items(), ("prompt", composed.total_tokens)]
    rows.append(("question", estimate_tokens(query)))
    lines = [f"{name:<16} {tokens:>6} tokens" for name, tokens in rows]
    return "\n".join([*lines, *(f"warning: {warning}" for warning in composed.warnings)])

"""`oracle prompt`: the system prompt for a question, and its size in tokens."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import JsonOption
from oracle.cli.project import settings_with
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import Column, table_lines
from oracle.errors import InputError
from oracle.models.query_classification import QueryClassification, QueryType

if TYPE_CHECKING:
    from oracle.services.prompting.composer import ComposedPrompt

PROMPTS_FOLDER = ".oracle/prompts"


def prompt(
    query: Annotated[str, typer.Argument(help="The question.")],
    type_: Annotated[
        QueryType | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help=f"Use this type instead of classifying: {', '.join(QueryType)}.",
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--prompts",
            metavar="FOLDER",
            help="Folder of the project's own segments.",
            show_default=PROMPTS_FOLDER,
        ),
    ] = None,
    large_context: Annotated[
        bool, typer.Option("--large-context", help="Compose as if the context were nearly full.")
    ] = False,
    previous_errors: Annotated[
        bool, typer.Option("--previous-errors", help="Compose as if the last exchange had failed.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Print the system prompt for a question.

    The size of each segment, in tokens, goes to stderr.
    """
    from oracle.services.prompting.composer import compose_prompt, needs_short_contract
    from oracle.services.prompting.segment_files import load_segments

    if not query.strip():
        raise InputError('the question is empty; write one: oracle prompt "where is …?"')
    settings = settings_with({"prompts.folder": folder and str(folder)})
    question = _classified(query) if type_ is None else QueryClassification.of_type(type_)
    window = settings.model.context_window
    composed = compose_prompt(
        question,
        large_context=large_context,
        previous_errors=previous_errors,
        short_contract=needs_short_contract(question.query_type, window),
        segments=load_segments(
            settings.path("prompts.folder"), problem_of=settings.problem_of_file
        ),
    )
    if json:
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
    return dumps(document, indent=2)


def token_table(query: str, composed: ComposedPrompt) -> str:
    from oracle.services.prompting.tokens import estimate_tokens

    rows = [*composed.token_estimates.items(), ("prompt", composed.total_tokens)]
    rows.append(("question", estimate_tokens(query)))
    columns = (Column("SEGMENT"), Column("TOKENS", is_number=True))
    lines = table_lines(columns, [(name, f"{tokens:,}") for name, tokens in rows])
    return "\n".join([*lines, *(f"warning: {printable(warning)}" for warning in composed.warnings)])

"""`oracle ask "…"`: one question, one answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.errors import InputError

if TYPE_CHECKING:
    from oracle.cli.terminal.screen import AskOptions
    from oracle.settings import Settings

ModelOption = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="embedded, or provider:model."),
]
TurnsOption = Annotated[
    str | None, typer.Option("--max-turns", metavar="N", help="Requests to the model, at most.")
]
CostOption = Annotated[
    str | None, typer.Option("--max-cost", metavar="N", help="What it may cost, or off.")
]
TimeoutOption = Annotated[
    str | None, typer.Option("--timeout", metavar="SECONDS", help="How long it may take.")
]
SessionOption = Annotated[
    str | None,
    typer.Option(
        "--session",
        metavar="ID",
        help="Go on with a session: as much of its id as is unique, or last.",
    ),
]
ChunksOption = Annotated[bool, typer.Option("--json", help="Print each chunk as a JSON line.")]
TraceOption = Annotated[
    bool, typer.Option("--trace", help="Print each change of a status in the tree to stderr.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be written, and write nothing.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Say yes to all that is asked.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing but the answer.")]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print progress even if stderr is no terminal.")
]


def ask(
    question: Annotated[
        list[str] | None, typer.Argument(metavar="QUESTION", help="What you want to know.")
    ] = None,
    json: ChunksOption = False,
    model: ModelOption = None,
    max_turns: TurnsOption = None,
    max_cost: CostOption = None,
    timeout: TimeoutOption = None,
    session: SessionOption = None,
    trace: TraceOption = False,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Answer a question about the project. What is piped in goes with it."""
    import asyncio

    from oracle.cli.terminal.stdin_text import piped_text

    text = " ".join(question or ()).strip()
    if not text:
        raise InputError('the question is empty; ask something: oracle ask "where is …?"')
    settings = settings_for(model, max_turns, max_cost, timeout)
    options = ask_options(
        json=json, trace=trace, dry_run=dry_run, yes=yes, quiet=quiet, verbose=verbose
    )
    attachment = piped_text(settings.limits.seconds)
    if code := asyncio.run(_ask(settings, options, text, attachment, session)):
        raise typer.Exit(code)


def settings_for(
    model: str | None = None,
    max_turns: str | None = None,
    max_cost: str | None = None,
    timeout: str | None = None,
) -> Settings:
    from oracle.cli.settings import settings_with

    return settings_with(
        {
            "model.name": model,
            "limits.turns": max_turns,
            "limits.money": max_cost,
            "limits.seconds": timeout,
        }
    )


def ask_options(
    *, json: bool = False, trace: bool, dry_run: bool, yes: bool, quiet: bool, verbose: bool
) -> AskOptions:
    from oracle.cli.terminal.screen import AskOptions

    if quiet and verbose:
        raise InputError("--quiet and --verbose contradict each other; give one of them")
    return AskOptions(
        volume="quiet" if quiet else "verbose" if verbose else "normal",
        json=json,
        trace=trace,
        dry_run=dry_run,
        yes=yes,
    )


async def _ask(
    settings: Settings, options: AskOptions, question: str, attachment: str, session: str | None
) -> int:
    from oracle.cli.terminal.conversation import open_conversation

    async with open_conversation(settings, options) as conversation:
        if session is not None:
            await conversation.take_up(session)
        return await conversation.ask(question, attachment=attachment)

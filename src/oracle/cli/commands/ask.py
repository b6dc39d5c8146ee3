"""`oracle ask "…"`: one question, one answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import (
    ChunksOption,
    CostOption,
    DryRunOption,
    ModelOption,
    QuietOption,
    SessionOption,
    TimeoutOption,
    TraceOption,
    TurnsOption,
    VerboseOption,
    YesOption,
    ask_options,
    settings_for,
)
from oracle.errors import InputError

if TYPE_CHECKING:
    from oracle.cli.terminal.screen import AskOptions
    from oracle.settings import Settings


def ask(
    question: Annotated[
        list[str] | None, typer.Argument(metavar="QUESTION", help="Your question.")
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
    verbose: VerboseOption = 0,
) -> None:
    """Answer a question about the project.

    The answer goes to stdout; progress goes to stderr.
    Text that is piped in is sent with the question.

    Examples:
      oracle ask "where is a session's expiry decided?"
      git diff | oracle ask "is this safe?"
      oracle ask --session last "and who calls it?"
      oracle ask --max-cost 0.10 "how does the login work?"
    """
    from oracle.cli.terminal.stdin_text import is_piped, piped_text
    from oracle.services.background import run_async

    text = " ".join(question or ()).strip()
    if not text:
        raise InputError('the question is empty; write one: oracle ask "where is …?"')
    settings = settings_for(model, max_turns, max_cost, timeout)
    options = ask_options(
        json=json, trace=trace, dry_run=dry_run, yes=yes, quiet=quiet, verbose=verbose
    )
    attachment = piped_text(settings.limits.seconds)
    is_pipe_empty = not attachment and is_piped()
    if code := run_async(_ask(settings, options, text, attachment, is_pipe_empty, session)):
        raise typer.Exit(code)


async def _ask(
    settings: Settings,
    options: AskOptions,
    question: str,
    attachment: str,
    is_pipe_empty: bool,
    session: str | None,
) -> int:
    from oracle.cli.terminal.conversation import open_conversation

    async with open_conversation(settings, options) as conversation:
        if session is not None:
            await conversation.continue_session(session)
        return await conversation.ask(question, attachment=attachment, is_pipe_empty=is_pipe_empty)

"""`oracle ask "…"`: one question, one answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import (
    ChunksOption,
    CostOption,
    DiffOption,
    DryRunOption,
    FilesOption,
    ModelOption,
    QuietOption,
    SessionOption,
    SetOption,
    TemplateOption,
    TimeoutOption,
    TraceOption,
    TurnsOption,
    VerboseOption,
    YesOption,
    ask_options,
    settings_for,
)

if TYPE_CHECKING:
    from oracle.cli.asking import Prepared
    from oracle.cli.terminal.screen import AskOptions
    from oracle.settings import Settings


def _mentions(incomplete: str) -> list[str]:
    """Completes `@path` in a shell."""
    from oracle.services.attachments.completion import completions, fragment_in
    from oracle.services.project.root import here

    before = incomplete.removesuffix(fragment_in(incomplete))
    return [before + each for each in completions(incomplete, here())]


def ask(
    question: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUESTION",
            help="Your question. @path in it attaches a file.",
            autocompletion=_mentions,
        ),
    ] = None,
    files: FilesOption = None,
    diff: DiffOption = None,
    template: TemplateOption = None,
    values: SetOption = None,
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
    Text that is piped in is sent with the question; for the question -, it is the question.
    The word ask can be left out.

    Examples:
      oracle ask "where is a session's expiry decided?"
      oracle ask -f src/auth.py:10-40 "what can go wrong here?"
      oracle ask "compare @src/old.py with @src/new.py"
      oracle ask --diff "is this safe?"
      make test 2>&1 | oracle ask "why does it fail?"
      oracle ask -t review path=src/auth.py
      oracle ask --session last "and who calls it?"
      oracle ask --max-cost 0.10 "how does the login work?"
    """
    from oracle.cli.terminal.streams import show_starting

    if not quiet and not json:
        show_starting()
    from oracle.cli.asking import Request, check_words, prepared
    from oracle.cli.terminal.stdin_text import is_piped, piped_text
    from oracle.cli.terminal.waiting import wait_begins
    from oracle.services.background import run_async

    if template == "":
        from oracle.cli.commands.questions import list_questions

        list_questions(as_json=json)
        return
    request = Request.typed(
        question or (),
        files=files or (),
        diff=diff,
        template=template,
        values=values or (),
    )
    settings = settings_for(model, max_turns, max_cost, timeout, quiet=quiet or json)
    options = ask_options(
        json=json, trace=trace, dry_run=dry_run, yes=yes, quiet=quiet, verbose=verbose
    )
    check_words(request)
    attachment = piped_text(settings.limits.seconds)
    if attachment:
        wait_begins()
    if request.reads_stdin:
        request, attachment = request.with_question(attachment), ""
    is_pipe_empty = not attachment and not request.reads_stdin and is_piped()
    asked = prepared(request, settings, piped_bytes=len(attachment.encode()))
    if code := run_async(_ask(settings, options, asked, attachment, is_pipe_empty, session)):
        raise typer.Exit(code)


async def _ask(
    settings: Settings,
    options: AskOptions,
    asked: Prepared,
    attachment: str,
    is_pipe_empty: bool,
    session: str | None,
) -> int:
    from oracle.cli.terminal.conversation import open_conversation

    async with open_conversation(settings, options) as conversation:
        if session is not None:
            await conversation.continue_session(session)
        return await conversation.ask(
            asked.question,
            attachment=attachment,
            attachments=asked.attachments,
            is_pipe_empty=is_pipe_empty,
            template=asked.template,
        )

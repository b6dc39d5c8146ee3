"""`oracle chat`: a conversation, one question after another."""

from __future__ import annotations

import typer

from oracle.cli.options import (
    CostOption,
    DryRunOption,
    FilesOption,
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


def chat(
    files: FilesOption = None,
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
    """Hold a conversation: each question builds on the ones before.

    With stdin from a pipe or a file, each line is a question.

    Examples:
      oracle chat
      oracle chat --session last
      oracle chat -f src/auth.py
      oracle chat --quiet < questions.txt
    """
    from dataclasses import replace
    from functools import partial

    from oracle.cli.terminal.chat import INTERRUPTED, Chat
    from oracle.cli.terminal.chat_history import history_file
    from oracle.cli.terminal.interrupts import ChatSignals, leave_at_once
    from oracle.cli.terminal.line_editor import open_editor
    from oracle.cli.terminal.streams import keep_stdin
    from oracle.services.background import async_runner
    from oracle.services.project.root import is_writable
    from oracle.services.storage.database import default_url

    limits = {"max_turns": max_turns, "max_cost": max_cost, "timeout": timeout}
    settings = settings_for(model, **limits, quiet=quiet)
    options = replace(
        ask_options(trace=trace, dry_run=dry_run, yes=yes, quiet=quiet, verbose=verbose),
        in_chat=True,
    )
    if settings.root is not None and settings.database.url is None and is_writable(settings.root):
        # Without a place for the conversation, no question can be asked: say so before the first.
        default_url(settings)
    history = history_file(settings)
    keep_stdin()
    # One event loop for the whole chat, because the database connection belongs to it. Lines are
    # read between its runs, in plain code.
    with async_runner() as runner, ChatSignals() as signals:
        chat = Chat(
            settings,
            options,
            runner=runner,
            signals=signals,
            editor=open_editor(history, signals),
            history=history,
            files=files or (),
            settings_for_model=partial(settings_for, **limits),
        )
        code = chat.run(session, greets=not quiet)
        if code == INTERRUPTED:
            # Without waiting for what does not end, such as a database that is locked.
            leave_at_once(code)
    if code:
        raise typer.Exit(code)

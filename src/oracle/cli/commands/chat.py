"""`oracle chat`: a conversation, one question after another."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import typer

from oracle.cli.options import (
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
from oracle.cli.terminal.output import shown_error
from oracle.cli.terminal.safe_text import printable
from oracle.errors import OracleError, did_you_mean

if TYPE_CHECKING:
    import asyncio

    from oracle.cli.terminal.conversation import Conversation
    from oracle.cli.terminal.line_editor import LineEditor
    from oracle.models.session import Session

HELP: Final = """\
/new           start a new conversation
/session       show which conversation this is
/session ID    continue another one; ID can be last
/help          show this help
/quit          leave; so does Ctrl-D

End a line with \\ to continue on the next one. Pasted lines are one question.
A line that starts with a space is never a command. Ctrl-C cancels an answer;
press it twice to leave."""
COMMANDS: Final = ("/help", "/new", "/quit", "/session")
INTERRUPTED: Final = 130


def chat(
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
      oracle chat --quiet < questions.txt
    """
    import contextlib

    from oracle.cli.terminal.conversation import open_conversation
    from oracle.cli.terminal.line_editor import LineEditor, history_file
    from oracle.services.background import async_runner

    settings = settings_for(model, max_turns, max_cost, timeout)
    options = ask_options(trace=trace, dry_run=dry_run, yes=yes, quiet=quiet, verbose=verbose)
    # One event loop for the whole chat, because the database connection belongs to it. Lines are
    # read between its runs, in plain code, where Ctrl-C raises KeyboardInterrupt.
    with async_runner() as runner, contextlib.ExitStack() as leaving:
        opening = open_conversation(settings, options)
        conversation = runner.run(opening.__aenter__())
        leaving.callback(lambda: runner.run(opening.__aexit__(None, None, None)))
        if session is not None:
            _say(_named(runner.run(conversation.continue_session(session))))
        with LineEditor(history_file(settings)) as editor:
            code = Chat(conversation, runner, editor).run(greets=not quiet)
    if code:
        raise typer.Exit(code)


class Chat:
    """Reads and answers questions until the user leaves."""

    def __init__(
        self, conversation: Conversation, runner: asyncio.Runner, editor: LineEditor
    ) -> None:
        self._conversation = conversation
        self._runner = runner
        self._editor = editor

    def run(self, *, greets: bool) -> int:
        if greets and self._editor.is_interactive:
            _say("ask a question; /help lists the commands, Ctrl-D leaves")
        while True:
            try:
                line = self._editor.read()
            except EOFError:
                return 0
            except KeyboardInterrupt:
                return INTERRUPTED
            if line.strip() == "/quit":
                return 0
            self._handle(line)

    def _handle(self, line: str) -> None:
        """Obey a command or answer a question. An error is printed; it does not end the chat."""
        try:
            # A second slash makes it a path, such as /etc/hosts, and so a question.
            if line.startswith("/") and "/" not in line.split()[0][1:]:
                self._command(*line.split())
            elif line.strip():
                self._runner.run(self._conversation.ask(line.strip()))
                print(file=sys.stderr)
        except OracleError as problem:
            _say(shown_error(problem))

    def _command(self, command: str, *arguments: str) -> None:
        if command == "/help":
            print(HELP, file=sys.stderr)
        elif command == "/new":
            self._conversation.start_new()
            _say("a new conversation; what was said before is not used")
        elif command == "/session":
            self._session(*arguments[:1])
        else:
            hint = did_you_mean(command, COMMANDS) or "; /help lists the commands"
            _say(f"no command {printable(command)!r}{hint}")

    def _session(self, typed: str | None = None) -> None:
        if typed is not None:
            _say(_named(self._runner.run(self._conversation.continue_session(typed))))
        elif (session := self._runner.run(self._conversation.session())) is not None:
            _say(_named(session))
        else:
            _say("no conversation yet; the next question starts one")


def _named(session: Session) -> str:
    return f"session {session.id[:8]}: {printable(session.title)}"


def _say(text: str) -> None:
    print(f"oracle: {text}", file=sys.stderr, flush=True)

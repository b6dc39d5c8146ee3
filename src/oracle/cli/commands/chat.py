"""`oracle chat`: one question after the other, in one conversation."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import typer

from oracle.cli.commands.ask import (
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
from oracle.cli.terminal.terminal import printable
from oracle.errors import OracleError, did_you_mean

if TYPE_CHECKING:
    import asyncio

    from oracle.cli.terminal.conversation import Conversation
    from oracle.cli.terminal.line_editor import LineEditor
    from oracle.models.session import Session

HELP: Final = """\
/new           begin another conversation
/session       say which conversation this is
/session ID    go on with another one; last for the last used
/help          this
/quit          leave; so does Ctrl-D

A \\ at the end of a line goes on with the next; a paste of many lines is one
question. A line that begins with a blank is never a command. Ctrl-C cancels an
answer; pressed twice, it leaves."""
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
    verbose: VerboseOption = False,
) -> None:
    """Ask one question after the other; each knows what was said before."""
    import asyncio
    import contextlib

    from oracle.cli.terminal.conversation import open_conversation
    from oracle.cli.terminal.line_editor import LineEditor, history_file

    settings = settings_for(model, max_turns, max_cost, timeout)
    options = ask_options(trace=trace, dry_run=dry_run, yes=yes, quiet=quiet, verbose=verbose)
    with asyncio.Runner() as runner, contextlib.ExitStack() as leaving:
        opening = open_conversation(settings, options)
        conversation = runner.run(opening.__aenter__())
        leaving.callback(lambda: runner.run(opening.__aexit__(None, None, None)))
        if session is not None:
            _tell(_named(runner.run(conversation.take_up(session))))
        with LineEditor(history_file(settings)) as editor:
            code = Chat(conversation, runner, editor).run(greets=not quiet)
    if code:
        raise typer.Exit(code)


class Chat:
    """Reads and answers until the user leaves."""

    def __init__(
        self, conversation: Conversation, runner: asyncio.Runner, editor: LineEditor
    ) -> None:
        self._conversation = conversation
        self._runner = runner
        self._editor = editor

    def run(self, *, greets: bool) -> int:
        if greets and self._editor.is_interactive:
            _tell("ask away; /help tells more, Ctrl-D leaves")
        while True:
            try:
                line = self._editor.read()
            except EOFError:
                return 0
            except KeyboardInterrupt:
                return INTERRUPTED
            if line.strip() == "/quit":
                return 0
            self._take(line)

    def _take(self, line: str) -> None:
        """A mistake is reported, and the conversation goes on."""
        try:
            if line.startswith("/") and "/" not in line.split()[0][1:]:
                self._obey(*line.split())
            elif line.strip():
                self._runner.run(self._conversation.ask(line.strip()))
                print(file=sys.stderr)
        except OracleError as problem:
            _tell(str(problem))

    def _obey(self, command: str, *arguments: str) -> None:
        if command == "/help":
            print(HELP, file=sys.stderr)
        elif command == "/new":
            self._conversation.start_anew()
            _tell("a new conversation; what was said before is no longer known")
        elif command == "/session":
            self._session(*arguments[:1])
        else:
            hint = did_you_mean(command, COMMANDS) or "; /help lists what there is"
            _tell(f"no command {printable(command)!r}{hint}")

    def _session(self, typed: str | None = None) -> None:
        if typed is not None:
            _tell(_named(self._runner.run(self._conversation.take_up(typed))))
        elif (session := self._runner.run(self._conversation.session())) is not None:
            _tell(_named(session))
        else:
            _tell("no conversation yet; the next question begins one")


def _named(session: Session) -> str:
    return f"session {session.id[:8]}: {printable(session.title)}"


def _tell(text: str) -> None:
    print(f"oracle: {text}", file=sys.stderr, flush=True)

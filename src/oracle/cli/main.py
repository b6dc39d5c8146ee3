"""The command `oracle`: its subcommands, and the one place where an error becomes an exit code."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import Annotated

import typer

from oracle.cli.lazy_commands import LazyCommand, LazyGroup
from oracle.cli.plain_parameters import read_plainly
from oracle.cli.terminal.output import shown_bug, shown_error
from oracle.cli.terminal.streams import guard_streams
from oracle.errors import DeveloperError, OracleError

# Each command: its name, where it is (`module:function` in oracle.cli.commands, or `module:app` for
# a command with subcommands), and the first line of its help. The order is that of `--help`.
COMMANDS = (
    ("ask", "ask:ask", "Answer a question about the project."),
    ("chat", "chat:chat", "Hold a conversation: each question builds on the ones before."),
    ("init", "setup:init", "Write an oracle.toml with every setting in comments."),
    ("config", "config:config", "Show the settings, their values and where these come from."),
    ("doctor", "doctor:doctor", "Check the configuration and say how to fix it."),
    ("completion", "setup:completion", "Print a completion script for a shell."),
    (
        "classify",
        "classify:classify",
        "Show the type of a question, the sources it needs, and why.",
    ),
    ("index", "index:index", "Index the project's files."),
    ("search", "search:search", "Find passages in code, notes or threads."),
    ("prompt", "prompt:prompt", "Print the system prompt for a question."),
    ("runs", "runs:runs", "List the runs of this project, newest first."),
    ("replay", "runs:replay", "Replay a recorded run and check that it ends the same way."),
    ("purge", "sessions:purge", "Delete old sessions, runs and events for good."),
    ("audit", "audit:audit", "Print stored events, oldest first."),
    ("tree", "tree:app", "Check tree files and show trees."),
    ("run", "runs:app", "Show a run, or resume one."),
    ("sessions", "sessions:app", "List, show, rename, export and delete conversations."),
    ("eval", "evaluate:app", "Measure classification and retrieval."),
)


class _Root(LazyGroup):
    table = {  # noqa: RUF012
        name: LazyCommand(name, f"oracle.cli.commands.{place}", line)
        for name, place, line in COMMANDS
    }


app = typer.Typer(
    name="oracle",
    cls=_Root,
    help="Answer questions about a project. A behavior tree controls the language model.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"oracle {version('bt-oracle')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """The options before the command."""


def run() -> None:
    """Run the command line and end the process with its exit code."""
    guard_streams()
    read_plainly()
    try:
        code = _exit_code_of_app()
    except OracleError as error:
        from oracle.services.project.redaction import redact

        # Cleaned first: an invisible character could split a secret.
        print(f"oracle: {redact(shown_error(error))}", file=sys.stderr)
        code = error.exit_code
    except BrokenPipeError:
        # Whatever still writes to stdout, such as the thread that draws, must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 128 + signal.SIGPIPE
    except OSError as error:
        print(f"oracle: {error.filename or 'the output'}: {error.strerror}", file=sys.stderr)
        code = 74
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        print(f"oracle: {shown_bug(error)}", file=sys.stderr)
        code = DeveloperError.exit_code
    _leave(code)


def _exit_code_of_app() -> int:
    try:
        app(prog_name="oracle")
    except SystemExit as leaving:
        # typer ends with 1 when the reader closed the pipe. That case has its own exit code here.
        if isinstance(leaving.__context__, BrokenPipeError):
            raise leaving.__context__ from None
        # Output that cannot be written must change the exit code, so write it before that is set.
        sys.stdout.flush()
        return leaving.code if isinstance(leaving.code, int) else int(bool(leaving.code))
    return 0


def _leave(code: int) -> None:
    """End the process at once."""
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    if background := sys.modules.get("oracle.services.background"):
        background.wait_for_writes()
    # Everything is written and closed by now. A normal exit would take seconds to tear down the
    # modules of a provider's SDK.
    os._exit(code)

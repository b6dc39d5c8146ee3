"""The command `oracle`: its subcommands, and the one place where an error becomes an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Annotated

import typer

from oracle.cli import INTERRUPTED
from oracle.cli.lazy_commands import LazyCommand, LazyGroup
from oracle.cli.optional_values import WithOptionalValues
from oracle.cli.plain_help import use_plain_help
from oracle.cli.plain_parameters import read_plainly
from oracle.cli.routing import QuestionOrCommand
from oracle.cli.terminal.failures import fail
from oracle.cli.terminal.streams import erase_starting, guard_streams
from oracle.cli.terminal.terminal_state import STATE
from oracle.cli.terminal.waiting import command_begins

# Each command: its name, where it is (`module:function` in oracle.cli.commands, or `module:app` for
# a command with subcommands), and the first line of its help. Groups and order are those of
# `--help`: what a newcomer needs comes first.
GROUPS = {
    "Ask": (
        ("ask", "ask:ask", "Answer a question about the project."),
        ("chat", "chat:chat", "Hold a conversation: each question builds on the ones before."),
        (
            "questions",
            "questions:questions",
            "List the named questions for `ask -t`, or print one.",
        ),
        ("sessions", "sessions:app", "List, show, rename, export and delete conversations."),
        ("search", "search:search", "Find passages in code, notes or threads."),
    ),
    "Set up": (
        ("models", "models:app", "List the models that can be used, and select one."),
        ("keys", "keys:app", "Keep the keys of providers in the keyring or in a private file."),
        ("init", "setup:init", "Write an oracle.toml with every setting in comments."),
        ("config", "config:app", "Show the settings and where they come from; set and unset them."),
        ("tools", "tools:app", "List the tools of the model, and trust those of a project."),
        ("doctor", "doctor:doctor", "Check the configuration and say how to fix it."),
        ("completion", "setup:completion", "Print a completion script for a shell."),
        ("help", "help:help_", "Explain a command, or list all of them."),
    ),
    "Look back": (
        ("runs", "runs:runs", "List the runs of this project, newest first."),
        ("run", "runs:app", "Show, resume or export a run."),
        ("replay", "replay:replay", "Replay a recorded run, as it was or with a change."),
        ("audit", "audit:audit", "Print stored events, oldest first."),
        ("spend", "spend:spend", "Show what was spent today and this month, and what is left."),
        ("purge", "sessions:purge", "Delete old sessions, runs and events for good."),
        ("database", "database:app", "Copy a database, for example from SQLite to PostgreSQL."),
    ),
    "Serve": (
        ("serve", "serve:serve", "Answer in a browser and over HTTP, also by OpenAI's protocol."),
        ("mcp", "mcp:mcp", "Answer a program such as an editor over MCP, on stdin and stdout."),
        ("acp", "acp:acp", "Answer in an editor, over the Agent Client Protocol."),
        ("token", "token:app", "Make tokens for `oracle serve`, list and revoke them."),
        ("worker", "worker:worker", "Answer the questions that `oracle serve --workers 0` takes."),
        ("workers", "worker:workers", "List the workers, and what each of them works on."),
        (
            "queue",
            "queue:app",
            "List the runs that wait or are worked on; retry, cancel or raise one.",
        ),
    ),
    "Look inside": (
        ("index", "index:index", "Index the project's files."),
        (
            "classify",
            "classify:classify",
            "Show the type of a question, the sources it needs, and why.",
        ),
        ("prompt", "prompt:prompt", "Print the system prompt for a question."),
        ("tree", "tree:app", "List, check and show trees."),
        ("shadow", "shadow:app", "Compare the tree with a plain loop on the same questions."),
        ("signals", "signals:app", "Report how well models signal, and how far to trust them."),
        ("eval", "evaluate:app", "Measure classification, retrieval, the fallback and answers."),
    ),
}
COMMANDS = [(*row, group) for group, rows in GROUPS.items() for row in rows]
CLASSES = {"ask": WithOptionalValues}
"""Commands that read their arguments in their own way."""


class _Root(QuestionOrCommand, LazyGroup):
    table = {  # noqa: RUF012
        name: LazyCommand(name, f"oracle.cli.commands.{place}", line, group, CLASSES.get(name))
        for name, place, line, group in COMMANDS
    }


app = typer.Typer(
    name="oracle",
    cls=_Root,
    help="""Answer questions about a project. A behavior tree controls the language model.

    To ask, write the question: oracle "where is the login?"
    """,
    context_settings={"help_option_names": ["-h", "--help"]},
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
            "--version", "-V", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """The options before the command."""
    # Imported here: the help needs no log.
    from oracle.cli.terminal.log_lines import show_log_lines

    show_log_lines()


def run() -> None:
    """Run the command line and end the process with its exit code."""
    command_begins()
    guard_streams()
    use_plain_help()
    read_plainly()
    if any(argument.endswith("-completion") for argument in sys.argv[1:]):
        from oracle.cli.completing import use_our_script

        use_our_script()
    try:
        code = _exit_code_of_app()
    except Exception as problem:
        code = fail(problem, sys.argv[1:])
    except KeyboardInterrupt:
        # Before the command could take it.
        code = INTERRUPTED
    _leave(code)


def _exit_code_of_app() -> int:
    try:
        result: object = app(prog_name="oracle", standalone_mode=False)
    except SystemExit as leaving:
        # typer ends with 1 when the reader closed the pipe. That case has its own exit code here.
        if isinstance(leaving.__context__, BrokenPipeError):
            raise leaving.__context__ from None
        result = leaving.code
    # Output that cannot be written must change the exit code, so write it before that is set.
    sys.stdout.flush()
    return result if isinstance(result, int) else int(bool(result))


def _leave(code: int) -> None:
    """End the process at once."""
    if telemetry := sys.modules.get("oracle.services.telemetry.live"):
        telemetry.flush_at_exit()
    with contextlib.suppress(OSError):
        erase_starting()
        STATE.show_keys()
        sys.stderr.flush()
    if background := sys.modules.get("oracle.services.background"):
        background.wait_for_writes()
    if programs := sys.modules.get("oracle.services.mcp.transports"):
        programs.end_programs()
    # Everything is written and closed by now. A normal exit would take seconds to tear down the
    # modules of a provider's SDK.
    os._exit(code)

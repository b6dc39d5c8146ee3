"""The command `oracle`: its subcommands, and the one place where an error becomes an exit code."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from typing import Annotated

import typer

from oracle.cli.commands.ask import ask
from oracle.cli.commands.audit import audit
from oracle.cli.commands.chat import chat
from oracle.cli.commands.classify import classify
from oracle.cli.commands.config import app as config_app
from oracle.cli.commands.doctor import doctor
from oracle.cli.commands.evaluate import app as eval_app
from oracle.cli.commands.help import help_
from oracle.cli.commands.index import index
from oracle.cli.commands.keys import app as keys_app
from oracle.cli.commands.models import app as models_app
from oracle.cli.commands.prompt import prompt
from oracle.cli.commands.questions import questions
from oracle.cli.commands.runs import app as run_app
from oracle.cli.commands.runs import replay, runs
from oracle.cli.commands.search import search
from oracle.cli.commands.sessions import app as sessions_app
from oracle.cli.commands.sessions import purge
from oracle.cli.commands.setup import completion, init
from oracle.cli.commands.tools import app as tools_app
from oracle.cli.commands.tree import app as tree_app
from oracle.cli.optional_values import WithOptionalValues
from oracle.cli.routing import QuestionOrCommand
from oracle.cli.terminal.output import shown_bug, shown_error
from oracle.cli.terminal.streams import guard_streams
from oracle.errors import DeveloperError, OracleError

app = typer.Typer(
    name="oracle",
    help="""Answer questions about a project. A behavior tree controls the language model.

    To ask, write the question: oracle "where is the login?"
    """,
    cls=QuestionOrCommand,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command(cls=WithOptionalValues)(ask)
app.command()(chat)
app.add_typer(models_app, name="models")
app.command()(init)
app.add_typer(config_app, name="config")
app.add_typer(keys_app, name="keys")
app.command()(doctor)
app.command()(completion)
app.add_typer(tools_app, name="tools")
app.add_typer(tree_app, name="tree")
app.command()(classify)
app.command()(index)
app.command()(search)
app.command()(prompt)
app.command()(questions)
app.command()(runs)
app.add_typer(run_app, name="run")
app.command()(replay)
app.add_typer(sessions_app, name="sessions")
app.command()(purge)
app.command()(audit)
app.add_typer(eval_app, name="eval")
app.command("help")(help_)


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


def run() -> None:
    """Run the command line and end the process with its exit code."""
    # Few objects of a short command are garbage. Looking for them takes a tenth of its time.
    gc.set_threshold(50_000)
    guard_streams()
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

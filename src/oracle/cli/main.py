"""The command `oracle`: its subcommands, and the one place where an error becomes an exit code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

import typer

from oracle.cli.audit import audit
from oracle.cli.purge import purge
from oracle.cli.sessions import app as sessions_app
from oracle.cli.tree import app as tree_app
from oracle.errors import OracleError

if TYPE_CHECKING:
    from io import TextIOWrapper

app = typer.Typer(
    name="oracle",
    help="Answer a developer's questions about a project, under the control of a behavior tree.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(tree_app, name="tree")
app.add_typer(sessions_app, name="sessions")
app.command()(purge)
app.command()(audit)


@app.callback()
def _root() -> None:
    """Keep subcommands as subcommands, however few there are."""


def run() -> None:
    """Enter here from the shell. What a terminal has no letter for is shown as its escape."""
    cast("TextIOWrapper", sys.stdout).reconfigure(errors="backslashreplace")
    try:
        app()
    except OracleError as error:
        print(f"oracle: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)

"""`oracle database`: move all that is stored to another database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import JsonOption
from oracle.cli.terminal.output import say, show_json
from oracle.cli.terminal.tables import Column, show_table

if TYPE_CHECKING:
    from oracle.services.storage.copying import Copy

app = typer.Typer(help="Copy a database, for example from SQLite to PostgreSQL.")

MOST_NAMED = 10


@app.callback()
def _group() -> None:
    """There is one command so far."""


@app.command()
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A path, or an address.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The same, of an empty database.")],
    json: JsonOption = False,
) -> None:
    """Copy all that is stored to an empty database, and check the copy.

    The target gets everything or nothing. Stop the processes that use FROM before. FROM stays as it
    is; set database.url to TO to use the copy.

    Examples:
      oracle database copy .oracle/oracle.db postgresql://db.example.org/oracle
      oracle database copy postgresql://db.example.org/oracle backup.db
    """
    from dataclasses import asdict

    from oracle.services.background import run_async
    from oracle.services.storage.copying import copy_database
    from oracle.services.storage.database import as_url

    copied = run_async(copy_database(as_url(source), as_url(target)))
    if json:
        show_json(asdict(copied))
        return
    rows = [[table.name, f"{table.rows:,}", table.digest[:12]] for table in copied.tables]
    show_table((Column("TABLE"), Column("ROWS"), Column("DIGEST")), rows)
    _say_unfinished(copied)
    say("the copy has the same content; set database.url to use it")


def _say_unfinished(copied: Copy) -> None:
    if not copied.unfinished:
        return
    shown = ", ".join(run_id[:8] for run_id in copied.unfinished[:MOST_NAMED])
    more = ", …" if len(copied.unfinished) > MOST_NAMED else ""
    say(
        f"not done: {shown}{more}; resume them in the copy only (`oracle run resume`): "
        "what a run does would happen twice"
    )

"""`oracle sessions`: list, show, rename, export and delete conversations."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.terminal.terminal import confirm, counted, printable, show, show_json, when

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table
    from rich.text import Text
    from rich.tree import Tree

    from oracle.models.session import Exchange, Session
    from oracle.services.storage.database import Database
    from oracle.services.storage.sessions import ListedSession

app = typer.Typer(help="List, show, rename, export and delete conversations.", no_args_is_help=True)

SessionArgument = Annotated[
    str, typer.Argument(metavar="SESSION", help="The session's id, or as much of it as is unique.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


class Format(StrEnum):
    MARKDOWN = "markdown"
    JSON = "json"


@app.command("list")
def list_(
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 50,
    json: JsonOption = False,
) -> None:
    """List sessions, the last used first."""
    from oracle.cli.store import with_database
    from oracle.services.storage.sessions import Sessions

    listed = with_database(lambda database: Sessions(database).newest(limit))
    if json:
        show_json([{**asdict(item.session), "exchanges": item.exchanges} for item in listed])
    elif listed:
        show(session_table(listed))
    else:
        typer.echo("no sessions yet", err=True)


@app.command("show")
def show_(session: SessionArgument, json: JsonOption = False) -> None:
    """Show a session as a tree of its exchanges."""
    from oracle.services.storage.export import as_json

    found, exchanges = _session(session)
    if json:
        show_json(as_json(found, exchanges))
    else:
        show(session_tree(found, exchanges))


@app.command()
def rename(
    session: SessionArgument, title: Annotated[str, typer.Argument(help="The new title.")]
) -> None:
    """Give a session another title."""
    from oracle.cli.store import with_database
    from oracle.services.storage.sessions import Sessions

    renamed = with_database(lambda database: Sessions(database).rename(session, title))
    print(f"{renamed.id} is now: {printable(renamed.title)}")


@app.command()
def export(
    session: SessionArgument,
    format_: Annotated[Format, typer.Option("--format", help="What to write.")] = Format.MARKDOWN,
) -> None:
    """Write a whole session to stdout."""
    from oracle.services.storage.export import as_json, as_markdown

    found, exchanges = _session(session)
    if format_ is Format.JSON:
        show_json(as_json(found, exchanges))
    else:
        print(as_markdown(found, exchanges), end="")


@app.command()
def delete(
    session: SessionArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete a session for good, with its exchanges, runs and events."""
    from oracle.cli.store import with_database
    from oracle.services.storage.purge import forget_session

    found, exchanges = _session(session)
    title = printable(found.title)
    confirm(f"Delete {title!r} with {counted(len(exchanges), 'exchange')} for good?", yes=yes)
    with_database(lambda database: forget_session(database, found.id))
    print(f"deleted {found.id}")


def _session(typed: str) -> tuple[Session, list[Exchange]]:
    from oracle.cli.store import with_database
    from oracle.services.storage.exchanges import Exchanges
    from oracle.services.storage.sessions import Sessions

    async def read(database: Database) -> tuple[Session, list[Exchange]]:
        session = await Sessions(database).get(typed)
        return session, await Exchanges(database).of_session(session.id)

    return with_database(read)


def session_table(listed: Sequence[ListedSession]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("SESSION", no_wrap=True)
    table.add_column("LAST USED", no_wrap=True)
    table.add_column("EXCHANGES", justify="right")
    table.add_column("TITLE", no_wrap=True)
    for item in listed:
        session = item.session
        used = when(session.updated_at)
        table.add_row(session.id, used, str(item.exchanges), printable(session.title))
    return table


def session_tree(session: Session, exchanges: Sequence[Exchange]) -> Tree:
    """A conversation reads down one column; only where it branches, the branches are indented."""
    from rich.tree import Tree

    from oracle.services.storage.export import children

    tree = Tree(f"{session.id}  {printable(session.title)}", highlight=False)
    below = children(exchanges)
    waiting = _placed(below.get(None, []), tree, tree)
    while waiting:
        exchange, parent, begins_branch = waiting.pop()
        node = parent.add(_label(exchange))
        column = node if begins_branch else parent
        waiting += _placed(below.get(exchange.id, []), node, column)
    return tree


def _placed(
    exchanges: Sequence[Exchange], node: Tree, column: Tree
) -> list[tuple[Exchange, Tree, bool]]:
    """Where to draw what follows a node: on in its column, or as branches of it. Last first."""
    branches = len(exchanges) > 1
    return [(exchange, node if branches else column, branches) for exchange in exchanges[::-1]]


def _label(exchange: Exchange) -> Text:
    from rich.text import Text

    question = Text(f"{exchange.id}  {printable(exchange.question)}")
    answer = Text(f"\n{printable(exchange.answer)}", style="dim")
    return Text("", no_wrap=True, overflow="ellipsis").append_text(question).append_text(answer)

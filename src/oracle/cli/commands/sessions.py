"""`oracle sessions` and `oracle purge`: stored conversations, and how to delete them."""

from __future__ import annotations

import time
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from oracle.cli.options import AllProjectsOption, JsonOption, NoQuestionOption
from oracle.cli.project import project_listed, with_database
from oracle.cli.terminal.output import confirm, counted, show, show_json, table
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.times import parse_duration, shown_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table
    from rich.text import Text
    from rich.tree import Tree

    from oracle.models.session import Exchange, Session
    from oracle.services.storage.database import Database
    from oracle.services.storage.purge import Forgotten
    from oracle.services.storage.sessions import ListedSession

app = typer.Typer(help="List, show, rename, export and delete conversations.", no_args_is_help=True)

SessionArgument = Annotated[
    str, typer.Argument(metavar="SESSION", help="The session's id, or a unique start of it.")
]


class Format(StrEnum):
    MARKDOWN = "markdown"
    JSON = "json"


@app.command("list")
def list_(
    limit: Annotated[int, typer.Option(min=1, help="Maximum number to list.")] = 50,
    json: JsonOption = False,
    all_: AllProjectsOption = False,
) -> None:
    """List the sessions of this project, most recently used first."""
    from oracle.services.storage.sessions import Sessions

    project = project_listed(all_)
    listed = with_database(lambda database: Sessions(database).newest(limit, project=project))
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
    """Give a session a new title."""
    from oracle.services.storage.sessions import Sessions

    renamed = with_database(lambda database: Sessions(database).rename(session, title))
    print(printable(f"{renamed.id} is now: {renamed.title}"))


@app.command()
def export(
    session: SessionArgument,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.MARKDOWN,
) -> None:
    """Print a whole session to stdout."""
    from oracle.services.storage.export import as_json, as_markdown

    found, exchanges = _session(session)
    if format_ is Format.JSON:
        show_json(as_json(found, exchanges))
    else:
        print(as_markdown(found, exchanges), end="")


@app.command()
def delete(session: SessionArgument, yes: NoQuestionOption = False) -> None:
    """Delete a session for good, with its exchanges, runs and events."""
    from oracle.services.storage.purge import forget_session

    found, exchanges = _session(session)
    title = printable(found.title)
    confirm(f"Delete {title!r} with {counted(len(exchanges), 'exchange')} for good?", yes=yes)
    with_database(lambda database: forget_session(database, found.id))
    print(f"deleted {printable(found.id)}")


def purge(
    older_than: Annotated[
        str, typer.Option(metavar="SPAN", help="Hours, days or weeks: 12h, 30d, 2w.")
    ],
    yes: NoQuestionOption = False,
    json: JsonOption = False,
) -> None:
    """Delete old sessions, runs and events for good."""
    from oracle.services.storage.purge import forget

    before = time.time() - parse_duration(older_than)
    if not yes:
        would_go = with_database(lambda database: forget(database, before=before, pretend=True))
        confirm(f"Delete {purge_summary(would_go)} for good?", yes=yes)
    gone = with_database(lambda database: forget(database, before=before))
    if json:
        show_json(asdict(gone))
    else:
        print(f"deleted {purge_summary(gone)}")


def purge_summary(forgotten: Forgotten) -> str:
    counts = [counted(number, noun[:-1]) for noun, number in asdict(forgotten).items()]
    return f"{', '.join(counts[:-1])} and {counts[-1]}"


def _session(typed: str) -> tuple[Session, list[Exchange]]:
    from oracle.services.storage.exchanges import Exchanges
    from oracle.services.storage.sessions import Sessions

    async def read(database: Database) -> tuple[Session, list[Exchange]]:
        session = await Sessions(database).get(typed)
        return session, await Exchanges(database).of_session(session.id)

    return with_database(read)


def session_table(listed: Sequence[ListedSession]) -> Table:
    headings = ("SESSION", "LAST USED", "EXCHANGES", "TITLE")
    return table(headings, map(_session_row, listed), numbers=("EXCHANGES",))


def _session_row(listed: ListedSession) -> tuple[str, ...]:
    session = listed.session
    return session.id, shown_time(session.updated_at), str(listed.exchanges), session.title


def session_tree(session: Session, exchanges: Sequence[Exchange]) -> Tree:
    """A conversation is drawn down one column. Only branches are indented."""
    from rich.tree import Tree

    from oracle.services.storage.export import children

    tree = Tree(f"{printable(session.id)}  {printable(session.title)}", highlight=False)
    below = children(exchanges)
    # A stack and not recursion: a conversation can be longer than Python's recursion limit.
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
    """Where to draw the exchanges after `node`: in its column, or as its branches. Last first."""
    branches = len(exchanges) > 1
    return [(exchange, node if branches else column, branches) for exchange in exchanges[::-1]]


def _label(exchange: Exchange) -> Text:
    from rich.text import Text

    question = Text(f"{printable(exchange.id)}  {printable(exchange.question)}")
    answer = Text(f"\n{printable(exchange.answer)}", style="dim")
    return Text("", no_wrap=True, overflow="ellipsis").append_text(question).append_text(answer)

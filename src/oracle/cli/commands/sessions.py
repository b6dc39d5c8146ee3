"""`oracle sessions` and `oracle purge`: stored conversations, and how to delete them."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle.cli.completing import sessions_beginning
from oracle.cli.lazy_commands import ListingGroup
from oracle.cli.options import AllProjectsOption, JsonOption, LimitOption, NoQuestionOption
from oracle.cli.project import project_listed, project_of, with_database
from oracle.cli.terminal.output import (
    confirm,
    counted,
    more_than,
    say_nothing_yet,
    show_json,
    show_sentence,
)
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.tables import INDENT, Column, StyledLine, Tone, cut, show_lines, show_table
from oracle.cli.terminal.times import parse_duration, shown_age, shown_money, shown_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from oracle.models.session import Exchange, Session
    from oracle.services.storage.database import Database
    from oracle.services.storage.purge import Forgotten
    from oracle.services.storage.sessions import ListedSession, SessionEnd

app = typer.Typer(help="List, show, rename, export and delete conversations.", cls=ListingGroup)

SessionArgument = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="The session's id, a unique start of it, or last.",
        autocompletion=sessions_beginning,
    ),
]


class Format(StrEnum):
    MARKDOWN = "markdown"
    JSON = "json"


SESSION_COLUMNS = (
    Column("SESSION"),
    Column("LAST USED", drop=4),
    Column("EXCHANGES", is_number=True, drop=2),
    Column("ENDED", cut_to=14, drop=3),
    Column("COST", is_number=True, drop=1),
    Column("TITLE", cut_to=20),
)


@app.command("list")
def list_(
    limit: LimitOption = 20,
    json: JsonOption = False,
    all_: AllProjectsOption = False,
) -> None:
    """List the sessions of this project or folder, most recently used first."""
    from oracle.services.storage.naming import short_session_ids
    from oracle.services.storage.sessions import Sessions

    project = project_listed(all_)

    async def read(
        database: Database,
    ) -> tuple[list[ListedSession], Mapping[str, str], Mapping[str, SessionEnd]]:
        listed = await Sessions(database).newest(limit + 1, project=project)
        ids = [item.session.id for item in listed[:limit]]
        short = await short_session_ids(database, ids if sys.stdout.isatty() else [])
        return listed, short, await Sessions(database).endings(ids)

    listed, short, endings = with_database(read)
    if json:
        show_json([_as_json(item, endings.get(item.session.id)) for item in listed[:limit]])
    elif listed:
        now = time.time() if sys.stdout.isatty() else None
        show_table(SESSION_COLUMNS, session_rows(listed[:limit], short, endings, now=now))
        more_than(limit, listed)
    else:
        say_nothing_yet("sessions", project)


def _as_json(item: ListedSession, end: SessionEnd | None) -> dict[str, Any]:
    ended, money = (end.stop_reason, end.money) if end else (None, 0.0)
    return {**asdict(item.session), "exchanges": item.exchanges, "ended": ended, "money": money}


@app.command("show")
def show_(session: SessionArgument = "last", json: JsonOption = False) -> None:
    """Show a session as a tree of its exchanges; by default the one used last.

    The id of an exchange can be given to `oracle ask --session`, to continue from there.
    """
    from oracle.services.storage.export import as_json

    found, exchanges = _session(session)
    if json:
        show_json(as_json(found, exchanges))
    else:
        show_lines(lambda width: session_lines(found, exchanges, width))


@app.command()
def rename(
    session: SessionArgument, title: Annotated[str, typer.Argument(help="The new title.")]
) -> None:
    """Give a session a new title."""
    from oracle.services.storage.sessions import Sessions

    found, _ = _session(session)
    renamed = with_database(lambda database: Sessions(database).rename(found.id, title))
    show_sentence(printable(f"{renamed.id} is now: {renamed.title}"))


@app.command()
def export(
    session: SessionArgument = "last",
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.MARKDOWN,
) -> None:
    """Print a whole session to stdout; by default the one used last.

    Example:
      oracle sessions export > conversation.md
    """
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
    from oracle.services.storage.naming import Naming

    project = project_of(typed)

    async def read(database: Database) -> tuple[Session, list[Exchange]]:
        session = await Naming(database, project).session(typed)
        return session, await Exchanges(database).of_session(session.id)

    return with_database(read)


def session_rows(
    listed: Sequence[ListedSession],
    short: Mapping[str, str],
    endings: Mapping[str, SessionEnd],
    *,
    now: float | None,
) -> list[tuple[str, ...]]:
    """With a `now` for a terminal: ages and short ids. Without one for a pipe: dates and ids."""
    from oracle.services.story.words import stop_words

    rows: list[tuple[str, ...]] = []
    for item in listed:
        session, end = item.session, endings.get(item.session.id)
        used = session.updated_at
        rows.append(
            (
                session.id if now is None else short[session.id],
                shown_time(used) if now is None else shown_age(used, now=now),
                str(item.exchanges),
                stop_words(end.stop_reason) if end else "",
                shown_money(end.money) if end and end.money else "",
                session.title,
            )
        )
    return rows


def session_lines(
    session: Session, exchanges: Sequence[Exchange], width: int | None
) -> Iterator[StyledLine]:
    """A session as a tree. A conversation goes straight down. `├` and `└` mark branches: exchanges
    that follow the same one.

    On a terminal each text is cut to one line. In a pipe it is whole.
    """
    from oracle.services.storage.export import children
    from oracle.services.storage.records import shortened_ids

    ids = [session.id, *(exchange.id for exchange in exchanges)]
    names = {id_: id_ for id_ in ids} if width is None else shortened_ids(ids, ids)
    title = f"{printable(names[session.id])}  {printable(session.title)}"
    yield StyledLine(title if width is None else cut(title, width), "bold")
    below = children(exchanges)
    # A stack and not recursion: a conversation can be longer than Python's recursion limit.
    waiting = _placed(below.get(None, []), "")
    while waiting:
        exchange, first, rest = waiting.pop()
        for number, (text, tone) in enumerate(_labels(exchange, names)):
            line = f"{rest}{INDENT}{text}" if number else f"{first}{text}"
            yield StyledLine(line if width is None else cut(line, width), tone)
        waiting += _placed(below.get(exchange.id, []), rest)


def _placed(exchanges: Sequence[Exchange], indent: str) -> list[tuple[Exchange, str, str]]:
    """Exchanges that follow the same one, last first: each with the beginning of its first line,
    and of all lines below it.
    """
    if len(exchanges) == 1:
        return [(exchanges[0], indent, indent)]
    last = len(exchanges) - 1
    return [
        (
            exchange,
            indent + ("├── " if number < last else "└── "),
            indent + ("│   " if number < last else "    "),
        )
        for number, exchange in enumerate(exchanges)
    ][::-1]


def _labels(exchange: Exchange, names: Mapping[str, str]) -> Iterator[tuple[str, Tone]]:
    from oracle.models.session import attached_words

    yield f"{printable(names[exchange.id])}  {printable(exchange.question)}", ""
    if attached := attached_words(exchange.metadata):
        yield f"attached: {printable(attached)}", "dim"
    yield printable(exchange.answer), "dim"

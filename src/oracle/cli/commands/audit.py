"""`oracle audit`: print stored events, and follow new ones."""

from __future__ import annotations

import json
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from oracle.cli.completing import runs_beginning, types_beginning
from oracle.cli.project import project_of, with_database
from oracle.cli.terminal.output import say, say_nothing_yet
from oracle.cli.terminal.safe_text import printable
from oracle.cli.terminal.streams import check_reader
from oracle.cli.terminal.tables import StyledLine, show_lines, wrapped
from oracle.cli.terminal.times import parse_moment
from oracle.errors import InputError, named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from oracle.services.ans.event import Event
    from oracle.services.ans.query import EventQuery
    from oracle.services.ans.table import EventsTable, StoredEvent
    from oracle.services.storage.addresses import Address
    from oracle.services.storage.database import Database

BAD = ("warning", "error")


MOST_ON_A_TERMINAL = 20


def audit(
    called: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help="Only events of this run: the start of its id, or last.",
            autocompletion=runs_beginning,
            show_default=False,
        ),
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="Only this type; fallback.* for a group of types. Can be repeated.",
            autocompletion=types_beginning,
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="The same as RUN.",
            autocompletion=runs_beginning,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="TIME", help="Only newer events: an age (10m, 2h, 3d) or a time."
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", metavar="N", min=1, help="Only the newest N events."),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option("--follow", help="Keep printing new events. Without --since, start from now."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line.")
    ] = False,
) -> None:
    """Print stored events, oldest first.

    A line has the time, the run, the turn, what happened, and the node of the tree that did it.
    --json has all facts of an event.
    Without options, a terminal shows the newest events, and a pipe gets all of them.

    Examples:
      oracle audit last
      oracle audit -n 20
      oracle audit --type 'budget.*' --since 2d
      oracle audit --follow
    """
    from oracle.services.ans.event_types import select_types
    from oracle.services.ans.query import EventQuery

    run = _one_of(called, run)
    is_plain = not any((types, run, since, limit, follow, as_json))
    if is_plain and sys.stdout.isatty():
        limit = MOST_ON_A_TERMINAL
    query = EventQuery(
        types=select_types(types) if types else None,
        run_id=None if run is None else _run_called(run),
        since=parse_moment(since, now=time.time()) if since else None,
    )
    try:
        shown = 0
        for page, short in _new_pages(query, limit) if follow else _stored_pages(query, limit):
            shown += len(page)
            _print(page, short, as_json=as_json)
        if not shown and not as_json:
            _say_none(is_filtered=any((types, run, since)))
        elif is_plain and limit is not None and shown == limit:
            say(f"newest {limit}; `oracle audit last` shows the last run, -n {limit * 5} more")
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _one_of(called: str | None, run: str | None) -> str | None:
    if called is not None and run is not None and called != run:
        raise InputError(f"two runs are named: {named(called)} and {named(run)}; name one")
    return run if called is None else called


def _print(page: list[StoredEvent], short: Mapping[str, str], *, as_json: bool) -> None:
    if as_json:
        for stored in page:
            print(json_line(stored))
    elif page:
        show_lines(lambda width: event_lines(page, short, width))
    sys.stdout.flush()
    check_reader()


def _say_none(*, is_filtered: bool) -> None:
    if is_filtered:
        say("no events match; `oracle audit` without options prints all")
    else:
        say_nothing_yet("events")


def json_line(stored: StoredEvent) -> str:
    return json.dumps(stored.as_data())


def event_lines(
    page: Iterable[StoredEvent], short: Mapping[str, str], width: int | None
) -> Iterator[StyledLine]:
    """A line for each event. On a terminal it is wrapped, and ids and nodes are short."""
    for stored in page:
        event = stored.event
        is_bad = event.severity in BAD
        line = text_line(event, short if width is not None else {}, is_short=width is not None)
        for text in wrapped(line, width, rest="    "):
            yield StyledLine(text, "yellow" if is_bad else "")


def text_line(event: Event, short: Mapping[str, str], *, is_short: bool) -> str:
    from oracle.cli.terminal.story_lines import short_path
    from oracle.services.story.event_words import event_words, node_of

    at = datetime.fromtimestamp(event.at).isoformat(" ", "seconds" if is_short else "milliseconds")
    turn = "" if event.turn is None else f"turn {event.turn}"
    words = printable(event_words(event))
    if event.severity in BAD:
        words = f"{event.severity}: {words}"
    node = printable(node_of(event))
    # The whole path of a node is longer than most terminals are wide; a pipe has it.
    node = node.rpartition("/")[2] if is_short else short_path(node)
    run = printable(short.get(event.run_id or "", event.run_id or "-"))
    type_ = "" if is_short or event.type in words else printable(event.type)
    # A line that is wrapped keeps no double blanks.
    gap = " · " if is_short else "  "
    return gap.join(filter(None, (at, run, turn, type_, words, f"by {node}" if node else "")))


Pages: TypeAlias = "Iterator[tuple[list[StoredEvent], Mapping[str, str]]]"
"""Events, and the short ids of their runs."""


def _stored_pages(query: EventQuery, limit: int | None) -> Pages:
    from contextlib import closing
    from dataclasses import replace

    from oracle.services.ans.table import open_events, pages

    with closing(open_events(_database())) as table:
        if limit is not None:
            query = replace(query, after=table.before_newest(query, limit))
        for page in pages(table, query):
            yield page, _short_ids(table, page)


def _new_pages(query: EventQuery, limit: int | None) -> Pages:
    from contextlib import closing
    from dataclasses import replace
    from functools import partial

    from oracle.services.ans.follow import follow
    from oracle.services.ans.table import open_events

    url = _database()
    with closing(open_events(url)) as table:
        if limit is not None:
            query = replace(query, after=table.before_newest(query, limit))
        elif query.since is None:
            query = replace(query, after=table.last_id())
        say("waiting for events; press Ctrl-C to stop")
        for page in follow(partial(open_events, url), query):
            # The first connection only shortens ids. Without it, whole ids are shown.
            yield page, _short_ids(table, page)


def _short_ids(table: EventsTable, page: list[StoredEvent]) -> Mapping[str, str]:
    """Only a terminal needs them: a pipe gets whole ids."""
    from oracle.errors import StoreError

    if not sys.stdout.isatty():
        return {}
    try:
        return table.short_run_ids(page)
    except StoreError:
        return {}


def _run_called(typed: str) -> str:
    """The id of the run. There are events of runs that were never stored, so these count too."""
    from contextlib import closing

    from oracle.services.ans.table import open_events
    from oracle.services.storage.naming import Naming, is_last

    if not is_last(typed):
        with closing(open_events(_database())) as table:
            found = table.run_beginning(typed)
        if found is not None:
            return found
    project = project_of(typed)

    async def read(database: Database) -> str:
        return (await Naming(database, project).run(typed)).id

    return with_database(read)


def _database() -> Address:
    """The address of the project's database. Opening it migrates it to the newest schema."""

    async def address(database: Database) -> Address:
        return database.url

    return with_database(address)

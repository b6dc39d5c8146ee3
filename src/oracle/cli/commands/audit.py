"""`oracle audit`: print stored events, and follow new ones."""

from __future__ import annotations

import json
import select
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle.cli.project import with_database
from oracle.cli.terminal.times import parse_moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import URL

    from oracle.services.ans.query import EventQuery
    from oracle.services.ans.table import StoredEvent
    from oracle.services.storage.database import Database


def audit(
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type", help="Only this type; fallback.* for a group of types. Can be repeated."
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option("--run", help="Only events of this run: its id, or the start of it."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", help="Only newer events: an age (10m, 2h, 3d) or a time."),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option("--follow", help="Keep printing new events. Without --since, start from now."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line.")
    ] = False,
) -> None:
    """Print stored events, oldest first."""
    from oracle.services.ans.event_types import select_types
    from oracle.services.ans.query import EventQuery

    query = EventQuery(
        types=select_types(types) if types else None,
        run_begins=run,
        since=parse_moment(since, now=time.time()) if since else None,
    )
    show = json_line if as_json else text_line
    try:
        for page in _new_pages(query) if follow else _stored_pages(query):
            for stored in page:
                print(show(stored))
            if follow:
                _flush()
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def json_line(stored: StoredEvent) -> str:
    event = stored.event
    fields: dict[str, Any] = {
        "id": stored.id,
        "at": event.at,
        "run_id": event.run_id,
        "turn": event.turn,
        "type": event.type,
        "source": event.source,
        "severity": event.severity,
        "payload": event.payload,
    }
    return json.dumps(fields)


def text_line(stored: StoredEvent) -> str:
    """Time, severity, type, run, turn and payload. Control characters are shown escaped."""
    event = stored.event
    at = datetime.fromtimestamp(event.at).isoformat(" ", "milliseconds")
    turn = "" if event.turn is None else f" turn {event.turn}"
    payload = " ".join(
        f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in event.payload.items()
    )
    line = f"{at} {event.severity:<7} {event.type:<18} {event.run_id or '-'}{turn} {payload}"
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line.rstrip())


def _stored_pages(query: EventQuery) -> Iterator[list[StoredEvent]]:
    from contextlib import closing

    from oracle.services.ans.table import open_events, pages

    with closing(open_events(_database())) as table:
        if query.run_begins is not None:
            table.check_unique(query.run_begins)
        yield from pages(table, query)


def _new_pages(query: EventQuery) -> Iterator[list[StoredEvent]]:
    from contextlib import closing
    from dataclasses import replace
    from functools import partial

    from oracle.services.ans.follow import follow
    from oracle.services.ans.table import open_events

    url = _database()
    with closing(open_events(url)) as table:
        if query.run_begins is not None:
            table.check_unique(query.run_begins)
        if query.since is None:
            query = replace(query, after=table.last_id())
    print("oracle: waiting for events; press Ctrl-C to stop", file=sys.stderr, flush=True)
    return follow(partial(open_events, url), query)


def _database() -> URL:
    """The address of the project's database. Opening it migrates it to the newest schema."""

    async def address(database: Database) -> URL:
        return database.url

    return with_database(address)


def _flush() -> None:
    """Write the lines out, and raise `BrokenPipeError` if the reader has closed the pipe."""
    sys.stdout.flush()
    # A closed pipe raises only on the next write, and the next event may never come. So ask.
    poller = select.poll()
    poller.register(sys.stdout.fileno(), 0)
    if any(state & select.POLLERR for _, state in poller.poll(0)):
        raise BrokenPipeError

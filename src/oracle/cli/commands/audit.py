"""`oracle audit`: what happened, from the events table."""

from __future__ import annotations

import json
import select
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle.cli.terminal.moments import moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import URL

    from oracle.services.ans.query import EventQuery
    from oracle.services.ans.table import StoredEvent
    from oracle.services.storage.database import Database


def audit(
    types: Annotated[
        list[str] | None,
        typer.Option("--type", help="Only this type; fallback.* for a family. May be repeated."),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option("--run", help="Only events of this run; the beginning of its id will do."),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="Only what is newer: 10m, 2h, 3d, or a time.")
    ] = None,
    follow: Annotated[
        bool,
        typer.Option("--follow", help="Go on as they come; without --since, begin with the next."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Show what happened, oldest first."""
    from oracle.services.ans.event_types import select_types
    from oracle.services.ans.query import EventQuery

    query = EventQuery(
        types=select_types(types) if types else None,
        run_begins=run,
        since=moment(since, now=time.time()) if since else None,
    )
    show = json_line if as_json else text_line
    try:
        for page in _followed(query) if follow else _all(query):
            for stored in page:
                print(show(stored))
            if follow:
                _pass_on()
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
    """Time, severity, type, run and turn, payload. What could move a cursor is shown escaped."""
    event = stored.event
    at = datetime.fromtimestamp(event.at).isoformat(" ", "milliseconds")
    turn = "" if event.turn is None else f" turn {event.turn}"
    payload = " ".join(
        f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in event.payload.items()
    )
    line = f"{at} {event.severity:<7} {event.type:<18} {event.run_id or '-'}{turn} {payload}"
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line.rstrip())


def _all(query: EventQuery) -> Iterator[list[StoredEvent]]:
    from contextlib import closing

    from oracle.services.ans.table import open_events, pages

    with closing(open_events(_database())) as table:
        yield from pages(table, query)


def _followed(query: EventQuery) -> Iterator[list[StoredEvent]]:
    from contextlib import closing
    from dataclasses import replace
    from functools import partial

    from oracle.services.ans.follow import follow
    from oracle.services.ans.table import open_events

    url = _database()
    if query.since is None:
        with closing(open_events(url)) as table:
            query = replace(query, after=table.last_id())
    print("oracle: waiting for events; Ctrl-C ends it", file=sys.stderr, flush=True)
    return follow(partial(open_events, url), query)


def _database() -> URL:
    """The project's database, brought to the newest schema."""
    from oracle.cli.store import with_database

    async def address(database: Database) -> URL:
        return database.url

    return with_database(address)


def _pass_on() -> None:
    """Without this a reader that is gone would be noticed at the next event, if there is one."""
    sys.stdout.flush()
    poller = select.poll()
    poller.register(sys.stdout.fileno(), 0)
    if any(state & select.POLLERR for _, state in poller.poll(0)):
        raise BrokenPipeError

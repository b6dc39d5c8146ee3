"""The `events` table, as its writer and its readers see it, whichever database holds it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from oracle.services.ans.event import Event, Severity
from oracle.services.ans.query import EventQuery

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import URL


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    id: int
    event: Event


class EventsTable(Protocol):
    """One connection. When the database does not answer, a method raises StoreError; any
    other exception of `append` is the fault of what was to be appended.
    """

    def append(self, events: Sequence[Event]) -> None:
        """Write all of them or none."""
        ...

    def read(self, query: EventQuery) -> list[StoredEvent]: ...

    def last_id(self) -> int:
        """The newest event's id; 0 when there is none."""
        ...

    def wait(self, seconds: float) -> bool:
        """True as soon as there may be new events; False when `seconds` went by without."""
        ...

    def close(self) -> None: ...


def row_of(event: Event) -> tuple[Any, ...]:
    """The values of `COLUMNS`."""
    return (
        event.run_id,
        event.turn,
        event.type,
        event.source,
        str(event.severity),
        event.payload_json,
        event.at,
    )


def stored_event(row: Sequence[Any]) -> StoredEvent:
    """Take an id and the values of `COLUMNS`; PostgreSQL's driver has read the JSON already."""
    number, run_id, turn, type_, source, severity, payload, at = row
    event = Event(
        type=type_,
        source=source,
        severity=_SEVERITIES.get(severity, Severity.ERROR),
        payload=json.loads(payload) if isinstance(payload, str) else payload,
        run_id=run_id,
        turn=turn,
        at=at,
    )
    return StoredEvent(id=number, event=event)


_SEVERITIES = {severity.value: severity for severity in Severity}
"""What is not among them was written by a newer oracle, or by mistake: worth a look, either way."""


def open_events(where: URL | Path | str) -> EventsTable:
    """Open the table of a database that `Database.open` has brought to the newest schema."""
    from oracle.services.storage.database import as_url

    url = as_url(where)
    if url.get_backend_name() == "sqlite":
        from oracle.services.ans.sqlite import SqliteEvents

        return SqliteEvents(str(url.database))
    from oracle.services.ans.postgres import PostgresEvents

    return PostgresEvents(url.set(drivername="postgresql").render_as_string(hide_password=False))


def pages(table: EventsTable, query: EventQuery) -> Iterator[list[StoredEvent]]:
    """All that the query means, `limit` at a time: a long history never stands in memory."""
    while page := table.read(query):
        query = replace(query, after=page[-1].id)
        yield page

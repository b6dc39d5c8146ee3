"""The `events` table, for its writer and its readers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from oracle.errors import StoreError
from oracle.lazy_dataclass import dataclass
from oracle.models.session import LOCAL
from oracle.services.ans.event import Event, Severity
from oracle.services.ans.query import COLUMNS, EventQuery, select, select_newest
from oracle.services.storage.damage import RESTORE, Damaged, check_row, read_json
from oracle.services.storage.records import (
    SHORTEST_ID,
    SHOWN_MATCHES,
    ambiguous,
    shortened_ids,
)
from oracle.services.storage.schema import events
from oracle.services.storage.transactions import beginning
from oracle.services.storage.users import seen

if TYPE_CHECKING:
    from pathlib import Path

    from oracle.services.storage.addresses import Address
    from oracle.services.storage.connections import Connection

TOPIC: Final = "oracle_events"
INSERT: Final = f"INSERT INTO events ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    id: int
    event: Event

    def as_data(self) -> dict[str, Any]:
        event = self.event
        return {
            "id": self.id,
            "at": event.at,
            "run_id": event.run_id,
            "turn": event.turn,
            "type": event.type,
            "source": event.source,
            "severity": event.severity,
            "payload": event.payload,
        }


class EventsTable:
    """The table as a `user` sees it, through one connection. A method raises `StoreError` if the
    database cannot be used. Any other exception of `append` is caused by an event.
    """

    def __init__(self, connection: Connection, shown: str, user: str | None = LOCAL) -> None:
        self._connection = connection
        self._shown = shown
        self._seen = seen("events", user)

    def append(self, events: Sequence[Event]) -> None:
        """Write all events or none."""
        with self._connection.transaction(TOPIC) as write:
            write(INSERT, map(row_of, events))

    def read(self, query: EventQuery) -> list[StoredEvent]:
        try:
            return [stored_event(row) for row in self._connection.rows(*select(query, self._seen))]
        except Damaged as problem:
            raise StoreError(f"{self._shown} is damaged: {problem}; {RESTORE}") from None

    def run_beginning(self, typed: str) -> str | None:
        """The only run with events whose id begins so, or is this; `InputError` for several."""
        found = self._runs_beginning(typed)
        if typed in found:
            return typed
        if len(found) > 1:
            raise ambiguous("run", typed, found)
        return found[0] if found else None

    def short_run_ids(self, page: Sequence[StoredEvent]) -> dict[str, str]:
        """The runs of these events, each with a prefix that no other run with events has."""
        ids = {stored.event.run_id for stored in page} - {None}
        short: dict[str, str] = {}
        for id_ in map(str, ids):
            short |= shortened_ids([id_], self._runs_beginning(id_[:SHORTEST_ID]))
        return short

    def _runs_beginning(self, typed: str) -> list[str]:
        if not typed:
            return []
        where, values = beginning(self._connection.begins, "run_id", typed)
        sql = (
            f"SELECT DISTINCT run_id FROM {self._seen.sql} WHERE {where} "
            f"ORDER BY run_id LIMIT {SHOWN_MATCHES + 1}"
        )
        rows = self._connection.rows(sql, [*self._seen.values, *values])
        return [str(run_id) for (run_id,) in rows]

    def before_newest(self, query: EventQuery, count: int) -> int:
        """The id after which only the newest `count` events of the query follow."""
        rows = list(self._connection.rows(*select_newest(query, count, self._seen)))
        return rows[-1][0] - 1 if rows else 0

    def last_id(self) -> int:
        """The id of the newest event; 0 if there is none."""
        ((newest,),) = self._connection.rows("SELECT max(id) FROM events")
        return newest or 0

    def wait(self, seconds: float) -> bool:
        """True as soon as there may be new events; False if `seconds` passed without any."""
        return self._connection.wait(TOPIC, seconds)

    def close(self) -> None:
        self._connection.close()


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
    """Build an event from an id and the values of `COLUMNS`. Some drivers decode the JSON."""
    number, run_id, turn, type_, source, severity, payload, at = row
    if isinstance(payload, str):
        row = (*row[:6], read_json(payload), at)
        payload = row[6]
    _check(row)
    event = Event(
        type=type_,
        source=source,
        severity=_SEVERITIES.get(severity, Severity.ERROR),
        payload=payload,
        run_id=run_id,
        turn=turn,
        at=at,
    )
    return StoredEvent(id=number, event=event)


def _check(row: Sequence[Any]) -> None:
    """Some drivers give any value for any column, so one that was changed is found here."""
    check_row(events, dict(zip(("id", *COLUMNS.split(", ")), row, strict=True)))


_SEVERITIES: Final = {severity.value: severity for severity in Severity}
"""Any other name was written by a newer version or by mistake, and is shown as an error."""


def open_events(where: Address | Path | str, user: str | None = LOCAL) -> EventsTable:
    """Open the table of a database. `Database.open` must have migrated it to the newest schema."""
    from oracle.services.storage.connections import connect, shown
    from oracle.services.storage.database import as_url

    # Not durable: events never make a run wait for the disk. A commit of the journal syncs them.
    url = as_url(where)
    return EventsTable(connect(url, durable=False), shown(url), user)


def pages(table: EventsTable, query: EventQuery) -> Iterator[list[StoredEvent]]:
    """All events of the query, `limit` at a time, so that a long history is never all in memory."""
    while page := table.read(query):
        query = replace(query, after=page[-1].id)
        yield page

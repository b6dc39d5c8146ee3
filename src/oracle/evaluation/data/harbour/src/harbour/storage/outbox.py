"""Durable events wait here until they are delivered, at least once."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from harbour.events.types import Event
from harbour.storage.db import Database

MAX_ATTEMPTS = 7
BACKOFF_CAP_SECONDS = 300


@dataclass(frozen=True, kw_only=True)
class Entry:
    id: int
    event: Event
    attempts: int


def pause_before(attempt: int) -> timedelta:
    """2, 4, 8 ... seconds, never more than five minutes."""
    return timedelta(seconds=min(2**attempt, BACKOFF_CAP_SECONDS))


class OutboxStore:
    def __init__(self, database: Database):
        self._database = database

    def put(self, event: Event) -> int:
        row = self._database.repeat(
            lambda db: db.one(
                "insert into outbox (name, at, payload) values ($1, $2, $3) returning id",
                event.name,
                event.at,
                json.dumps(event.payload),
            )
        )
        return row["id"]

    def due(self, now: datetime, limit: int) -> list[Entry]:
        """In the order they were put in; a parked entry does not hold up those after it."""
        with self._database.transaction() as db:
            rows = db.all(
                "select id, name, at, payload, attempts from outbox where delivered_at is null"
                " and parked_at is null and next_try <= $1 order by id limit $2",
                now,
                limit,
            )
        return [
            Entry(
                id=row["id"],
                event=Event(name=row["name"], at=row["at"], payload=json.loads(row["payload"])),
                attempts=row["attempts"],
            )
            for row in rows
        ]

    def delivered(self, db: Any, entry: Entry, now: datetime) -> None:
        db.execute(
            "update outbox set attempts = attempts + 1, delivered_at = $2 where id = $1",
            entry.id,
            now,
        )

    def failed(self, db: Any, entry: Entry, now: datetime, why: str) -> bool:
        """Returns True if the entry was parked."""
        attempts = entry.attempts + 1
        parked = attempts >= MAX_ATTEMPTS
        db.execute(
            "update outbox set attempts = $2, next_try = $3, parked_at = $4, last_error = $5"
            " where id = $1",
            entry.id,
            attempts,
            now + pause_before(attempts),
            now if parked else None,
            why[:500],
        )
        return parked

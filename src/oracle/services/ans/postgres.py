"""The events table in PostgreSQL, on the plain driver."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

import psycopg

from oracle.errors import StoreError
from oracle.services.ans.event import Event
from oracle.services.ans.query import COLUMNS, EventQuery, select
from oracle.services.ans.table import StoredEvent, row_of, stored_event

CONNECT_SECONDS = 10
CHANNEL = "oracle_events"
INSERT = f"INSERT INTO events ({COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s)"
TAKE_TURNS = "SELECT pg_advisory_xact_lock(hashtext('oracle_events'))"
"""Ids are handed out before the commit. Without taking turns a reader that has seen id 8 could miss
id 7, which another process commits a moment later.
"""


class PostgresEvents:
    def __init__(self, url: str) -> None:
        with _unavailable():
            self._connection = psycopg.connect(
                url, autocommit=True, connect_timeout=CONNECT_SECONDS
            )
        self._listening = False

    def append(self, events: Sequence[Event]) -> None:
        with _unavailable(), self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute(TAKE_TURNS)
            cursor.executemany(INSERT, map(row_of, events))
            cursor.execute(f"NOTIFY {CHANNEL}")

    def read(self, query: EventQuery) -> list[StoredEvent]:
        sql, values = select(query, "%s")
        with _unavailable():
            rows = self._connection.execute(sql.encode(), values).fetchall()
        return [stored_event(row) for row in rows]

    def last_id(self) -> int:
        with _unavailable():
            row = self._connection.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()
        assert row is not None
        return row[0]

    def wait(self, seconds: float) -> bool:
        """The first call only begins to listen: what came before it is found by reading again."""
        with _unavailable():
            if self._listening:
                return any(self._connection.notifies(timeout=seconds, stop_after=1))
            self._connection.execute(f"LISTEN {CHANNEL}")
            self._listening = True
            return True

    def close(self) -> None:
        self._connection.close()


@contextmanager
def _unavailable() -> Generator[None]:
    try:
        yield
    except (psycopg.DataError, psycopg.IntegrityError):
        raise
    except psycopg.Error as problem:
        raise StoreError(str(problem).strip()) from problem

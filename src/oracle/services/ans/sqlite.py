"""The events table in SQLite, on the plain driver."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from oracle.errors import StoreError
from oracle.services.ans.event import Event
from oracle.services.ans.query import COLUMNS, EventQuery, select
from oracle.services.ans.table import StoredEvent, row_of, stored_event

LOCK_SECONDS = 10.0
POLL_SECONDS = 0.1
INSERT = f"INSERT INTO events ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"


class SqliteEvents:
    """A commit is in the hands of the system when `append` returns, and on the disk with the next
    commit of the journal, which does sync: so events never make a run wait for the disk.
    """

    def __init__(self, path: Path | str) -> None:
        address = f"{Path(path).absolute().as_uri()}?mode=rw"
        with _unavailable():
            self._connection = sqlite3.connect(
                address,
                uri=True,
                timeout=LOCK_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            self._connection.execute("PRAGMA synchronous = NORMAL")

    def append(self, events: Sequence[Event]) -> None:
        with _unavailable(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(INSERT, map(row_of, events))

    def read(self, query: EventQuery) -> list[StoredEvent]:
        with _unavailable():
            rows = self._connection.execute(*select(query, "?")).fetchall()
        return [stored_event(row) for row in rows]

    def last_id(self) -> int:
        with _unavailable():
            (newest,) = self._connection.execute("SELECT max(id) FROM events").fetchone()
        return newest or 0

    def wait(self, seconds: float) -> bool:
        """SQLite tells nobody; who wants to know asks again."""
        time.sleep(min(seconds, POLL_SECONDS))
        return True

    def close(self) -> None:
        self._connection.close()


_FAULT_OF_A_ROW = (
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
)


@contextmanager
def _unavailable() -> Generator[None]:
    try:
        yield
    except _FAULT_OF_A_ROW:
        raise
    except sqlite3.Error as problem:
        raise StoreError(str(problem)) from problem

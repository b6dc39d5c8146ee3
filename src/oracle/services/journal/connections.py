"""The plain driver for the journal's writer: a run waits for it, so it carries nothing extra."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from oracle.services.journal.writer import Connection, JournalWriter, OnFailure
from oracle.settings import load_settings

if TYPE_CHECKING:
    from sqlalchemy import URL

LOCK_SECONDS: Final = 10.0
CONNECT_SECONDS: Final = 10


def journal_writer(url: URL, *, on_failure: OnFailure | None = None) -> JournalWriter:
    """A writer for the database that `url` names, which must have its tables already.

    What happens when it cannot write is said by the caller, else by the setting `journal.failure`.
    """
    on_failure = on_failure or load_settings().journal.failure
    if url.get_backend_name() == "sqlite":
        return JournalWriter(_sqlite(str(url.database)), on_failure=on_failure)
    return JournalWriter(_postgres(url), placeholder="%s", on_failure=on_failure)


def _sqlite(path: str) -> Callable[[], Connection]:
    def connect() -> Connection:
        connection = sqlite3.connect(path, timeout=LOCK_SECONDS, check_same_thread=False)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    return connect


def _postgres(url: URL) -> Callable[[], Connection]:
    def connect() -> Connection:
        import psycopg

        address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        return psycopg.connect(address, connect_timeout=CONNECT_SECONDS)

    return connect

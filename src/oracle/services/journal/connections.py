"""The plain driver for the journal's writer: a run waits for it, so it carries nothing extra."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from oracle.errors import InputError
from oracle.services.journal.writer import Connection, JournalWriter, OnFailure

if TYPE_CHECKING:
    from sqlalchemy import URL

LOCK_SECONDS: Final = 10.0
CONNECT_SECONDS: Final = 10


FAILURE_VARIABLE: Final = "ORACLE_JOURNAL_FAILURE"


def journal_writer(url: URL, *, on_failure: OnFailure | None = None) -> JournalWriter:
    """A writer for the database that `url` names, which must have its tables already.

    What happens when it cannot write is said by the caller, else by `ORACLE_JOURNAL_FAILURE`.
    """
    on_failure = on_failure or _chosen_on_failure()
    if url.get_backend_name() == "sqlite":
        return JournalWriter(_sqlite(str(url.database)), on_failure=on_failure)
    return JournalWriter(_postgres(url), placeholder="%s", on_failure=on_failure)


def _chosen_on_failure() -> OnFailure:
    chosen = os.environ.get(FAILURE_VARIABLE, "stop")
    if chosen == "stop" or chosen == "memory":
        return chosen
    raise InputError(f"{FAILURE_VARIABLE} is {chosen!r}; use stop or memory")


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

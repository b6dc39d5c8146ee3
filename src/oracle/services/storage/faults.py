"""What a database complains of, in words that name the place and the next step."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError, OperationalError

from oracle.errors import StoreError

_SQLITE: Final = {
    "SQLITE_FULL": "cannot grow, the disk is full; free some space, then try again",
    "SQLITE_READONLY": "is read-only; make the file and its folder writable",
    "SQLITE_CANTOPEN": "cannot be opened; see that its folder exists and is writable",
    "SQLITE_NOTADB": "is not an SQLite database; move the file away, and a new one is made",
    "SQLITE_CORRUPT": "is damaged; restore a copy, or move the file away, and a new one is made",
    "SQLITE_BUSY": "is being written by another process; try again when that has ended",
    "SQLITE_IOERR": "cannot be read or written, the disk reports an error; check the disk",
}
_POSTGRESQL: Final[dict[str | None, str]] = {
    "57P01": "was shut down; try again when the server is back",
    "57P03": "is just starting; try again in a moment",
    "53100": "cannot grow, the server's disk is full; free some space, then try again",
    "25006": "is read-only; connect to the primary server",
    "42501": "denies this user what is needed; grant it the right to create and write tables",
}


@contextmanager
def told_as_store_errors(url: URL) -> Generator[None]:
    """Turn what the world did to a database into a `StoreError`; let our own mistakes through."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as problem:
        told = _told(problem)
        if told is None:
            raise
        raise StoreError(f"{shown(url)} {told}") from problem


def shown(url: URL) -> str:
    """A path or an address, without password and options."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    host = url.host or url.query.get("host") or "localhost"
    port = f":{url.port}" if url.port else ""
    return f"postgresql://{host}{port}/{url.database or ''}"


def _told(problem: DBAPIError | sqlite3.Error) -> str | None:
    cause = problem.orig if isinstance(problem, DBAPIError) else problem
    if name := getattr(cause, "sqlite_errorname", None):
        return next((told for code, told in _SQLITE.items() if name.startswith(code)), None)
    state = getattr(cause, "sqlstate", None)
    if state not in _POSTGRESQL and isinstance(problem, OperationalError):
        reason = (str(cause).strip().splitlines() or ["no answer"])[0]
        return f"cannot be used ({reason}); see that the server runs and the address is right"
    return _POSTGRESQL.get(state)

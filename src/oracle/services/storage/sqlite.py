"""SQLite: one file, many processes. In WAL mode readers and the writer do not block each other."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import JSON, URL, event, text
from sqlalchemy import Connection as SqlalchemyConnection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.types import TypeEngine

from oracle.errors import StoreError
from oracle.regular_file import check_database

if TYPE_CHECKING:
    from oracle.services.storage.connections import Write

BUSY_SECONDS: Final = 10.0
"""How long a connection waits for the lock of another writer."""
POLL_SECONDS: Final = 0.1

_ADVICE: Final = {
    "SQLITE_FULL": "cannot grow, the disk is full; free some space, then try again",
    "SQLITE_READONLY": "is read-only; make the file and its folder writable",
    "SQLITE_CANTOPEN": "cannot be opened; check that its folder exists and is writable",
    "SQLITE_NOTADB": "is not an SQLite database; move the file away, and a new one is made",
    "SQLITE_CORRUPT": "is damaged; restore a copy, or move the file away, and a new one is made",
    "SQLITE_BUSY": "is being written by another process; try again when that has ended",
    "SQLITE_IOERR": "cannot be read or written, the disk reports an error; check the disk",
}
# `secure_delete` overwrites deleted rows with zeros: what is forgotten is not left in the file.
_PRAGMAS: Final = ("synchronous = FULL", "foreign_keys = ON", "secure_delete = ON")
# A writer takes its lock at once: one that began as a reader could not wait for it, because
# another may have written since, and SQLite then refuses instead of waiting.
_BEGIN: Final = {"read": "BEGIN", "write": "BEGIN IMMEDIATE"}


class Sqlite:
    json_column: str = "TEXT"
    counting_key: str = "INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"
    now: str = "((julianday('now') - 2440587.5) * 86400.0)"
    # A transaction that writes keeps all other writers waiting anyway.
    migration_lock: str | None = None
    texts_lock: str | None = None
    autocommit: Mapping[str, Any] = {}

    def address(self, url: URL, root: Path | None = None) -> URL | None:
        if url.database in (None, "", ":memory:"):
            return None
        path = url.database if root is None else root / str(url.database)
        return url.set(drivername="sqlite+aiosqlite", database=str(path))

    def read_only(self, url: URL) -> URL | None:
        path = Path(str(url.database))
        if not path.exists():
            return None
        _check_file(path)
        file = path.absolute().as_uri()
        return URL.create("sqlite", database=file, query={"mode": "ro", "uri": "1"})

    def shown(self, url: URL) -> str:
        return str(url.database)

    def explain(self, problem: BaseException) -> str | None:
        name = getattr(problem, "sqlite_errorname", None) or ""
        return next((advice for code, advice in _ADVICE.items() if name.startswith(code)), None)

    def json_type(self) -> TypeEngine[Any]:
        return JSON()

    def engine(self, url: URL) -> AsyncEngine:
        engine = create_async_engine(url, connect_args={"timeout": BUSY_SECONDS})
        event.listen(engine.sync_engine, "connect", _set_up)
        event.listen(engine.sync_engine, "begin", _begin)
        return engine

    async def prepare(self, engine: AsyncEngine) -> None:
        _check_file(str(engine.url.database))
        arguments, options = engine.dialect.create_connect_args(engine.url)
        await asyncio.to_thread(_enter_wal_mode, *arguments, **options)

    async def scrub(self, connection: AsyncConnection, tables: Iterable[str]) -> str | None:
        await connection.execute(text("VACUUM"))
        # The log still holds the deleted rows. Emptying it fails while another process reads it.
        log_in_use = await connection.scalar(text("PRAGMA wal_checkpoint(TRUNCATE)"))
        return f"{connection.engine.url.database}-wal" if log_in_use else None

    def connect(self, url: URL, *, durable: bool) -> SqliteConnection:
        return SqliteConnection(str(url.database), durable=durable)


def _check_file(path: str | Path) -> None:
    """SQLite would wait for ever for a pipe."""
    try:
        check_database(path)
    except OSError as problem:
        raise StoreError(f"the database {path} cannot be used: {problem.strerror}") from None


def _set_up(connection: Any, _: ConnectionPoolEntry) -> None:
    # The driver must not begin transactions on its own: `_begin` does.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: SqlalchemyConnection) -> None:
    kind = connection.get_execution_options().get("transaction")
    if kind is not None:
        connection.exec_driver_sql(_BEGIN[kind])


def _enter_wal_mode(*arguments: Any, **options: Any) -> None:
    """Open the file once on the plain driver, before the async driver gives it a thread.

    A file that cannot be used is found here. Changing the mode needs a lock that SQLite itself
    does not wait for.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    with closing(sqlite3.connect(*arguments, timeout=BUSY_SECONDS, **options)) as connection:
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as problem:
                if problem.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)


_FAULTS_OF_VALUES: Final = (
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
)


class SqliteConnection:
    def __init__(self, path: str, *, durable: bool) -> None:
        self._path = path
        _check_file(path)
        # `mode=rw`: a missing file is an error to report, not a reason to create an empty database.
        address = f"{Path(path).absolute().as_uri()}?mode=rw"
        with self._faults():
            # One thread writes, but the thread that closes or flushes may be another.
            self._connection = sqlite3.connect(
                address,
                uri=True,
                timeout=BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._connection.execute("PRAGMA foreign_keys = ON")

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._faults():
            return self._connection.execute(sql, values).fetchall()

    @contextmanager
    def transaction(self, topic: str | None = None) -> Generator[Write]:
        # All writers of a file take turns anyway, so a topic needs nothing more.
        with self._faults(), self._connection:
            self._connection.execute(_BEGIN["write"])
            yield self._write

    def wait(self, topic: str, seconds: float) -> bool:
        """SQLite cannot notify, so the caller reads again after a moment."""
        time.sleep(min(seconds, POLL_SECONDS))
        return True

    def close(self) -> None:
        self._connection.close()

    def _write(self, sql: str, rows: Iterable[Sequence[Any]], /) -> int:
        return self._connection.executemany(sql, rows).rowcount

    @contextmanager
    def _faults(self) -> Generator[None]:
        try:
            yield
        except _FAULTS_OF_VALUES:
            raise
        except sqlite3.Error as problem:
            advice = Sqlite().explain(problem) or f"cannot be used ({problem})"
            raise StoreError(f"{self._path} {advice}") from problem

"""The way to the database: where it is, opening it at the newest schema, and transactions."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, Self

from sqlalchemy import URL, Connection, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from oracle.errors import InputError
from oracle.services.project.root import find_root, made_user_folder, oracle_folder, user_folder
from oracle.services.storage.faults import told_as_store_errors
from oracle.services.storage.migrations import MIGRATIONS, Migration, migrate, version_of
from oracle.settings import Settings, load_settings

FILE_NAME: Final = "oracle.db"
BUSY_SECONDS: Final = 10
CONNECT_SECONDS: Final = 10

_DRIVERS: Final = {
    "sqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
}


def default_url(project_root: Path | None = None) -> URL:
    """What the setting `database.url` says, else SQLite in the project's `.oracle/`.

    Without a `project_root` it is the project of the working directory. Outside of any it is the
    user's own database, if something was asked there before.
    """
    settings = load_settings(project_root)
    if settings.database.url is not None:
        return url_from(settings, settings.database.url)
    own = user_folder() / FILE_NAME
    if settings.root is None and project_root is None and own.exists():
        return as_url(own)
    return as_url(oracle_folder(project_root or find_root(Path.cwd())) / FILE_NAME)


def url_for_writing(settings: Settings) -> URL:
    """The same, but outside of any project the user's own database is made on first use."""
    if settings.database.url is not None:
        return url_from(settings, settings.database.url)
    if settings.root is not None:
        return as_url(oracle_folder(settings.root) / FILE_NAME)
    return as_url(made_user_folder() / FILE_NAME)


def url_from(settings: Settings, given: str) -> URL:
    """A path that the settings file names counts from the project's root, wherever one stands."""
    origin = settings.origins["database.url"]
    url = as_url(given, named=f"{origin}: database.url")
    if origin.source == "file" and settings.root and url.get_backend_name() == "sqlite":
        return url.set(database=str(settings.root / str(url.database)))
    return url


def as_url(where: URL | str | Path, *, named: str = "the database's address") -> URL:
    """A URL with the driver that we use. A string without `://` is a path."""
    if isinstance(where, Path) or (isinstance(where, str) and "://" not in where):
        return URL.create("sqlite+aiosqlite", database=str(where))
    try:
        url = make_url(where)
    except (ArgumentError, ValueError):
        raise InputError(f"{named} is no URL; {_FORMS}") from None
    backend = url.drivername.partition("+")[0]
    if backend not in _DRIVERS or (backend == "sqlite" and url.database in (None, "", ":memory:")):
        raise InputError(f"{named} names no database that oracle can use; {_FORMS}")
    return url.set(drivername=_DRIVERS[backend])


_FORMS: Final = "write sqlite:///path/to/file.db or postgresql://user:password@host/name"


class Database:
    """An open database at the newest schema. `async with await Database.open(…) as database:`"""

    def __init__(self, url: URL, engine: AsyncEngine) -> None:
        self.url = url
        self.engine = engine

    @classmethod
    async def open(
        cls, where: URL | str | Path, *, migrations: Sequence[Migration] = MIGRATIONS
    ) -> Self:
        """Connect and bring the schema up to date; any number of processes may do so at once."""
        url = as_url(where)
        database = cls(url, _engine(url))
        try:
            await database._prepare(migrations)
        except BaseException:
            await database.close()
            raise
        return database

    async def close(self) -> None:
        await self.engine.dispose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[AsyncConnection]:
        """A transaction that only looks, and keeps no writer waiting."""
        async with self._transaction(sqlite_begin="BEGIN") as connection:
            yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator[AsyncConnection]:
        """All of it is written, or nothing."""
        async with self._transaction(sqlite_begin="BEGIN IMMEDIATE") as connection:
            yield connection

    @asynccontextmanager
    async def outside_transactions(self) -> AsyncGenerator[AsyncConnection]:
        """For commands that refuse to run in a transaction."""
        options: dict[str, Any] = {"sqlite_begin": None}
        if not self.is_sqlite:
            options["isolation_level"] = "AUTOCOMMIT"
        with told_as_store_errors(self.url):
            async with self.engine.connect() as connection:
                yield await connection.execution_options(**options)

    @asynccontextmanager
    async def _transaction(self, *, sqlite_begin: str) -> AsyncGenerator[AsyncConnection]:
        with told_as_store_errors(self.url):
            async with self.engine.connect() as connection:
                await connection.execution_options(sqlite_begin=sqlite_begin)
                async with connection.begin():
                    yield connection

    async def _prepare(self, migrations: Sequence[Migration]) -> None:
        if self.is_sqlite:
            arguments, options = self.engine.dialect.create_connect_args(self.url)
            with told_as_store_errors(self.url):
                await asyncio.to_thread(_enter_wal_mode, *arguments, **options)
        async with self.reading() as connection:
            version = await connection.run_sync(version_of)
        if version != len(migrations):
            async with self.writing() as connection:
                await connection.run_sync(migrate, migrations)


def _engine(url: URL) -> AsyncEngine:
    if url.get_backend_name() == "sqlite":
        engine = create_async_engine(url, connect_args={"timeout": BUSY_SECONDS})
        event.listen(engine.sync_engine, "connect", _set_up_sqlite)
        event.listen(engine.sync_engine, "begin", _begin_sqlite)
        return engine
    patience = {} if "connect_timeout" in url.query else {"connect_timeout": CONNECT_SECONDS}
    try:
        return create_async_engine(url, connect_args=patience, pool_pre_ping=True)
    except ModuleNotFoundError as problem:
        raise InputError(
            f"PostgreSQL needs the package {problem.name}; run: pip install 'bt-oracle[postgres]'"
        ) from problem


def _enter_wal_mode(*arguments: Any, **options: Any) -> None:
    """Open the file once by the plain driver, before the async one gives it a thread.

    A file that cannot be used is found here. Changing the mode needs a lock that SQLite itself
    does not wait for.
    """
    deadline = monotonic() + BUSY_SECONDS
    with closing(sqlite3.connect(*arguments, timeout=BUSY_SECONDS, **options)) as connection:
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as problem:
                if problem.sqlite_errorname != "SQLITE_BUSY" or monotonic() > deadline:
                    raise
            sleep(0.01)


def _set_up_sqlite(connection: Any, _: ConnectionPoolEntry) -> None:
    # The driver must not begin transactions on its own: `_begin_sqlite` does.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    """A writer takes its lock at once; one that began as a reader could not wait for it."""
    if begin := connection.get_execution_options().get("sqlite_begin"):
        connection.exec_driver_sql(begin)

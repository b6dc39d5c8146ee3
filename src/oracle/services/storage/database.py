"""The database: its address, opening it at the newest schema, and transactions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Self

from sqlalchemy import URL, create_engine, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.pool import NullPool

from oracle.errors import InputError, StoreError
from oracle.services.project.root import (
    find_root,
    here,
    made_user_folder,
    oracle_folder,
    user_folder,
)
from oracle.services.storage.connections import (
    ADDRESS_FORMS,
    BACKENDS,
    backend_of,
    store_errors,
)
from oracle.services.storage.migrations import MIGRATIONS, Migration, migrate, version_of
from oracle.settings import Settings

FILE_NAME: Final = "oracle.db"


def default_url(settings: Settings) -> URL:
    """The address in the setting `database.url`, else SQLite in the project's `.oracle/`.

    Outside of any project it is the user's own database, if it exists.
    """
    if settings.database.url is not None:
        return url_from(settings, settings.database.url)
    own = user_folder() / FILE_NAME
    if settings.root is None and own.exists():
        return as_url(own)
    # Without a project `find_root` raises, and says how to make one.
    root = settings.root or find_root(here())
    try:
        return as_url(oracle_folder(root) / FILE_NAME)
    except StoreError as problem:
        raise StoreError(f"{problem}, or set ORACLE_DATABASE_URL") from problem


def url_for_writing(settings: Settings) -> URL:
    """The same, but outside of any project the user's own database is made on first use."""
    if settings.database.url is None and settings.root is None:
        return as_url(made_user_folder() / FILE_NAME)
    return default_url(settings)


def url_from(settings: Settings, given: str) -> URL:
    """A path in the settings file starts at the project's root, whatever the working directory."""
    origin = settings.origins["database.url"]
    root = settings.root if origin.source == "file" else None
    return _address(given, root, named=f"{origin}: database.url")


def as_url(where: URL | str | Path) -> URL:
    """A URL with the driver that we use. A string without `://` is a path."""
    return _address(where, None, named="the database's address")


def _address(where: URL | str | Path, root: Path | None, *, named: str) -> URL:
    if isinstance(where, Path) or (isinstance(where, str) and "://" not in where):
        where = URL.create("sqlite", database=str(where))
    try:
        url = make_url(where)
    except (ArgumentError, ValueError):
        raise InputError(f"{named} is not a URL; {ADDRESS_FORMS}") from None
    backend = BACKENDS.get(url.get_backend_name())
    address = None if backend is None else backend().address(url, root)
    if address is None:
        raise InputError(f"{named} is not a database that oracle can use; {ADDRESS_FORMS}")
    return address


def schema_of(url: URL) -> int | None:
    """How many migrations a database has had; None if it does not exist. Changes nothing."""
    address = backend_of(url).read_only(url)
    if address is None:
        return None
    with store_errors(url), create_engine(address, poolclass=NullPool).connect() as connection:
        return version_of(connection)


class Database:
    """An open database at the newest schema. `async with await Database.open(…) as database:`"""

    def __init__(self, url: URL) -> None:
        self.url = url
        self.backend = backend_of(url)
        self.engine: AsyncEngine = self.backend.engine(url)

    @classmethod
    async def open(
        cls, where: URL | str | Path, *, migrations: Sequence[Migration] = MIGRATIONS
    ) -> Self:
        """Connect and bring the schema up to date; any number of processes may do so at once."""
        database = cls(as_url(where))
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

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[AsyncConnection]:
        """A transaction that only reads. No writer has to wait for it."""
        async with self._connection(transaction="read") as connection, connection.begin():
            yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncGenerator[AsyncConnection]:
        """A transaction that writes everything or nothing."""
        async with self._connection(transaction="write") as connection, connection.begin():
            yield connection

    @asynccontextmanager
    async def outside_transactions(self) -> AsyncGenerator[AsyncConnection]:
        """For commands that refuse to run in a transaction."""
        async with self._connection(transaction=None, **self.backend.autocommit) as connection:
            yield connection

    @asynccontextmanager
    async def _connection(self, **options: Any) -> AsyncGenerator[AsyncConnection]:
        with store_errors(self.url):
            async with self.engine.connect() as connection:
                yield await connection.execution_options(**options)

    async def _prepare(self, migrations: Sequence[Migration]) -> None:
        with store_errors(self.url):
            await self.backend.prepare(self.engine)
        # Reading first: an up-to-date database needs no write lock at each start.
        async with self.reading() as connection:
            version = await connection.run_sync(version_of)
        if version != len(migrations):
            async with self.writing() as connection:
                await connection.run_sync(migrate, migrations)

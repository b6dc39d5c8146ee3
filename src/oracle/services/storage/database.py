"""The database: its address, opening it at the newest schema, and transactions."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self, TypeVar

from oracle.errors import StoreError
from oracle.models.session import LOCAL
from oracle.services.background import in_thread_to_end
from oracle.services.project.root import (
    DATABASE_FILES,
    find_root,
    here,
    made_user_folder,
    oracle_folder,
    user_folder,
)
from oracle.services.storage.addresses import Address, address_of
from oracle.services.storage.connections import backend_of, shown, store_errors
from oracle.services.storage.damage import ELSEWHERE
from oracle.services.storage.migrations import MIGRATIONS, Migration, migrate, version_of
from oracle.services.storage.transactions import Connections, Kind, Transaction
from oracle.services.storage.write_queue import WriteQueue
from oracle.settings import Settings

Result = TypeVar("Result")

FILE_NAME: Final = "oracle.db"
READERS: Final = 2
"""Threads that read. What they do is short, and Python runs one at a time anyway."""


def default_url(settings: Settings) -> Address:
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
        return as_url(oracle_folder(root, DATABASE_FILES) / FILE_NAME)
    except StoreError as problem:
        raise StoreError(f"{problem}, or {ELSEWHERE}") from problem


def url_for_writing(settings: Settings) -> Address:
    """The same, but outside of any project the user's own database is made on first use."""
    if settings.database.url is None and settings.root is None:
        return as_url(made_user_folder() / FILE_NAME)
    return default_url(settings)


def url_from(settings: Settings, given: str) -> Address:
    """A path in a settings file starts at the project's root, whatever the working directory."""
    origin = settings.origins["database.url"]
    root = settings.root if origin.source in ("user", "file") else None
    return address_of(given, root, named=f"{origin}: database.url")


def as_url(where: Address | str | Path) -> Address:
    """An address that was given as text. A string without `://` is a path."""
    return address_of(where, None, named="the database's address")


def schema_of(url: Address) -> int | None:
    """How many migrations a database has had; None if it does not exist. Changes nothing."""
    backend = backend_of(url)
    if not backend.exists(url):
        return None
    with store_errors(url), backend.looking(url) as connection:
        return version_of(connection)


class Database:
    """An open database at the newest schema. `async with await Database.open(…) as database:`

    It belongs to no event loop: its connections are used in threads of its own, a few for any
    number of callers. It sees the rows of one `user`; with None, those of all.
    """

    def __init__(self, url: Address) -> None:
        self.url = url
        self.user: str | None = LOCAL
        self.backend = backend_of(url)
        self._connections = Connections(self.backend, url)
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="database-read")
        self._writes = WriteQueue(self._begin_writing)
        self._file: object = None

    @classmethod
    async def open(
        cls, where: Address | str | Path, *, migrations: Sequence[Migration] = MIGRATIONS
    ) -> Self:
        """Connect and bring the schema up to date; any number of processes may do so at once."""
        database = cls(as_url(where))
        try:
            await asyncio.wrap_future(database.prepared(migrations))
        except BaseException:
            await database.close()
            raise
        return database

    def prepared(self, migrations: Sequence[Migration] = MIGRATIONS) -> Future[None]:
        """Resolves when the schema is up to date; for callers of any event loop."""
        return self._readers.submit(self._prepare, migrations)

    def seen_by(self, user: str | None) -> Self:
        """The same database with the rows of another user. Only the first one is closed."""
        view = copy.copy(self)
        view.user = user
        return view

    @property
    def is_still_there(self) -> bool:
        """Whether the address still leads to what was opened."""
        return self._file is None or self.backend.file(self.url) == self._file

    async def close(self) -> None:
        # In a thread: it waits for what is being written.
        await in_thread_to_end(self.close_now)

    def close_now(self) -> None:
        self._writes.close()
        self._readers.shutdown()
        self._connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def read(self, work: Callable[[Transaction], Result]) -> Result:
        """Do work in a transaction that only reads. No writer has to wait for it."""
        return await self._in_reader(work, "read")

    async def write(self, work: Callable[[Transaction], Result]) -> Result:
        """Do work in a transaction that writes everything or nothing.

        The work has no other effect than through its connection: it may be run twice.
        """
        with self._is_open(), store_errors(self.url):
            # Work of several users shares a transaction, so each has a view of its own.
            return await asyncio.wrap_future(
                self._writes.submit(lambda connection: work(connection.seen_by(self.user)))
            )

    async def outside_transactions(self, work: Callable[[Transaction], Result]) -> Result:
        """For commands that refuse to run in a transaction."""
        return await self._in_reader(work, None)

    async def _in_reader(self, work: Callable[[Transaction], Result], kind: Kind | None) -> Result:
        def run() -> Result:
            with self._transaction(kind) as connection:
                return work(connection.seen_by(self.user))

        with self._is_open():
            return await asyncio.wrap_future(self._readers.submit(run))

    @contextmanager
    def _begin_writing(self) -> Generator[Transaction]:
        turn = self.backend.turn_to_write(self.url, self._file)
        with turn, self._transaction("write") as connection:
            yield connection

    @contextmanager
    def _transaction(self, kind: Kind | None) -> Generator[Transaction]:
        with store_errors(self.url), self._connections.transaction(kind) as connection:
            yield connection

    @contextmanager
    def _is_open(self) -> Generator[None]:
        try:
            yield
        except RuntimeError as problem:
            # What a closed pool of threads raises.
            if "after" not in str(problem) or "shutdown" not in str(problem):
                raise
            raise StoreError(f"{shown(self.url)} is closed; open it again") from problem

    def _prepare(self, migrations: Sequence[Migration]) -> None:
        with store_errors(self.url):
            self.backend.prepare(self.url)
        self._file = self.backend.file(self.url)
        # Reading first: an up-to-date database needs no write lock at each start.
        with self._transaction("read") as connection:
            version = version_of(connection)
        if version != len(migrations):
            with self._begin_writing() as connection:
                migrate(connection, migrations)

"""The one place that knows kinds of database: addresses, connections, errors and dialects.

Store, journal and events ask here and never name a kind themselves. A new kind is one file beside
`sqlite.py` and `postgres.py`, and one entry in `BACKENDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from sqlalchemy import URL, Engine
from sqlalchemy import Connection as SqlalchemyConnection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeEngine

from oracle.errors import InputError, StoreError
from oracle.services.installing import install_command


class Write(Protocol):
    def __call__(self, sql: str, rows: Iterable[Sequence[Any]], /) -> int:
        """Run the statement once for each row. Returns how many rows of the table it changed."""
        ...


class Connection(Protocol):
    """A connection on the plain driver, for the threads that write the journal and the events.

    SQL is written as SQLite reads it, with `?` for a value; other kinds translate it. A method
    raises `StoreError` if the database cannot be used. Any other exception of the driver means that
    the values are wrong.
    """

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...

    def transaction(self, topic: str | None = None) -> AbstractContextManager[Write]:
        """Commit all that is written inside, or nothing.

        Transactions with the same topic happen one after the other, in all processes. The end of
        one wakes every connection that waits for the topic.
        """
        ...

    def wait(self, topic: str, seconds: float) -> bool:
        """Wait for news on the topic. True as soon as there may be some, False after `seconds`."""
        ...

    def close(self) -> None: ...


class Backend(Protocol):
    """A kind of database: everything in which two kinds differ."""

    # Words of its SQL.
    json_column: str
    counting_key: str
    """The definition of a key that the database numbers itself."""
    triggers: str
    """Reads the name and the table of each trigger."""
    now: str
    """Seconds since 1970 by the database's clock."""
    migration_lock: str | None
    """Keeps other processes from migrating until the transaction ends."""
    texts_lock: str | None
    """Keeps other processes from writing to `blobs` until the transaction ends."""
    autocommit: Mapping[str, Any]
    """SQLAlchemy's options for statements that refuse to run in a transaction."""

    def address(self, url: URL, root: Path | None = None) -> URL | None:
        """The URL with our driver, or None if it is incomplete. A file's path starts at `root`."""
        ...

    def read_only(self, url: URL) -> URL | None:
        """An address for reading only; None if the database does not exist yet."""
        ...

    def shown(self, url: URL) -> str:
        """A path or an address, without password and options."""
        ...

    def explain(self, problem: BaseException) -> str | None:
        """What is wrong with the database, and the next step; None for a bug in our code."""
        ...

    def json_type(self) -> TypeEngine[Any]: ...

    def engine(self, url: URL) -> Engine:
        """For SQLAlchemy. Its connections take the execution option `transaction`, which is
        `read`, `write` or None. Any thread may use a connection, one at a time.
        """
        ...

    def turn_to_write(self, url: URL, file: object) -> AbstractContextManager[None]:
        """Waits until no other thread of this process writes, if the database has one writer.

        Raises `StoreError` if the database is no longer the `file` that was opened.
        """
        ...

    def file(self, url: URL) -> object:
        """Which file the database is now; None for a server."""
        ...

    def prepare(self, engine: Engine) -> None:
        """Bring a database that may be new into the mode that we use."""
        ...

    def scrub(self, connection: SqlalchemyConnection, tables: Iterable[str]) -> str | None:
        """Remove the traces of deleted rows. Returns where some are left, if so."""
        ...

    def looking(self, url: URL) -> AbstractContextManager[SqlalchemyConnection]:
        """A connection that changes nothing, to a database that exists."""
        ...

    def flaws(self, connection: SqlalchemyConnection) -> Iterable[str]:
        """What the database itself finds wrong with its files."""
        ...

    def connect(self, url: URL, *, durable: bool) -> Connection: ...


def _sqlite() -> Backend:
    from oracle.services.storage.sqlite import Sqlite

    return Sqlite()


def _postgres() -> Backend:
    try:
        from oracle.services.storage.postgres import Postgres
    except ModuleNotFoundError as problem:
        raise InputError(
            f"PostgreSQL needs the package {problem.name}; run: {install_command('postgres')}"
        ) from problem
    return Postgres()


# Functions, so that the driver of a database is imported only when such a database is used.
BACKENDS: Final[Mapping[str, Callable[[], Backend]]] = {
    "sqlite": _sqlite,
    "postgres": _postgres,
    "postgresql": _postgres,
}
ADDRESS_FORMS: Final = "write sqlite:///path/to/file.db or postgresql://user:password@host/name"


def backend_of(url: URL) -> Backend:
    return BACKENDS[url.get_backend_name()]()


def shown(url: URL) -> str:
    """A path or an address, without password and options."""
    return backend_of(url).shown(url)


def connect(url: URL, *, durable: bool) -> Connection:
    """Open a plain connection to a database that `Database.open` has prepared.

    A `durable` one is for data that is promised: its commits survive a power cut. The others
    survive the end of the process, and a power cut only after the next durable commit.
    """
    return backend_of(url).connect(url, durable=durable)


@contextmanager
def store_errors(url: URL) -> Generator[None]:
    """Turn a problem of the database into a `StoreError`. A bug in our code passes unchanged."""
    from oracle.services.storage.damage import RESTORE, Damaged

    try:
        yield
    except Damaged as problem:
        raise StoreError(f"{shown(url)} is damaged: {problem}; {RESTORE}") from None
    except Exception as problem:
        cause = problem.orig if isinstance(problem, DBAPIError) else problem
        advice = None if cause is None else backend_of(url).explain(cause)
        if advice is None:
            raise
        raise StoreError(f"{shown(url)} {advice}") from problem

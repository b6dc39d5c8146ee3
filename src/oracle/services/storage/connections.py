"""The one place that knows kinds of database: addresses, connections, errors and words of SQL.

Store, journal and events ask here and never name a kind themselves. A new kind is one file beside
`sqlite.py` and `postgres.py`, and one entry in `BACKENDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from oracle.errors import InputError, StoreError, StoreRuleError
from oracle.services.installing import install_command
from oracle.services.storage.addresses import Address
from oracle.services.storage.schema import Column
from oracle.services.storage.transactions import Transaction


class Write(Protocol):
    def __call__(self, sql: str, rows: Iterable[Sequence[Any]], /) -> int:
        """Run the statement once for each row. Returns how many rows of the table it changed."""
        ...


class Connection(Protocol):
    """A connection on the plain driver, for the threads that write the journal and the events.

    SQL is written as SQLite reads it, with `?` for a value; other kinds translate it. A method
    raises `StoreError` if the database cannot be used. Any other exception of the driver means that
    the values are wrong. `begins` is that of the `Backend`.
    """

    begins: str

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
    tables: str
    """Reads the names of all tables."""
    columns: str
    """Reads the names of the columns of a table, whose name is its one value."""
    triggers: str
    """Reads the name and the table of each trigger."""
    now: str
    """Seconds since 1970 by the database's clock."""
    begin: Mapping[str, str]
    """Begins a transaction that is to `read` or to `write`; empty if statements that read need
    none. In a `snapshot` all reads see the database as it was at the first of them.
    """
    row_lock: str
    """At the end of a SELECT: other processes cannot change these rows until the end."""
    migration_lock: str | None
    """Keeps other processes from migrating until the transaction ends."""
    spend_lock: str | None
    """Keeps other processes from changing what users have spent until the transaction ends."""
    is_typed: bool
    """Whether it keeps values of other kinds out of a column."""
    unhurried: str | None
    """Within a transaction: its statements may take as long as they need."""
    begins: str
    """Whether `{column}` begins with a text; its values come from `beginning`."""
    prefix_index: str | None
    """In an index, after a column: makes it useful for `begins`. None if every index is."""
    has_queue: bool
    """Whether a job queue was installed with the schema."""
    notice: str | None
    """Wakes other processes when the transaction is committed; its values are a channel and a text.
    """
    is_of_this_machine: bool
    """Whether only processes of one machine use a database: it is a file."""
    lease_seconds: float
    """How long the run of a dead process waits before another may resume it."""
    renew_seconds: float
    """Several of them may fail, for example while the database restarts, before a lease is lost."""
    # The errors of its driver: all of them, and those that the values of a statement cause.
    errors: type[Exception]
    value_errors: tuple[type[Exception], ...]

    def address(self, given: Address, root: Path | None = None) -> Address | None:
        """The whole address, or None if it is incomplete. A file's path starts at `root`."""
        ...

    def exists(self, url: Address) -> bool:
        """Whether there is a file yet; True for a server."""
        ...

    def shown(self, url: Address) -> str:
        """A path or an address, without password and options."""
        ...

    def explain(self, problem: BaseException) -> str | None:
        """What is wrong with the database, and the next step; None for a bug in our code."""
        ...

    # Connections of the driver, for `Transaction`. Any thread may use one, one at a time. They
    # begin and end no transaction on their own.

    def open(self, url: Address) -> Any: ...

    def close(self, raw: Any) -> None: ...

    def execute(self, raw: Any, sql: str, values: Sequence[Any]) -> Any:
        """Returns the cursor."""
        ...

    def execute_many(self, raw: Any, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """The statement for each row, in few round trips."""
        ...

    def each(self, raw: Any, sql: str) -> Iterator[tuple[Any, ...]]:
        """The rows, without reading all of them at once."""
        ...

    def is_in_transaction(self, raw: Any) -> bool: ...

    def is_usable(self, raw: Any) -> bool:
        """Whether a connection that was idle still works."""
        ...

    def turn_to_write(self, url: Address, file: object) -> AbstractContextManager[None]:
        """Waits until no other thread of this process writes, if the database has one writer.

        Raises `StoreError` if the database is no longer the `file` that was opened.
        """
        ...

    def file(self, url: Address) -> object:
        """Which file the database is now; None for a server."""
        ...

    def prepare(self, url: Address) -> None:
        """Bring a database that may be new into the mode that we use."""
        ...

    def install_queue(self, raw: Any) -> None:
        """Create what the engine of the job queue keeps, if this kind of database has one."""
        ...

    def number_on(self, connection: Transaction, table: str, key: Column) -> None:
        """After rows were inserted with their keys: number new ones from the highest on."""
        ...

    def scrub(self, connection: Transaction, tables: Iterable[str]) -> str | None:
        """Remove the traces of deleted rows. Returns where some are left, if so."""
        ...

    def looking(self, url: Address) -> AbstractContextManager[Transaction]:
        """A connection that changes nothing, to a database that exists."""
        ...

    def flaws(self, connection: Transaction) -> Iterable[str]:
        """What the database itself finds wrong with its files."""
        ...

    def connect(self, url: Address, *, durable: bool) -> Connection: ...


def _sqlite() -> Backend:
    from oracle.services.storage.sqlite import Sqlite

    return Sqlite()


def _postgres() -> Backend:
    try:
        from oracle.services.storage.postgres import Postgres
    except ModuleNotFoundError as problem:
        raise needs_package(problem) from problem
    return Postgres()


def needs_package(problem: ModuleNotFoundError) -> InputError:
    command = install_command("postgres")
    return InputError(f"PostgreSQL needs the package {problem.name}; run `{command}`")


# Functions, so that the driver of a database is imported only when such a database is used.
BACKENDS: Final[Mapping[str, Callable[[], Backend]]] = {
    "sqlite": _sqlite,
    "postgres": _postgres,
    "postgresql": _postgres,
}
ADDRESS_FORMS: Final = "write sqlite:///path/to/file.db or postgresql://user:password@host/name"


def backend_of(url: Address) -> Backend:
    return BACKENDS[url.kind]()


def shown(url: Address) -> str:
    """A path or an address, without password and options."""
    return backend_of(url).shown(url)


def connect(url: Address, *, durable: bool) -> Connection:
    """Open a plain connection to a database that `Database.open` has prepared.

    A `durable` one is for data that is promised: its commits survive a power cut. The others
    survive the end of the process, and a power cut only after the next durable commit.
    """
    return backend_of(url).connect(url, durable=durable)


@contextmanager
def store_errors(url: Address) -> Generator[None]:
    """Turn a problem of the database into a `StoreError`. A bug in our code passes unchanged."""
    from oracle.services.storage.damage import RESTORE, Damaged

    try:
        yield
    except Damaged as problem:
        raise StoreError(f"{shown(url)} is damaged: {problem}; {RESTORE}") from None
    except Exception as problem:
        advice = backend_of(url).explain(problem)
        if advice is None:
            raise
        kind = StoreRuleError if isinstance(problem, backend_of(url).value_errors) else StoreError
        raise kind(f"{shown(url)} {advice}") from problem

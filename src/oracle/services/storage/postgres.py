"""PostgreSQL: a server that several machines share."""

from __future__ import annotations

import select
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import psycopg
from psycopg.pq import TransactionStatus

from oracle.errors import StoreError
from oracle.services.storage.addresses import Address
from oracle.services.storage.connections import needs_package
from oracle.services.storage.damage import FOREIGN, refused
from oracle.services.storage.schema import Column
from oracle.services.storage.transactions import Transaction

if TYPE_CHECKING:
    from oracle.services.storage.connections import Write

CONNECT_SECONDS: Final = 10
IDLE_SECONDS: Final = 10
"""How long a transaction may wait for its process. Then it is rolled back."""
LOOK_SECONDS: Final = 5
"""How long a read-only check waits for a server: a person waits for the result."""

STATEMENT_SECONDS: Final = 60
"""How long a statement may take, unless it is known to take long, such as a migration."""
_KEEPALIVE: Final = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""A server that is gone without a word is noticed after 20 to 25 seconds, not after hours."""

_ON_RECORD: Final = (
    "SELECT set_config('synchronous_commit', 'local', false) "
    "WHERE current_setting('synchronous_commit') = 'off'"
)
"""What is shown must be on record, also after a crash of a server that does not wait for its log.
Whether the disk itself waits is left to the server.
"""

_ADVICE: Final[Mapping[str | None, str]] = {
    "57014": (
        f"took longer than {STATEMENT_SECONDS} s for one statement; try again when the server is "
        "less busy"
    ),
    "57P01": "was shut down; try again when the server is back",
    "57P03": "is just starting; try again in a moment",
    "53100": "cannot grow, the server's disk is full; free some space, then try again",
    "25006": "is read-only; connect to the primary server",
    "42P01": f"does not have a table of oracle's; {FOREIGN}",
    "42703": f"has a table without a column of oracle's; {FOREIGN}",
    "42P07": f"has a table with the name of one of oracle's; {FOREIGN}",
    "42501": "denies this user what is needed; grant it the right to create and write tables",
}


class Postgres:
    json_column: str = "JSONB"
    counting_key: str = "BIGSERIAL PRIMARY KEY"
    # What a statement without a schema would find.
    tables: str = (
        "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND pg_table_is_visible(oid) "
        "AND relnamespace <> 'pg_catalog'::regnamespace"
    )
    columns: str = (
        "SELECT attname FROM pg_attribute "
        "WHERE attrelid = ?::regclass AND attnum > 0 AND NOT attisdropped"
    )
    triggers: str = (
        "SELECT DISTINCT trigger_name, event_object_table FROM information_schema.triggers "
        "WHERE event_object_schema = current_schema()"
    )
    now: str = "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"
    begin: Mapping[str, str] = {
        # Without a transaction each statement sees what is committed, as it does within one.
        "read": "",
        "write": "BEGIN",
        "snapshot": "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    }
    row_lock: str = " FOR UPDATE"
    # Any number will do, as long as it stays the same: "oracle" in ASCII.
    migration_lock: str | None = f"SELECT pg_advisory_xact_lock({0x6F7261636C65})"
    # "spend" in ASCII.
    spend_lock: str | None = f"SELECT pg_advisory_xact_lock({0x7370656E64})"
    is_typed: bool = True
    unhurried: str | None = "SET LOCAL statement_timeout = 0"
    # Byte by byte, whatever the language of the database: in most of them `>=` and `<` are not.
    begins: str = "({column} ~>=~ ? AND {column} ~<~ ?)"
    prefix_index: str | None = "text_pattern_ops"
    has_queue: bool = True
    notice: str | None = "SELECT pg_notify(?, ?)"
    is_of_this_machine = False
    lease_seconds: float = 10.0
    renew_seconds: float = 3.0
    errors: type[Exception] = psycopg.Error
    value_errors: tuple[type[Exception], ...] = (psycopg.IntegrityError, psycopg.DataError)

    def address(self, given: Address, root: Path | None = None) -> Address | None:
        return given.set(kind="postgresql")

    def exists(self, url: Address) -> bool:
        return True

    def shown(self, url: Address) -> str:
        host = url.host or url.option("host") or "localhost"
        port = f":{url.port}" if url.port else ""
        return f"postgresql://{host}{port}/{url.database or ''}"

    def explain(self, problem: BaseException) -> str | None:
        state = getattr(problem, "sqlstate", None)
        if state not in _ADVICE and isinstance(problem, psycopg.OperationalError):
            reason = (str(problem).strip().splitlines() or ["no answer"])[0]
            return f"cannot be used ({reason}); check that the server runs and the address is right"
        # P0001 is an exception that a trigger raises.
        if isinstance(problem, psycopg.IntegrityError) or state == "P0001":
            return refused((str(problem).strip().splitlines() or ["no reason given"])[0])
        return _ADVICE.get(state)

    def open(self, url: Address) -> Link:
        return _connected(url)

    def close(self, raw: Link) -> None:
        raw.close()

    def execute(self, raw: Link, sql: str, values: Sequence[Any]) -> psycopg.Cursor[Any]:
        return raw.execute(_translated(sql), values)

    def execute_many(self, raw: Link, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        with raw.cursor() as cursor:
            cursor.executemany(_translated(sql), rows)

    def each(self, raw: Link, sql: str) -> Iterator[tuple[Any, ...]]:
        # A name makes it a cursor of the server, which sends a part of the rows at a time.
        with raw.cursor("each", withhold=True) as cursor:
            yield from cursor.execute(_translated(sql))

    def is_in_transaction(self, raw: Link) -> bool:
        return not raw.closed and raw.info.transaction_status != TransactionStatus.IDLE

    def is_usable(self, raw: Link) -> bool:
        if raw.closed or self.is_in_transaction(raw):
            return False
        if not _has_news(raw.fileno()):
            return True
        try:
            raw.execute("SELECT 1")
        except psycopg.Error:
            # The server may have been restarted meanwhile.
            return False
        return True

    def turn_to_write(self, url: Address, file: object) -> AbstractContextManager[None]:
        return nullcontext()

    def file(self, url: Address) -> object:
        return None

    def prepare(self, url: Address) -> None:
        """Nothing to do: a server is ready to use."""

    def install_queue(self, raw: Link) -> None:
        # Imported here: it is needed once in the life of a database.
        try:
            from procrastinate.schema import SchemaManager
        except ModuleNotFoundError as problem:
            raise needs_package(problem) from problem
        # Without values the driver takes several statements, and each `%` as it is.
        raw.execute(SchemaManager.get_schema())

    def number_on(self, connection: Transaction, table: str, key: Column) -> None:
        if connection.first("SELECT pg_get_serial_sequence(?, ?)", [table, key.name]) is None:
            return
        highest = f"SELECT max({key.name}) FROM {table}"
        connection.rows(
            f"SELECT setval(pg_get_serial_sequence(?, ?), coalesce(({highest}) + 1, 1), false)",
            [table, key.name],
        )

    def scrub(self, connection: Transaction, tables: Iterable[str]) -> str | None:
        connection.execute("SET statement_timeout = 0")
        connection.execute(f"VACUUM {', '.join(tables)}")
        connection.execute(f"SET statement_timeout = '{STATEMENT_SECONDS}s'")
        return None

    @contextmanager
    def looking(self, url: Address) -> Generator[Transaction]:
        with closing(_connected(url, LOOK_SECONDS)) as raw:
            yield Transaction(raw, self, url)

    def flaws(self, connection: Transaction) -> Iterable[str]:
        """The server checks its files itself."""
        return ()

    def connect(self, url: Address, *, durable: bool) -> PostgresConnection:
        # All are: see `_ON_RECORD`.
        return PostgresConnection(url, self.shown(url))


Link: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"


def _has_news(descriptor: int) -> bool:
    """Whether the server has sent something unasked, most often that it ends. That costs no round
    trip, so it can be asked before each use of a connection.
    """
    if not hasattr(select, "poll"):
        # On Windows.
        return True
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def _connected(url: Address, seconds: int = CONNECT_SECONDS) -> Link:
    """A connection that begins no transaction on its own."""
    patience: dict[str, Any] = {"connect_timeout": seconds, **_KEEPALIVE}
    given = dict(url.query)
    if seconds != CONNECT_SECONDS:
        given.pop("connect_timeout", None)
    # What the address says counts.
    patience = {name: value for name, value in patience.items() if name not in given}
    link = psycopg.connect(url.with_password(), autocommit=True, **patience)
    link.execute(session_limits())
    return link


def session_limits() -> bytes:
    """What every connection of ours begins with. A process that is suspended in the middle of a
    transaction must not lock the others out. Not in the address: a pooler such as PgBouncer
    refuses options at the start of a connection.
    """
    limits = (
        f"SET idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'; "
        f"SET statement_timeout = '{STATEMENT_SECONDS}s'; {_ON_RECORD}"
    )
    return limits.encode()


class PostgresConnection:
    begins: str = Postgres.begins

    def __init__(self, url: Address, shown: str) -> None:
        self._shown = shown
        self._heard: set[str] = set()
        with self._faults():
            self._connection = _connected(url)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._faults():
            return self._connection.execute(_translated(sql), values).fetchall()

    @contextmanager
    def transaction(self, topic: str | None = None) -> Generator[Write]:
        with self._faults(), self._connection.transaction():
            if topic is not None:
                # Ids are handed out before the commit. Without taking turns, a reader that has
                # seen id 8 could miss id 7, which another process commits a moment later.
                self._connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [topic])
            yield self._write
            if topic is not None:
                self._connection.execute("SELECT pg_notify(%s, '')", [topic])

    def wait(self, topic: str, seconds: float) -> bool:
        with self._faults():
            if topic in self._heard:
                return any(self._connection.notifies(timeout=seconds, stop_after=1))
            self._connection.execute(f"LISTEN {topic}".encode())
            self._heard.add(topic)
            # A commit before the LISTEN wakes no one, so the caller has to read once more.
            return True

    def close(self) -> None:
        self._connection.close()

    def _write(self, sql: str, rows: Iterable[Sequence[Any]], /) -> int:
        with self._connection.cursor() as cursor:
            cursor.executemany(_translated(sql), rows)
            return cursor.rowcount

    @contextmanager
    def _faults(self) -> Generator[None]:
        try:
            yield
        except (psycopg.DataError, psycopg.IntegrityError):
            # The values are wrong, not the database.
            raise
        except psycopg.Error as problem:
            advice = Postgres().explain(problem) or f"cannot be used ({str(problem).strip()})"
            raise StoreError(f"{self._shown} {advice}") from problem


@lru_cache(maxsize=64)
def _translated(sql: str) -> bytes:
    return sql.replace("?", "%s").encode()

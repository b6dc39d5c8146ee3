"""PostgreSQL: a server that several machines share."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psycopg
from sqlalchemy import URL, Engine, create_engine, text
from sqlalchemy import Connection as SqlalchemyConnection
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.pool import NullPool
from sqlalchemy.types import TypeEngine

from oracle.errors import StoreError
from oracle.services.storage.damage import FOREIGN, refused

if TYPE_CHECKING:
    from oracle.services.storage.connections import Write

CONNECT_SECONDS: Final = 10
LOOK_SECONDS: Final = 5
"""How long a read-only check waits for a server: a person waits for the result."""

_ADVICE: Final[Mapping[str | None, str]] = {
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
    triggers: str = (
        "SELECT DISTINCT trigger_name, event_object_table FROM information_schema.triggers "
        "WHERE event_object_schema = current_schema()"
    )
    counting_key: str = "BIGSERIAL PRIMARY KEY"
    now: str = "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"
    # Any number will do, as long as it stays the same: "oracle" in ASCII.
    migration_lock: str | None = f"SELECT pg_advisory_xact_lock({0x6F7261636C65})"
    texts_lock: str | None = "LOCK TABLE blobs IN EXCLUSIVE MODE"
    autocommit: Mapping[str, Any] = {"isolation_level": "AUTOCOMMIT"}

    def address(self, url: URL, root: Path | None = None) -> URL | None:
        return url.set(drivername="postgresql+psycopg")

    def read_only(self, url: URL) -> URL:
        return url.update_query_dict({"connect_timeout": str(LOOK_SECONDS)})

    def shown(self, url: URL) -> str:
        host = url.host or url.query.get("host") or "localhost"
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

    def json_type(self) -> TypeEngine[Any]:
        return JSONB()

    def engine(self, url: URL) -> Engine:
        return create_engine(url, connect_args=_patience(url), pool_pre_ping=True)

    def turn_to_write(self, url: URL, file: object) -> AbstractContextManager[None]:
        return nullcontext()

    def file(self, url: URL) -> object:
        return None

    def prepare(self, engine: Engine) -> None:
        """Nothing to do: a server is ready to use."""

    def scrub(self, connection: SqlalchemyConnection, tables: Iterable[str]) -> str | None:
        connection.execute(text(f"VACUUM {', '.join(tables)}"))
        return None

    @contextmanager
    def looking(self, url: URL) -> Generator[SqlalchemyConnection]:
        with create_engine(self.read_only(url), poolclass=NullPool).connect() as connection:
            yield connection

    def flaws(self, connection: SqlalchemyConnection) -> Iterable[str]:
        """The server checks its files itself."""
        return ()

    def connect(self, url: URL, *, durable: bool) -> PostgresConnection:
        # The server decides when a commit is on disk: `durable` changes nothing.
        return PostgresConnection(url, self.shown(url))


def _patience(url: URL) -> dict[str, int]:
    return {} if "connect_timeout" in url.query else {"connect_timeout": CONNECT_SECONDS}


class PostgresConnection:
    def __init__(self, url: URL, shown: str) -> None:
        self._shown = shown
        self._heard: set[str] = set()
        address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        patience: dict[str, Any] = _patience(url)
        with self._faults():
            self._connection = psycopg.connect(address, autocommit=True, **patience)

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

"""SQLite: one file, many processes. In WAL mode readers and the writer do not block each other."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import time
from collections import defaultdict, deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from oracle.errors import StoreError, named
from oracle.patterns import lazy_pattern
from oracle.regular_file import check_database
from oracle.services.storage.addresses import Address
from oracle.services.storage.damage import ELSEWHERE, FOREIGN, RESTORE, refused
from oracle.services.storage.transactions import Transaction

if TYPE_CHECKING:
    from oracle.services.storage.connections import Write

BUSY_SECONDS: Final = 10.0
"""How long a connection waits for the lock of another writer."""
POLL_SECONDS: Final = 0.1

_ADVICE: Final = {
    "SQLITE_FULL": "cannot grow, the disk is full; free some space, then try again",
    "SQLITE_READONLY": f"is read-only; make the file and its folder writable, or {ELSEWHERE}",
    "SQLITE_CANTOPEN": (
        f"cannot be opened; check that its folder exists and is writable, or {ELSEWHERE}"
    ),
    "SQLITE_NOTADB": "is not an SQLite database; move the file away, and a new one is made",
    "SQLITE_CORRUPT": "is damaged; restore a copy, or move the file away, and a new one is made",
    "SQLITE_BUSY": "is being written by another process; try again when that has ended",
    "SQLITE_IOERR": (
        "cannot be read or written: the disk is full, or it reports an error; free some space, "
        "then try again (`oracle doctor` shows how much is free)"
    ),
}
# `secure_delete` overwrites deleted rows with zeros: what is forgotten is not left in the file.
_PRAGMAS: Final = ("synchronous = FULL", "foreign_keys = ON", "secure_delete = ON")
# In every version of the schema.
_OUR_TABLES: Final = frozenset({"schema_version", "context_nodes", "runs"})
# A writer takes its lock at once: one that began as a reader could not wait for it, because
# another may have written since, and SQLite then refuses instead of waiting.
_BEGIN: Final = {"read": "BEGIN", "write": "BEGIN IMMEDIATE", "snapshot": "BEGIN"}


def _check_file(path: str) -> None:
    """Opening a pipe would wait for its other end, without limit."""
    try:
        check_database(path)
    except OSError as problem:
        # It may be one of the files that SQLite keeps beside the database.
        raise StoreError(
            f"{problem.filename or path} is not a file that can be read: {problem.strerror}, or "
            "set database.url"
        ) from None


_NO_TABLE: Final = lazy_pattern(r"no such table: (?:main\.)?(\w+)")
_FAULTS_OF_VALUES: Final = (
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
)


class Sqlite:
    json_column: str = "TEXT"
    counting_key: str = "INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"
    tables: str = "SELECT name FROM sqlite_master WHERE type = 'table'"
    columns: str = "SELECT name FROM pragma_table_info(?)"
    triggers: str = "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'"
    now: str = "((julianday('now') - 2440587.5) * 86400.0)"
    begin: Mapping[str, str] = _BEGIN
    # A transaction that writes keeps all other writers waiting anyway.
    row_lock: str = ""
    migration_lock: str | None = None
    # A file has one writer.
    spend_lock: str | None = None
    is_typed: bool = False
    unhurried: str | None = None
    begins: str = "({column} >= ? AND {column} < ?)"
    prefix_index: str | None = None
    has_queue: bool = False
    notice: str | None = None
    is_of_this_machine = True
    lease_seconds: float = 30.0
    renew_seconds: float = 7.5
    errors: type[Exception] = sqlite3.Error
    value_errors: tuple[type[Exception], ...] = (sqlite3.IntegrityError, sqlite3.DataError)

    def address(self, given: Address, root: Path | None = None) -> Address | None:
        if given.database in (None, "", ":memory:"):
            return None
        path = os.path.expanduser(str(given.database))
        return given.set(database=path if root is None else str(root / path))

    def exists(self, url: Address) -> bool:
        return Path(str(url.database)).exists()

    def shown(self, url: Address) -> str:
        return str(url.database)

    def explain(self, problem: BaseException) -> str | None:
        name = getattr(problem, "sqlite_errorname", None) or ""
        known = next((advice for code, advice in _ADVICE.items() if name.startswith(code)), None)
        if known is not None or not isinstance(problem, sqlite3.DatabaseError):
            return known
        if isinstance(problem, sqlite3.IntegrityError):
            return refused(str(problem))
        if isinstance(problem, _FAULTS_OF_VALUES):
            return None
        reason = named(str(problem), 200)
        if "decode to UTF-8" in reason:
            return f"is damaged ({reason}); {RESTORE}"
        if missing := _NO_TABLE.search(reason):
            reason = f"the table {missing[1]} is missing"
        return f"cannot be used ({reason}); {FOREIGN}"

    def open(self, url: Address) -> sqlite3.Connection:
        path, is_uri = _file_or_uri(url)
        raw = sqlite3.connect(
            path,
            uri=is_uri,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        raw.text_factory = _text
        for pragma in _PRAGMAS:
            raw.execute(f"PRAGMA {pragma}")
        return raw

    def close(self, raw: sqlite3.Connection) -> None:
        raw.close()

    def execute(self, raw: sqlite3.Connection, sql: str, values: Sequence[Any]) -> sqlite3.Cursor:
        return raw.execute(sql, values)

    def execute_many(
        self, raw: sqlite3.Connection, sql: str, rows: Sequence[Sequence[Any]]
    ) -> None:
        raw.executemany(sql, rows)

    def each(self, raw: sqlite3.Connection, sql: str) -> Iterator[tuple[Any, ...]]:
        return raw.execute(sql)

    def is_in_transaction(self, raw: sqlite3.Connection) -> bool:
        return raw.in_transaction

    def is_usable(self, raw: sqlite3.Connection) -> bool:
        return not raw.in_transaction

    @contextmanager
    def turn_to_write(self, url: Address, file: object) -> Generator[None]:
        with _turn_to_write(str(url.database)):
            check_same_file(str(url.database), file)
            yield

    def file(self, url: Address) -> object:
        return file_at(str(url.database))

    def prepare(self, url: Address) -> None:
        _enter_wal_mode(*_file_or_uri(url))

    def install_queue(self, raw: object) -> None:
        """Nothing: one process answers, and keeps its jobs in memory."""

    def number_on(self, connection: Transaction, table: str, key: object) -> None:
        """Nothing: it counts from the highest key that there ever was."""

    def scrub(self, connection: Transaction, tables: Iterable[str]) -> str | None:
        connection.execute("VACUUM")
        # The log still holds the deleted rows. Emptying it fails while another process reads it.
        log_in_use = connection.first("PRAGMA wal_checkpoint(TRUNCATE)")
        return f"{connection.address.database}-wal" if log_in_use else None

    @contextmanager
    def looking(self, url: Address) -> Generator[Transaction]:
        path = str(url.database)
        _check_file(path)
        address = f"{Path(path).absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as raw:
            raw.text_factory = _text
            yield Transaction(raw, self, url)

    def flaws(self, connection: Transaction) -> Iterable[str]:
        found = connection.firsts("PRAGMA quick_check(3)")
        links = connection.rows("PRAGMA foreign_key_check")[:3]
        lost = [f"a row of {link[0]} names a row of {link[2]} that is missing" for link in links]
        return [*(str(flaw) for flaw in found if flaw != "ok"), *lost]

    def connect(self, url: Address, *, durable: bool) -> SqliteConnection:
        return SqliteConnection(str(url.database), durable=durable)


def _file_or_uri(url: Address) -> tuple[str, bool]:
    """What the driver opens. With `?uri=true` SQLite reads the path and the options as its own."""
    options = dict(url.query)
    if options.pop("uri", "") != "true":
        return str(url.database), False
    return f"{url.database}?{urlencode(options)}", True


def file_at(path: str) -> object:
    """Which file is there now; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check_same_file(path: str, file: object) -> None:
    """SQLite writes on into a file that was deleted, and what it writes is lost with it."""
    if file is not None and file_at(path) != file:
        raise StoreError(
            f"{path} was moved, deleted or replaced while it was in use; what was recorded is in "
            "the old file; ask again"
        )


class _Turns:
    """A lock that is given to threads in the order in which they asked."""

    def __init__(self) -> None:
        self._changing = Lock()
        self._waiting: deque[Lock] = deque()
        self._is_taken = False

    def take(self) -> None:
        with self._changing:
            if not self._is_taken:
                self._is_taken = True
                return
            mine = Lock()
            mine.acquire()
            self._waiting.append(mine)
        mine.acquire()

    def give(self) -> None:
        with self._changing:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_taken = False


_turns: defaultdict[str, _Turns] = defaultdict(_Turns)
if hasattr(os, "register_at_fork"):
    # A thread that has its turn stays with the parent.
    os.register_at_fork(after_in_child=_turns.clear)


@contextmanager
def _turn_to_write(path: str) -> Generator[None]:
    """Threads of one process take turns here, in order.

    SQLite itself lets a writer ask for the lock again and again. Where others write all the time,
    one of them may then have no luck for ten seconds, and fails.
    """
    turns = _turns[path]
    turns.take()
    try:
        yield
    finally:
        turns.give()


def _text(raw: bytes) -> str | bytes:
    """The text, or its bytes if it is not UTF-8. The check of the row then names the place."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _create_private(path: str) -> None:
    """Create a new database for the user's eyes only. SQLite gives its log the same rights."""
    # Any other problem is reported when the file is opened.
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _keep_private(connection: sqlite3.Connection, path: str) -> None:
    """Take the rights of others away from a database of oracle's, if it is the user's own.

    The file at this path may be anything. Another program's keeps its rights.
    """
    if not _is_ours(connection, path):
        return
    for file in (path, f"{path}-wal", f"{path}-shm"):
        with contextlib.suppress(OSError):
            status = os.stat(file, follow_symlinks=False)
            is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
            if is_own and status.st_mode & 0o077:
                os.chmod(file, status.st_mode & 0o700)


def _is_ours(connection: sqlite3.Connection, path: str) -> bool:
    """Whether it has our tables, or is empty, so that it gets them next."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    return tables >= _OUR_TABLES if tables else os.path.getsize(path) == 0


def _enter_wal_mode(path: str, is_uri: bool) -> None:
    """Open the file once, before anything else does.

    A file that cannot be used is found here. Changing the mode needs a lock that SQLite itself
    does not wait for.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    _check_file(path)
    _create_private(path)
    with closing(sqlite3.connect(path, uri=is_uri, timeout=BUSY_SECONDS)) as connection:
        while True:
            try:
                _keep_private(connection, path)
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as problem:
                if problem.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)


class SqliteConnection:
    begins: str = Sqlite.begins

    def __init__(self, path: str, *, durable: bool) -> None:
        self._path = path
        # `mode=rw`: a missing file is an error to report, not a reason to create an empty database.
        address = f"{Path(path).absolute().as_uri()}?mode=rw"
        with self._faults():
            _check_file(path)
            # One thread writes, but the thread that closes or flushes may be another.
            self._connection = sqlite3.connect(
                address,
                uri=True,
                timeout=BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            self._connection.text_factory = _text
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._connection.execute("PRAGMA foreign_keys = ON")
        self._file = file_at(path)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._faults():
            return self._connection.execute(sql, values).fetchall()

    @contextmanager
    def transaction(self, topic: str | None = None) -> Generator[Write]:
        # All writers of a file take turns anyway, so a topic needs nothing more.
        with _turn_to_write(self._path), self._faults(), self._connection:
            check_same_file(self._path, self._file)
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
        except _FAULTS_OF_VALUES as problem:
            # A trigger refuses whatever the values are, so it is a fault of the database.
            if getattr(problem, "sqlite_errorname", "") != "SQLITE_CONSTRAINT_TRIGGER":
                raise
            raise StoreError(f"{self._path} {refused(str(problem))}") from problem
        except sqlite3.Error as problem:
            advice = Sqlite().explain(problem) or f"cannot be used ({problem})"
            raise StoreError(f"{self._path} {advice}") from problem

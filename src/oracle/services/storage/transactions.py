"""Statements on the plain driver of a database, in a transaction.

SQL is written as SQLite reads it, with `?` for a value; other kinds translate it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from oracle.services.storage.users import EVERYBODY, Clause
from oracle.services.storage.values import storable

if TYPE_CHECKING:
    from oracle.services.storage.addresses import Address
    from oracle.services.storage.connections import Backend

Kind: TypeAlias = Literal["read", "write", "snapshot"]


class Transaction:
    """Runs statements. The errors of the driver pass unchanged."""

    def __init__(self, raw: Any, backend: Backend, address: Address) -> None:
        self.backend = backend
        self.address = address
        self.user: str | None = EVERYBODY
        self._raw = raw

    def seen_by(self, user: str | None) -> Transaction:
        """The same transaction for work that is done for a user (`users.py`)."""
        view = Transaction(self._raw, self.backend, self.address)
        view.user = user
        return view

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Returns how many rows it changed."""
        return self._run(sql, values).rowcount

    def execute_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Once for each row. Its texts are stored as they are."""
        self.backend.execute_many(self._raw, sql, rows)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._run(sql, values).fetchall()

    def records(self, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Rows by the names of their columns."""
        cursor = self._run(sql, values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def firsts(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """The first column of each row."""
        return [row[0] for row in self.rows(sql, values)]

    def first(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first column of the first row; None without a row."""
        return next(iter(self.firsts(sql, values)), None)

    def each(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """Rows one after the other: a large table need not fit into memory."""
        return self.backend.each(self._raw, sql)

    def install_queue(self) -> None:
        self.backend.install_queue(self._raw)

    @contextmanager
    def savepoint(self) -> Generator[None]:
        """What is done inside happens as a whole or not at all."""
        self.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            # After some errors the database has ended the whole transaction on its own.
            if self.backend.is_in_transaction(self._raw):
                self.execute("ROLLBACK TO SAVEPOINT part")
                self.execute("RELEASE SAVEPOINT part")
            raise
        self.execute("RELEASE SAVEPOINT part")

    def _run(self, sql: str, values: Sequence[Any]) -> Any:
        kept = [storable(value) if isinstance(value, str) else value for value in values]
        return self.backend.execute(self._raw, sql, kept)


class Connections:
    """Open connections to a database, for a few threads that use them by turns."""

    def __init__(self, backend: Backend, address: Address) -> None:
        self._backend = backend
        self._address = address
        self._idle: deque[Any] = deque()

    @contextmanager
    def transaction(self, kind: Kind | None) -> Generator[Transaction]:
        """Commits at the end of the block, and rolls back after an error.

        None is for statements that refuse to run in a transaction.
        """
        raw = self._taken()
        try:
            yield from self._within(raw, kind)
        except self._backend.errors:
            # It may be broken, or hold a lock.
            self._backend.close(raw)
            raise
        except BaseException:
            self._idle.append(raw)
            raise
        self._idle.append(raw)

    def _within(self, raw: Any, kind: Kind | None) -> Generator[Transaction]:
        opened = Transaction(raw, self._backend, self._address)
        begin = "" if kind is None else self._backend.begin[kind]
        if not begin:
            yield opened
            return
        opened.execute(begin)
        try:
            yield opened
        except BaseException:
            # A connection that cannot be rolled back is not used again.
            with suppress(self._backend.errors):
                if self._backend.is_in_transaction(raw):
                    opened.execute("ROLLBACK")
            raise
        opened.execute("COMMIT")

    def _taken(self) -> Any:
        """An idle connection that still works, else a new one."""
        while True:
            try:
                raw = self._idle.pop()
            except IndexError:
                return self._backend.open(self._address)
            if self._backend.is_usable(raw):
                return raw
            self._backend.close(raw)

    def close(self) -> None:
        while self._idle:
            self._backend.close(self._idle.pop())


Work: TypeAlias = Callable[[Transaction], Any]


def beginning(begins: str, column: str, prefix: str) -> Clause:
    """Whether the column begins with the prefix, as a search in an index. `begins` is that of the
    database.
    """
    # No text goes on with a character after the last one of Unicode.
    return Clause(begins.format(column=column), (prefix, f"{prefix}\U0010ffff"))


def marks(values: Sequence[object]) -> str:
    """The list after IN: `(?, ?)`. Of nothing it is a list without a match."""
    return f"({', '.join('?' * len(values)) or 'NULL'})"

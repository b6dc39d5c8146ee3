"""Copies a whole database to an empty one, of the same kind or another, and checks the copy.

Everything is written in one transaction, which also reads it again and compares it with what was
read at the source. So the target has all of it in the end, or nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, TypeAlias, cast

from oracle.errors import InputError, LeaseHeld, NotFound, StoreError, named
from oracle.lazy_dataclass import dataclass
from oracle.services.storage.addresses import Address
from oracle.services.storage.connections import backend_of, shown, store_errors
from oracle.services.storage.damage import Unreadable, check_row, read_json
from oracle.services.storage.database import Database
from oracle.services.storage.leases import PARKED
from oracle.services.storage.runs import IS_HELD
from oracle.services.storage.schema import TABLES, Table, run_workers
from oracle.services.storage.transactions import Transaction
from oracle.services.storage.values import storable

COPIED: Final[Mapping[str, Table]] = {
    name: table for name, table in TABLES.items() if table is not run_workers
}
"""In an order in which rows exist before others refer to them. Workers announce themselves."""

MOST_ROWS: Final = 1000
MOST_CHARACTERS: Final = 4_000_000
"""In one round trip. The text of a record may be long."""

Row: TypeAlias = tuple[Any, ...]

# An exchange after the one that it continues: a row may only name one that exists.
_PARENTS_FIRST: Final = (
    "WITH RECURSIVE placed(id, depth) AS ("
    "SELECT id, 0 FROM context_nodes WHERE parent_id IS NULL UNION ALL "
    "SELECT below.id, depth + 1 FROM context_nodes AS below JOIN placed "
    "ON below.parent_id = placed.id) "
    "SELECT {columns} FROM context_nodes JOIN placed ON placed.id = context_nodes.id ORDER BY depth"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class CopiedTable:
    name: str
    rows: int
    digest: str
    """Of the content of all rows, in any order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Copy:
    tables: tuple[CopiedTable, ...]
    unfinished: tuple[str, ...]
    """Runs that are not done. They can be resumed at the target."""


async def copy_database(source: Address, target: Address) -> Copy:
    """Copy all that is stored at `source`. The target must be empty, or not exist yet.

    Raises `LeaseHeld` if a process works on a run: it would go on in both databases, and do things
    twice.
    """
    if not backend_of(source).exists(source):
        raise NotFound(f"{shown(source)} does not exist; check the address")
    if source == target:
        raise InputError(f"{shown(source)} cannot be copied to itself; name another database")
    # Opened once, to bring it to the newest schema.
    async with await Database.open(source):
        pass
    async with await Database.open(target) as opened:
        return await opened.write(lambda connection: _fill(connection, source))


def _fill(target: Transaction, source: Address) -> Copy:
    if lock := target.backend.migration_lock:
        target.execute(lock)
    if unhurried := target.backend.unhurried:
        target.execute(unhurried)
    _check_empty(target)
    with store_errors(source), backend_of(source).looking(source) as connection:
        connection.execute(connection.backend.begin["snapshot"])
        if unhurried := connection.backend.unhurried:
            connection.execute(unhurried)
        _check_idle(connection)
        copied = [_copy_table(table, connection, target) for table in COPIED.values()]
        unfinished = connection.firsts(
            "SELECT id FROM runs WHERE status = 'running' AND stop_reason IS NULL "
            "ORDER BY started_at, id"
        )
        connection.execute("COMMIT")
        for table, was in zip(COPIED.values(), copied, strict=True):
            if _size(connection, table) != was.rows:
                raise StoreError(
                    f"{shown(source)} was written to while it was copied, so nothing was copied; "
                    "stop the processes that use it, then try again"
                )
    for table, was in zip(COPIED.values(), copied, strict=True):
        found = _Digest(table)
        for row in target.each(_select(table)):
            found.add(row)
        if found.result() != was:
            raise StoreError(
                f"{shown(target.address)} did not store {table.name} as it was "
                f"({was.rows} rows, {found.rows} of them there), so nothing was copied; "
                f"check {shown(source)} with `oracle doctor`"
            )
        target.backend.number_on(target, table.name, table.columns[0])
    return Copy(tables=tuple(copied), unfinished=tuple(unfinished))


def _check_empty(target: Transaction) -> None:
    for table in COPIED.values():
        if target.rows(f"SELECT 1 FROM {table.name} LIMIT 1"):
            raise InputError(
                f"{shown(target.address)} is not empty: it has {_size(target, table)} rows in "
                f"{table.name}; name an empty database"
            )


def _check_idle(source: Transaction) -> None:
    held = IS_HELD.format(now=source.backend.now)
    sql = f"SELECT id, lease_owner FROM runs WHERE {held} AND lease_owner <> ? ORDER BY started_at"
    if found := source.rows(sql, [PARKED]):
        told = ", ".join(f"{run_id} ({owner})" for run_id, owner in found[:5])
        more = f" and {len(found) - 5} more" if len(found) > 5 else ""
        raise LeaseHeld(
            f"{shown(source.address)} is in use: a process works on {told}{more}; stop the "
            "processes that use it, then try again",
            holder=found[0][1],
        )


def _copy_table(table: Table, source: Transaction, target: Transaction) -> CopiedTable:
    digest = _Digest(table)
    sql = f"INSERT INTO {table.name} ({table.names}) VALUES ({', '.join('?' * len(table.columns))})"
    for batch in _batches(source.each(_select(table))):
        for row in batch:
            _check(table, row)
            digest.add(row)
        target.execute_many(sql, batch)
    return digest.result()


def _batches(rows: Iterator[Row]) -> Iterator[Sequence[Row]]:
    batch: list[Row] = []
    characters = 0
    for row in rows:
        batch.append(row)
        characters += sum(len(value) for value in row if isinstance(value, str))
        if len(batch) >= MOST_ROWS or characters >= MOST_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _select(table: Table) -> str:
    # JSON as text: every driver gives it, and every database takes it.
    columns = ", ".join(
        f"CAST({table.name}.{column.name} AS TEXT)"
        if column.kind == "json"
        else f"{table.name}.{column.name}"
        for column in table.columns
    )
    if table.name == "context_nodes":
        return _PARENTS_FIRST.format(columns=columns)
    return f"SELECT {columns} FROM {table.name}"


def _size(connection: Transaction, table: Table) -> int:
    return int(connection.first(f"SELECT count(*) FROM {table.name}"))


def _check(table: Table, row: Row) -> None:
    """Raise for a value that oracle did not write, or that not every database can store."""
    values = {
        column.name: read_json(value) if column.kind == "json" else value
        for column, value in zip(table.columns, row, strict=True)
    }
    check_row(table, values)
    for name, value in values.items():
        if isinstance(value, str) and storable(value) != value:
            raise InputError(
                f"{name} in {table.name} {named(row[0], 40)} has a character that databases "
                "store differently (NUL, or half of a pair); delete the session with "
                "`oracle sessions delete`, then try again"
            )


class _Digest:
    """A sum, so that the order in which a database gives rows does not matter."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._sum = 0
        self.rows = 0

    def add(self, row: Row) -> None:
        content = [
            _canonical(read_json(value)) if column.kind == "json" else value
            for column, value in zip(self._table.columns, row, strict=True)
        ]
        digest = sha256(json.dumps(content, sort_keys=True, default=repr).encode()).digest()
        self._sum += int.from_bytes(digest, "big")
        self.rows += 1

    def result(self) -> CopiedTable:
        digest = f"{self._sum % 2**256:064x}"
        return CopiedTable(name=self._table.name, rows=self.rows, digest=digest)


def _canonical(value: Any) -> Any:
    """PostgreSQL stores numbers of JSON by their value, and 1e3 comes back as 1000."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            pairs = cast("dict[str, Any]", value).items()
            return {key: _canonical(item) for key, item in pairs}
        case list():
            return [_canonical(item) for item in cast("list[Any]", value)]
        case Unreadable():
            return repr(value)
        case _:
            return value

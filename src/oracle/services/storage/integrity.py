"""Looks through a database for what `oracle doctor` reports. It changes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, Final, NamedTuple, cast

from oracle.errors import JournalError, OracleError, named
from oracle.services.journal.record import decoded, names_of_texts
from oracle.services.journal.sinks import name_of
from oracle.services.storage.addresses import Address
from oracle.services.storage.connections import backend_of, shown, store_errors
from oracle.services.storage.damage import (
    RESTORE,
    Damaged,
    Link,
    bad_parents,
    check_row,
    decoded_row,
    read_json,
)
from oracle.services.storage.runs import WITHOUT_END
from oracle.services.storage.schema import (
    TABLES,
    Table,
    api_tokens,
    context_nodes,
    events,
    runs,
    sessions,
)
from oracle.services.storage.transactions import Transaction

SECONDS: Final = 5.0
"""How long to look at rows. A person waits for the result."""
MOST_SHOWN: Final = 5
DROP_TRIGGER: Final = "remove it (DROP TRIGGER), or set database.url to another database"


class Flaw(NamedTuple):
    """What is wrong, with the address of the database, and the next step."""

    told: str
    next_step: str


def flaws_of(url: Address, seconds: float = SECONDS) -> list[Flaw]:
    """What is wrong with a database at the newest schema; the first few are enough."""
    found: list[Flaw] = []
    try:
        with store_errors(url), backend_of(url).looking(url) as connection:
            deadline = time.monotonic() + seconds
            for look in _LOOKS:
                for flaw in look(connection):
                    step = DROP_TRIGGER if look is _triggers else RESTORE
                    # A flaw of a record says the next step itself.
                    found.append(Flaw(f"{shown(url)}: {flaw}", "" if RESTORE in flaw else step))
                    if len(found) == MOST_SHOWN:
                        return found
                if time.monotonic() > deadline:
                    return found
                # Later looks read what the earlier ones found to be there.
                if found and look in _FIRST:
                    return found
    except OracleError as problem:
        # Its message has the address and the next step already.
        found.append(Flaw(str(problem), ""))
    return found


def names_taken(url: Address) -> list[str]:
    """Tables with the names of ours, in a database that oracle did not make."""
    with store_errors(url), backend_of(url).looking(url) as connection:
        return sorted(TABLES.keys() & set(connection.firsts(connection.backend.tables)))


def _file(connection: Transaction) -> Iterator[str]:
    yield from connection.backend.flaws(connection)


def _triggers(connection: Transaction) -> Iterator[str]:
    for name, table in connection.rows(connection.backend.triggers):
        if table in TABLES:
            yield f"the trigger {named(name, 60)} on the table {table} is not one of oracle's"


def _tables(connection: Transaction) -> Iterator[str]:
    backend = connection.backend
    names = set(connection.firsts(backend.tables))
    for table in TABLES.values():
        if table.name not in names:
            yield f"the table {table.name} is missing"
            continue
        columns = set(connection.firsts(backend.columns, [table.name]))
        for column in table.columns:
            if column.name not in columns:
                yield f"the table {table.name} has no column {column.name}"


def _rows(connection: Transaction) -> Iterator[str]:
    for table in (sessions, context_nodes, runs, events, api_tokens):
        yield from _rows_of(connection, table)


def _rows_of(connection: Transaction, table: Table) -> Iterator[str]:
    names = [column.name for column in table.columns]
    for row in connection.each(f"SELECT {table.names} FROM {table.name}"):
        try:
            check_row(table, decoded_row(table, dict(zip(names, row, strict=True))))
        except Damaged as flaw:
            yield str(flaw)


def _parents(connection: Transaction) -> Iterator[str]:
    links = connection.rows("SELECT id, session_id, parent_id FROM context_nodes")
    yield from bad_parents(Link(*row) for row in links)


def _records(connection: Transaction) -> Iterator[str]:
    rows = connection.each(
        "SELECT run_id, seq, kind, node_path, turn, ordinal, body, at FROM journal "
        "ORDER BY run_id, seq"
    )
    for run_id, records in groupby(rows, key=lambda row: row[0]):
        try:
            decoded((tuple(record[1:]) for record in records), str(run_id))
        except JournalError as flaw:
            yield str(flaw)


def _endings(connection: Transaction) -> Iterator[str]:
    last = "SELECT kind FROM journal WHERE run_id = runs.id ORDER BY seq DESC LIMIT 1"
    marked = ", ".join(f"'{reason}'" for reason in WITHOUT_END)
    ended = (
        f"SELECT id FROM runs WHERE status = 'done' AND coalesce(({last}), '') <> 'end' "
        f"AND coalesce(stop_reason, '') NOT IN ({marked})"
    )
    for (run_id,) in connection.each(ended):
        yield f"run {run_id} is done, but the record of its end is missing"


def _texts(connection: Transaction) -> Iterator[str]:
    known: set[Any] = set()
    for name, body in connection.each("SELECT hash, body FROM blobs"):
        known.add(name)
        if not isinstance(body, str) or name_of(body) != name:
            yield f"the text of blob {name} was changed"
    for run_id, body in connection.each("SELECT run_id, body FROM journal WHERE seq = 0"):
        for name in sorted(_names_in(body) - known):
            yield f"run {run_id} needs a text that is missing (blob {name})"


def _names_in(body: object) -> set[str]:
    """None in a damaged body: another look reports it."""
    match read_json(body):
        case [dict() as start, *_]:  # pyright: ignore[reportUnknownVariableType]
            return set(names_of_texts(cast("dict[str, Any]", start)))
        case _:
            return set()


Look = Callable[[Transaction], Iterator[str]]
_FIRST: Final = (_tables, _file)
_LOOKS: Final[tuple[Look, ...]] = (*_FIRST, _triggers, _rows, _parents, _records, _endings, _texts)

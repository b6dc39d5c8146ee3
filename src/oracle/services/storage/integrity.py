"""Looks through a database for what `oracle doctor` reports. It changes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import URL, Connection, Table, func, inspect, select, text

from oracle.errors import JournalError, OracleError, named
from oracle.services.journal.record import decoded, names_of_texts
from oracle.services.journal.sinks import name_of
from oracle.services.storage.connections import backend_of, shown, store_errors
from oracle.services.storage.damage import RESTORE, Damaged, Link, bad_parents, check_row, read_json
from oracle.services.storage.runs import WITHOUT_END
from oracle.services.storage.schema import (
    blobs,
    context_nodes,
    events,
    journal,
    metadata,
    runs,
    sessions,
)

SECONDS: Final = 5.0
"""How long to look at rows. A person waits for the result."""
MOST_SHOWN: Final = 5
DROP_TRIGGER: Final = "remove it (DROP TRIGGER), or set database.url to another database"


class Flaw(NamedTuple):
    """What is wrong, with the address of the database, and the next step."""

    told: str
    next_step: str


def flaws_of(url: URL, seconds: float = SECONDS) -> list[Flaw]:
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


def names_taken(url: URL) -> list[str]:
    """Tables with the names of ours, in a database that oracle did not make."""
    with store_errors(url), backend_of(url).looking(url) as connection:
        return sorted(metadata.tables.keys() & set(inspect(connection).get_table_names()))


def _file(connection: Connection) -> Iterator[str]:
    yield from backend_of(connection.engine.url).flaws(connection)


def _triggers(connection: Connection) -> Iterator[str]:
    there = backend_of(connection.engine.url).triggers
    for name, table in connection.execute(text(there)):
        if table in metadata.tables:
            yield f"the trigger {named(name, 60)} on the table {table} is not one of oracle's"


def _tables(connection: Connection) -> Iterator[str]:
    there = inspect(connection)
    names = set(there.get_table_names())
    for table in metadata.sorted_tables:
        if table.name not in names:
            yield f"the table {table.name} is missing"
            continue
        columns = {column["name"] for column in there.get_columns(table.name)}
        for column in table.columns:
            if column.name not in columns:
                yield f"the table {table.name} has no column {column.name}"


def _rows(connection: Connection) -> Iterator[str]:
    for table in (sessions, context_nodes, runs, events):
        yield from _rows_of(connection, table)


def _rows_of(connection: Connection, table: Table) -> Iterator[str]:
    for row in connection.execute(select(table), execution_options=_STREAMED).mappings():
        try:
            check_row(table, dict(row))
        except Damaged as flaw:
            yield str(flaw)


def _parents(connection: Connection) -> Iterator[str]:
    columns = (context_nodes.c.id, context_nodes.c.session_id, context_nodes.c.parent_id)
    yield from bad_parents(Link(*row) for row in connection.execute(select(*columns)))


def _records(connection: Connection) -> Iterator[str]:
    columns = (journal.c.run_id, journal.c.seq, journal.c.kind, journal.c.node_path)
    rest = (journal.c.turn, journal.c.ordinal, journal.c.body, journal.c.at)
    query = select(*columns, *rest).order_by(journal.c.run_id, journal.c.seq)
    rows = connection.execute(query, execution_options=_STREAMED)
    for run_id, records in groupby(rows, key=lambda row: row[0]):
        try:
            decoded((tuple(record[1:]) for record in records), str(run_id))
        except JournalError as flaw:
            yield str(flaw)


def _endings(connection: Connection) -> Iterator[str]:
    last = (
        select(journal.c.kind).where(journal.c.run_id == runs.c.id).order_by(journal.c.seq.desc())
    )
    kind = func.coalesce(last.limit(1).scalar_subquery(), "")
    reason = func.coalesce(runs.c.stop_reason, "").not_in(WITHOUT_END)
    ended = select(runs.c.id).where(runs.c.status == "done", reason, kind != "end")
    for run_id in connection.scalars(ended, execution_options=_STREAMED):
        yield f"run {run_id} is done, but the record of its end is missing"


def _texts(connection: Connection) -> Iterator[str]:
    for name, body in connection.execute(select(blobs), execution_options=_STREAMED):
        if not isinstance(body, str) or name_of(body) != name:
            yield f"the text of blob {name} was changed"
    known: set[Any] = set(connection.scalars(select(blobs.c.hash)))
    starts = select(journal.c.run_id, journal.c.body).where(journal.c.seq == 0)
    for run_id, body in connection.execute(starts, execution_options=_STREAMED):
        for name in sorted(_names_in(body) - known):
            yield f"run {run_id} needs a text that is missing (blob {name})"


def _names_in(body: object) -> set[str]:
    """None in a damaged body: another look reports it."""
    match read_json(body):
        case [dict() as start, *_]:  # pyright: ignore[reportUnknownVariableType]
            return set(names_of_texts(cast("dict[str, Any]", start)))
        case _:
            return set()


Look = Callable[[Connection], Iterator[str]]
_FIRST: Final = (_tables, _file)
_LOOKS: Final[tuple[Look, ...]] = (*_FIRST, _triggers, _rows, _parents, _records, _endings, _texts)
_STREAMED: Final = {"stream_results": True}

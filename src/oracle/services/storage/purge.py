"""Deletes rows, their traces in the file, and texts that no run names any more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Final, NoReturn

from oracle.errors import LeaseHeld, OracleError
from oracle.lazy_dataclass import dataclass
from oracle.logs import logger_of
from oracle.models.session import Session, StoredRun
from oracle.services.background import cancelled
from oracle.services.storage.damage import check_key, check_times
from oracle.services.storage.database import Database
from oracle.services.storage.records import by_id, entities
from oracle.services.storage.runs import IS_HELD
from oracle.services.storage.schema import TABLES, Table, events, runs, sessions
from oracle.services.storage.transactions import Transaction, marks

log = logger_of(__name__)

DAY: Final = 86_400.0
SECONDS_BETWEEN_PURGES: Final = 3600.0
_BATCH: Final = 500
"""Ids in one statement: databases limit how many values a statement may have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    sessions: int
    exchanges: int
    runs: int
    events: int
    texts: int

    @property
    def found(self) -> bool:
        return any((self.sessions, self.runs, self.events, self.texts))

    def __add__(self, other: Forgotten) -> Forgotten:
        return Forgotten(
            sessions=self.sessions + other.sessions,
            exchanges=self.exchanges + other.exchanges,
            runs=self.runs + other.runs,
            events=self.events + other.events,
            texts=self.texts + other.texts,
        )


NOTHING: Final = Forgotten(sessions=0, exchanges=0, runs=0, events=0, texts=0)


async def forget(database: Database, *, before: float, pretend: bool = False) -> Forgotten:
    """Forget sessions not used since `before`, runs and events older than that, and their traces.

    A session is forgotten as a whole or not at all. What a process is working on is kept, and so
    are the events of every run that is kept. With `pretend` nothing is deleted, only counted.
    """
    if pretend:
        return await _counted(database, before)
    forgotten = await forget_in_parts(database, before=before)
    await database.outside_transactions(_scrub)
    return forgotten


async def forget_in_parts(database: Database, *, before: float) -> Forgotten:
    """The same in many short transactions, so that others can write in between. It leaves the
    traces to the database: a file keeps its size, and PostgreSQL cleans up by itself.
    """
    await database.read(_check_times)
    total = NOTHING
    while (part := await database.write(partial(_erase_some, before=before, most=_BATCH))).found:
        total += part
    return total + await database.write(_erase_old_texts)


@asynccontextmanager
async def keeping_for(days: float | None, database: Database) -> AsyncGenerator[None]:
    """Within the block, forget what is older, at once and every hour.

    Any number of processes may do so: each takes what the others have left.
    """
    if days is None:
        yield
        return
    purging = asyncio.create_task(_purge_hourly(days, database))
    try:
        yield
    finally:
        await cancelled(purging)


async def _purge_hourly(days: float, database: Database) -> None:
    while True:
        try:
            gone = await forget_in_parts(database, before=time.time() - days * DAY)
            if gone.found:
                log.info("deleted what was older than %g days: %s", days, gone)
        except OracleError as problem:
            log.warning("what is old could not be deleted: %s; trying again in an hour", problem)
        await asyncio.sleep(SECONDS_BETWEEN_PURGES)


async def _counted(database: Database, before: float) -> Forgotten:
    def erase(connection: Transaction) -> NoReturn:
        if unhurried := connection.backend.unhurried:
            connection.execute(unhurried)
        _check_times(connection)
        total = NOTHING
        while (part := _erase_some(connection, before=before, most=_BATCH)).found:
            total += part
        raise _Pretended(total + _erase_old_texts(connection))

    try:
        await database.write(erase)
    except _Pretended as rolled_back:
        return rolled_back.forgotten
    raise AssertionError("it always raises")


async def forget_session(database: Database, typed: str) -> Forgotten:
    """Forget one session with all that belongs to it, unless a process is working on it."""

    def erase(connection: Transaction) -> Forgotten:
        session = by_id(connection, Session, typed)
        _check_times(connection)
        at_work = f"WHERE session_id = ? AND {IS_HELD} LIMIT 1".format(now=connection.backend.now)
        for run in entities(connection, StoredRun, at_work, [session.id]):
            raise LeaseHeld(
                f"session {session.id} is in use: {run.lease_owner} is at work on run {run.id}; "
                "try again when that has ended",
                holder=run.lease_owner,
            )
        gone = _erase(connection, [session.id], [])
        return gone + _erase_old_texts(connection)

    forgotten = await database.write(erase)
    await database.outside_transactions(_scrub)
    return forgotten


class _Pretended(Exception):  # noqa: N818 - it is an outcome, not a bug
    """Rolls a transaction back that was only made to count."""

    def __init__(self, forgotten: Forgotten) -> None:
        self.forgotten = forgotten


def _erase_some(connection: Transaction, *, before: float, most: int) -> Forgotten:
    """A part of what is old; nothing is found when all is gone."""
    old_sessions = _ids(
        connection, sessions, f"updated_at < ? AND NOT {_IN_USE} LIMIT {most}", [before]
    )
    # Twice: the first condition is found in an index.
    old = f"session_id IS NULL AND started_at < ? AND {_ENDED} AND NOT {IS_HELD} LIMIT {most}"
    old_runs = _ids(connection, runs, old, [before, before])
    gone = _erase(connection, old_sessions, old_runs)
    sql = (
        f"DELETE FROM events WHERE id IN (SELECT id FROM events WHERE at < ? AND {_OF_NO_RUN} "
        f"LIMIT {most * 10})"
    )
    return gone + replace(NOTHING, events=connection.execute(sql, [before]))


def _erase(
    connection: Transaction, session_ids: Sequence[str], run_ids: Sequence[str]
) -> Forgotten:
    # Sessions first: a new run locks them in the same order, so the two never wait for each other.
    exchanges = erased_events = 0
    run_ids = list(run_ids)
    for batch in _batches(session_ids):
        run_ids += _ids(connection, runs, f"session_id IN {marks(batch)}", batch)
        exchanges += _delete(connection, "context_nodes", "session_id", batch)
        _delete(connection, "sessions", "id", batch)
    for batch in _batches(run_ids):
        _delete(connection, "runs", "id", batch)
        erased_events += _delete(connection, "events", "run_id", batch)
    return Forgotten(
        sessions=len(session_ids),
        exchanges=exchanges,
        runs=len(run_ids),
        events=erased_events,
        texts=0,
    )


def _erase_old_texts(connection: Transaction) -> Forgotten:
    """Delete the texts that no run can name: a run names them when it begins, and every run that
    is left began after their last use.
    """
    # Two days: the time of use is exact to the day, and an older oracle does not note it.
    oldest = f"SELECT coalesce(min(started_at), {connection.backend.now}) FROM runs"
    sql = f"DELETE FROM blobs WHERE used_at < ({oldest}) - ?"
    return replace(NOTHING, texts=connection.execute(sql, [2 * DAY]))


def _scrub(connection: Transaction) -> None:
    """Free the space, and remove the traces of the rows as far as the database allows it."""
    left = connection.backend.scrub(connection, TABLES)
    if left is not None:
        log.warning("traces stay in %s until the other processes that use it have ended", left)


_IN_USE: Final = f"EXISTS (SELECT 1 FROM runs WHERE session_id = sessions.id AND {IS_HELD})"
_ENDED: Final = "coalesce(ended_at, started_at) < ?"
_OF_NO_RUN: Final = "NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = events.run_id)"


def _check_times(connection: Transaction) -> None:
    check_times(connection, sessions, runs, events)


def _ids(
    connection: Transaction, table: Table, condition: str, values: Sequence[object]
) -> list[str]:
    """Find rows, and keep others from changing them until the transaction ends."""
    where = condition.replace("{now}", connection.backend.now) + connection.backend.row_lock
    found = connection.firsts(f"SELECT id FROM {table.name} WHERE {where}", values)
    for value in found:
        check_key(table, value)
    return found


def _delete(connection: Transaction, table: str, column: str, batch: Sequence[str]) -> int:
    return connection.execute(f"DELETE FROM {table} WHERE {column} IN {marks(batch)}", batch)


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _BATCH):
        yield ids[start : start + _BATCH]

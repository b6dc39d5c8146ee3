"""Deletes rows, their traces in the file, and texts that no journal names any more."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Final

from oracle.errors import LeaseHeld
from oracle.lazy_dataclass import dataclass
from oracle.models.session import Session, StoredRun
from oracle.patterns import lazy_pattern
from oracle.services.storage.damage import check_key, check_times
from oracle.services.storage.database import Database
from oracle.services.storage.records import by_id, entities
from oracle.services.storage.runs import IS_HELD
from oracle.services.storage.schema import TABLES, Table, events, runs, sessions
from oracle.services.storage.transactions import Transaction, marks

log = logging.getLogger(__name__)

_HASH: Final = lazy_pattern("[0-9a-f]{64}")
_BATCH: Final = 500
"""Ids in one statement: databases limit how many values a statement may have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    sessions: int
    exchanges: int
    runs: int
    events: int
    texts: int


async def forget(database: Database, *, before: float, pretend: bool = False) -> Forgotten:
    """Forget sessions not used since `before`, runs and events older than that, and their traces.

    A session is forgotten as a whole or not at all. What a process is working on is kept, and so
    are the events of every run that is kept. With `pretend` nothing is deleted, only counted.
    """

    def erase(connection: Transaction) -> Forgotten:
        check_times(connection, sessions, runs, events)
        forgotten = _erase(
            connection,
            _ids(connection, sessions, f"updated_at < ? AND NOT {_IN_USE}", [before]),
            _ids(connection, runs, f"session_id IS NULL AND {_ENDED} AND NOT {IS_HELD}", [before]),
            texts_lock=database.backend.texts_lock,
            events_before=before,
        )
        if pretend:
            raise _Pretended(forgotten)
        return forgotten

    try:
        forgotten = await database.write(erase)
    except _Pretended as rolled_back:
        return rolled_back.forgotten
    await database.outside_transactions(_scrub)
    return forgotten


async def forget_session(database: Database, typed: str) -> Forgotten:
    """Forget one session with all that belongs to it, unless a process is working on it."""

    def erase(connection: Transaction) -> Forgotten:
        session = by_id(connection, Session, typed)
        check_times(connection, runs)
        at_work = f"WHERE session_id = ? AND {IS_HELD} LIMIT 1".format(now=connection.backend.now)
        for run in entities(connection, StoredRun, at_work, [session.id]):
            raise LeaseHeld(
                f"session {session.id} is in use: {run.lease_owner} is at work on run {run.id}; "
                "try again when that has ended",
                holder=run.lease_owner,
            )
        return _erase(connection, [session.id], [], texts_lock=database.backend.texts_lock)

    forgotten = await database.write(erase)
    await database.outside_transactions(_scrub)
    return forgotten


class _Pretended(Exception):  # noqa: N818 - it is an outcome, not a bug
    """Rolls a transaction back that was only made to count."""

    def __init__(self, forgotten: Forgotten) -> None:
        self.forgotten = forgotten


def _erase(
    connection: Transaction,
    session_ids: Sequence[str],
    run_ids: Sequence[str],
    *,
    texts_lock: str | None,
    events_before: float | None = None,
) -> Forgotten:
    # Sessions first and texts last: a new run locks them in the same order, so the two never wait
    # for each other.
    exchanges = erased_events = 0
    run_ids = list(run_ids)
    for batch in _batches(session_ids):
        run_ids += _ids(connection, runs, f"session_id IN {marks(batch)}", batch)
        exchanges += _delete(connection, "context_nodes", "session_id", batch)
        _delete(connection, "sessions", "id", batch)
    for batch in _batches(run_ids):
        _delete(connection, "runs", "id", batch)
        erased_events += _delete(connection, "events", "run_id", batch)
    if events_before is not None:
        alone = "(run_id IS NULL OR run_id NOT IN (SELECT id FROM runs))"
        sql = f"DELETE FROM events WHERE at < ? AND {alone}"
        erased_events += connection.execute(sql, [events_before])
    return Forgotten(
        sessions=len(session_ids),
        exchanges=exchanges,
        runs=len(run_ids),
        events=erased_events,
        texts=_erase_unnamed_texts(connection, texts_lock),
    )


def _erase_unnamed_texts(connection: Transaction, lock: str | None) -> int:
    """Delete the blobs whose hash is in no journal any more."""
    # A run writes its texts and the record that names them in one transaction. The lock waits for
    # such a transaction to end and delays the next one, so that no text looks unnamed too early.
    if lock is not None:
        connection.execute(lock)
    unnamed = set(connection.firsts("SELECT hash FROM blobs"))
    # Row by row: the journals of a year need not fit into memory.
    for (body,) in connection.each("SELECT body FROM journal"):
        if not unnamed:
            break
        unnamed.difference_update(_HASH.findall(body))
    # A damaged database may have a blob without a hash.
    for batch in _batches(sorted(unnamed, key=str)):
        _delete(connection, "blobs", "hash", batch)
    return len(unnamed)


def _scrub(connection: Transaction) -> None:
    """Free the space, and remove the traces of the rows as far as the database allows it."""
    left = connection.backend.scrub(connection, TABLES)
    if left is not None:
        log.warning("traces stay in %s until the other processes that use it have ended", left)


_IN_USE: Final = f"EXISTS (SELECT 1 FROM runs WHERE session_id = sessions.id AND {IS_HELD})"
_ENDED: Final = "coalesce(ended_at, started_at) < ?"


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

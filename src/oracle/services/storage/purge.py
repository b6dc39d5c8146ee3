"""Deletes rows, their traces in the file, and texts that no journal names any more."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Final

from sqlalchemy import ColumnElement, Connection, Table, delete, func, select, text

from oracle.errors import LeaseHeld
from oracle.lazy_dataclass import dataclass
from oracle.models.session import Session, StoredRun
from oracle.patterns import lazy_pattern
from oracle.services.storage.connections import backend_of
from oracle.services.storage.damage import check_text, check_times
from oracle.services.storage.database import Database
from oracle.services.storage.records import by_id, entities
from oracle.services.storage.runs import is_held
from oracle.services.storage.schema import (
    blobs,
    context_nodes,
    events,
    journal,
    metadata,
    runs,
    sessions,
)

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

    def erase(connection: Connection) -> Forgotten:
        check_times(connection, sessions, runs, events)
        forgotten = _erase(
            connection,
            _ids(connection, sessions, sessions.c.updated_at < before, ~_in_use()),
            _ids(connection, runs, runs.c.session_id.is_(None), _ended(before), ~is_held()),
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

    def erase(connection: Connection) -> Forgotten:
        session = by_id(connection, Session, sessions, typed)
        check_times(connection, runs)
        at_work = select(runs).where(runs.c.session_id == session.id, is_held())
        for run in entities(connection, StoredRun, at_work.limit(1)):
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
    connection: Connection,
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
        run_ids += _ids(connection, runs, runs.c.session_id.in_(batch))
        in_session = context_nodes.c.session_id.in_(batch)
        exchanges += _delete(connection, context_nodes, in_session)
        _delete(connection, sessions, sessions.c.id.in_(batch))
    for batch in _batches(run_ids):
        _delete(connection, runs, runs.c.id.in_(batch))
        erased_events += _delete(connection, events, events.c.run_id.in_(batch))
    if events_before is not None:
        alone = events.c.run_id.is_(None) | events.c.run_id.not_in(select(runs.c.id))
        erased_events += _delete(connection, events, events.c.at < events_before, alone)
    return Forgotten(
        sessions=len(session_ids),
        exchanges=exchanges,
        runs=len(run_ids),
        events=erased_events,
        texts=_erase_unnamed_texts(connection, texts_lock),
    )


def _erase_unnamed_texts(connection: Connection, lock: str | None) -> int:
    """Delete the blobs whose hash is in no journal any more."""
    # A run writes its texts and the record that names them in one transaction. The lock waits for
    # such a transaction to end and delays the next one, so that no text looks unnamed too early.
    if lock is not None:
        connection.execute(text(lock))
    unnamed = set(connection.scalars(select(blobs.c.hash)))
    # Streamed: the journals of a year need not fit into memory.
    bodies = connection.scalars(select(journal.c.body), execution_options={"stream_results": True})
    while unnamed and (batch := bodies.fetchmany(_BATCH)):
        unnamed.difference_update(*map(_HASH.findall, batch))
    bodies.close()
    for batch in _batches(sorted(unnamed)):
        _delete(connection, blobs, blobs.c.hash.in_(batch))
    return len(unnamed)


def _scrub(connection: Connection) -> None:
    """Free the space, and remove the traces of the rows as far as the database allows it."""
    left = backend_of(connection.engine.url).scrub(connection, metadata.tables)
    if left is not None:
        log.warning("traces stay in %s until the other processes that use it have ended", left)


def _in_use() -> ColumnElement[bool]:
    return select(runs.c.id).where(runs.c.session_id == sessions.c.id, is_held()).exists()


def _ended(before: float) -> ColumnElement[bool]:
    return func.coalesce(runs.c.ended_at, runs.c.started_at) < before


def _ids(connection: Connection, table: Table, *conditions: ColumnElement[bool]) -> list[str]:
    """Find rows, and keep others from changing them until the transaction ends."""
    query = select(table.c.id).where(*conditions).with_for_update()
    found = list(connection.scalars(query))
    for value in found:
        check_text(table.c.id, value)
    return found


def _delete(connection: Connection, table: Table, *conditions: ColumnElement[bool]) -> int:
    return connection.execute(delete(table).where(*conditions)).rowcount


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _BATCH):
        yield ids[start : start + _BATCH]

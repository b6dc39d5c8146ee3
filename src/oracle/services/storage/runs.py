"""Runs, and the leases that keep two processes from working on the same one.

A lease has an owner and an end, by the database's clock. Its owner renews it while it works. If the
process dies, the lease expires, and another process may claim the run.
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Mapping
from math import ceil
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, case, func, insert, or_, select, update

from oracle.errors import InputError, LeaseHeld
from oracle.models.session import StoredRun
from oracle.services.storage.database import Database
from oracle.services.storage.exchanges import check_lies_in
from oracle.services.storage.leases import has_ended
from oracle.services.storage.records import by_id, entities, of_project
from oracle.services.storage.schema import runs
from oracle.services.storage.sessions import create, touch
from oracle.services.storage.values import database_now

NOT_RECORDED: Final = "not_recorded"
"""The stop reason of a run that goes on although its record cannot be written."""

NEVER_BEGUN: Final = "never_begun"
"""The stop reason of a run whose process died before its first record."""
WITHOUT_END: Final = (NOT_RECORDED, NEVER_BEGUN)
"""Stop reasons of runs that are done although their record has no end."""


class Runs:
    """Every method that takes a run's id also takes a unique prefix of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(
        self,
        *,
        run_id: str,
        question: str,
        tree: str,
        at: float,
        owner: str,
        lease_seconds: float,
        session_id: str | None = None,
        context_id: str | None = None,
        opens_session: bool = False,
        project: str | None = None,
        shadow_of: str | None = None,
    ) -> StoredRun:
        """Store a new run, held by `owner`; with a `context_id` it continues from there.

        With `opens_session` it creates the session too, both or neither.
        """

        def begin(connection: Connection) -> StoredRun:
            if session_id is not None and opens_session:
                create(connection, session_id, question, at, project)
            elif session_id is not None and shadow_of is None:
                touch(connection, session_id, at)
            if context_id is not None:
                check_lies_in(connection, context_id, session_id)
            connection.execute(
                insert(runs).values(
                    id=run_id,
                    session_id=session_id,
                    context_node_id=context_id,
                    question=question,
                    tree=tree,
                    status="running",
                    usage={},
                    started_at=at,
                    lease_owner=owner,
                    lease_until=database_now() + lease_seconds,
                    project=project,
                    shadow_of=shadow_of,
                )
            )
            return by_id(connection, StoredRun, runs, run_id)

        return await self._database.write(begin)

    async def finish(
        self, typed: str, *, owner: str, stop_reason: str, usage: Mapping[str, Any], at: float
    ) -> StoredRun:
        """Store how the run ended and release it."""
        # The mark stays: the record of such a run has no end.
        is_marked = runs.c.stop_reason == NOT_RECORDED
        reason = case((is_marked, NOT_RECORDED), else_=stop_reason)
        ending = {"status": "done", "stop_reason": reason, "usage": usage, "ended_at": at}
        return await self._as_owner(typed, owner, **ending, lease_owner=None, lease_until=None)

    async def claim(self, typed: str, owner: str, seconds: float) -> StoredRun:
        """Take a run that no process holds. Of several that try at once, one gets it.

        The others get `LeaseHeld`, which names the holder.
        """
        free = or_(~is_held(), runs.c.lease_owner == owner) & runs.c.stop_reason.is_(None)
        lease = {"lease_owner": owner, "lease_until": database_now() + seconds}
        return await self._change(typed, free, **lease)

    async def renew(self, typed: str, owner: str, seconds: float) -> StoredRun:
        """Hold the run for longer; raises `LeaseHeld` if it was lost in the meantime."""
        return await self._as_owner(typed, owner, lease_until=database_now() + seconds)

    async def release(self, typed: str, owner: str) -> StoredRun:
        """Give up a run that is not done, so that it can be claimed at once."""
        return await self._as_owner(typed, owner, lease_owner=None, lease_until=None)

    async def get(self, typed: str) -> StoredRun:
        return await self._database.read(lambda c: by_id(c, StoredRun, runs, typed))

    async def newest(
        self,
        limit: int | None = None,
        *,
        session_id: str | None = None,
        project: str | None = None,
    ) -> list[StoredRun]:
        """Newest first, without shadows; with a `project` only its own."""
        query = select(runs).order_by(runs.c.started_at.desc(), runs.c.id.desc()).limit(limit)
        query = query.where(of_project(runs, project), runs.c.shadow_of.is_(None))
        if session_id is not None:
            query = query.where(runs.c.session_id == session_id)
        return await self._database.read(lambda c: entities(c, StoredRun, query))

    async def unfinished(self, *, project: str | None = None) -> list[StoredRun]:
        """Those that are running or were interrupted, oldest first, without shadows."""
        query = select(runs).order_by(runs.c.started_at, runs.c.id)
        is_open = (runs.c.status == "running") & runs.c.stop_reason.is_(None)
        query = query.where(is_open, of_project(runs, project), runs.c.shadow_of.is_(None))
        return await self._database.read(lambda c: entities(c, StoredRun, query))

    async def _as_owner(self, typed: str, owner: str, **values: object) -> StoredRun:
        return await self._change(typed, runs.c.lease_owner == owner, **values)

    async def _change(
        self, typed: str, allowed: ColumnElement[bool], **values: object
    ) -> StoredRun:
        """Change a run that is not done."""

        def change(connection: Connection) -> StoredRun:
            run = by_id(connection, StoredRun, runs, typed)
            here = runs.c.id == run.id, runs.c.status == "running"
            # Condition and change are one statement, so no other process can act in between.
            changed = connection.execute(update(runs).where(*here, allowed).values(**values))
            run = by_id(connection, StoredRun, runs, run.id)
            if changed.rowcount == 0:
                raise _refused(run, connection.scalar(select(database_now())) or 0.0)
            return run

        return await self._database.write(change)


def is_held() -> ColumnElement[bool]:
    """Whether a process is working on the run, as far as the database knows."""
    return (runs.c.status == "running") & (func.coalesce(runs.c.lease_until, 0) > database_now())


def _refused(run: StoredRun, now: float) -> InputError | LeaseHeld:
    if run.status == "done":
        return InputError(f"run {run.id} is done; `oracle replay {run.id}` plays it again")
    if run.stop_reason is not None:
        return InputError(
            f"run {run.id} went on without a record ({run.stop_reason}), so it cannot be resumed: "
            "what it did after that would be done again; ask again"
        )
    if run.lease_owner is None:
        return LeaseHeld(f"run {run.id} is not held by any process; claim it first", holder=None)
    wait = f"try again in {max(1, ceil((run.lease_until or now) - now))} s"
    why = "it is free when that process releases it, or when its lease expires"
    if has_ended(run.lease_owner):
        why = "that process has ended, and its lease expires soon"
    return LeaseHeld(
        f"run {run.id} is held by {run.lease_owner}; {why}: {wait}", holder=run.lease_owner
    )


def new_owner() -> str:
    """One for each question: those of one process must not take each other's runs."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:12]}"

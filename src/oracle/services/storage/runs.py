"""Runs, and the leases that keep two processes from working on the same one.

A lease has an owner and an end, by the database's clock. Its owner renews it while it works. If the
process dies, the lease expires, and another process may claim the run; on the same machine at once.
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any, Final

from oracle.errors import InputError, LeaseHeld, TooManyRuns
from oracle.models.session import StoredRun
from oracle.services.storage.budgets import Budget
from oracle.services.storage.database import Database
from oracle.services.storage.exchanges import check_lies_in
from oracle.services.storage.leases import PARKED, has_ended
from oracle.services.storage.records import by_id, entities, of_project
from oracle.services.storage.sessions import create, touch
from oracle.services.storage.spend import Account, Hold, note
from oracle.services.storage.transactions import Transaction, marks
from oracle.services.storage.users import Clause, owner_of_new_rows
from oracle.services.storage.values import as_json

NOT_RECORDED: Final = "not_recorded"
"""The stop reason of a run that goes on although its record cannot be written."""

NEVER_BEGUN: Final = "never_begun"
"""The stop reason of a run whose process died before its first record."""
WITHOUT_END: Final = (NOT_RECORDED, NEVER_BEGUN)
"""Stop reasons of runs that are done although their record has no end."""


SERVER: Final = "server"
"""The door of a run of a server, so that a later server or a worker takes it up."""
QUEUED: Final = "queue"
"""The door of a run that one process has stored, and another one begins."""
SECONDS_TO_WAIT: Final = 2.0
"""When to try again if a user has as many runs under way as one may have."""


class Runs:
    """Every method that takes a run's id also takes a unique prefix of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def renew_seconds(self) -> float:
        return self._database.backend.renew_seconds

    async def begin(
        self,
        *,
        run_id: str,
        question: str,
        tree: str,
        at: float,
        owner: str | None,
        lease_seconds: float | None = None,
        session_id: str | None = None,
        context_id: str | None = None,
        opens_session: bool = False,
        project: str | None = None,
        shadow_of: str | None = None,
        door: str | None = None,
        request: Mapping[str, Any] | None = None,
        priority: int = 0,
        hold: Hold | None = None,
    ) -> StoredRun:
        """Store a new run, held by `owner`; with a `context_id` it continues from there.

        Without an owner it waits for a process that begins it, from the `request`. With a `hold`,
        what it may cost is held for it; both happen, or neither.
        With `opens_session` it creates the session too, both or neither.
        """

        def begin(connection: Transaction) -> StoredRun:
            if hold is not None:
                hold.take(connection, run_id)
            if session_id is not None and opens_session:
                create(connection, session_id, question, at, project)
            elif session_id is not None and shadow_of is None:
                touch(connection, session_id, at)
            if context_id is not None:
                check_lies_in(connection, context_id, session_id)
            connection.execute(
                _BEGIN.format(now=connection.backend.now),
                [
                    run_id,
                    session_id,
                    context_id,
                    question,
                    tree,
                    as_json({}),
                    at,
                    owner,
                    self._lease_seconds(lease_seconds) if owner is not None else 0.0,
                    project,
                    shadow_of,
                    owner_of_new_rows(connection),
                    door,
                    priority,
                ],
            )
            if request is not None:
                connection.execute(_QUEUE, [run_id, as_json(request), as_json({}), at])
            return by_id(connection, StoredRun, run_id)

        return await self._database.write(begin)

    async def finish(
        self, typed: str, *, owner: str, stop_reason: str, usage: Mapping[str, Any], at: float
    ) -> StoredRun:
        """Store how the run ended, release it, and settle what was held for it."""
        ending = (
            # The mark stays: the record of such a run has no end.
            "status = 'done', ended_at = ?, lease_owner = NULL, lease_until = NULL, usage = ?, "
            f"stop_reason = CASE WHEN stop_reason = '{NOT_RECORDED}' THEN stop_reason ELSE ? END"
        )
        values = (at, as_json(usage), stop_reason)

        def settle(connection: Transaction, run: StoredRun) -> None:
            Account(connection, run.user_id, run.project).settle(run.id, usage)
            if stop_reason != NEVER_BEGUN:
                # The record has what was asked.
                connection.execute("DELETE FROM run_queue WHERE run_id = ?", [run.id])

        return await self._change(typed, Clause(ending, values), _owned_by(owner), settle)

    async def begin_queued(
        self,
        typed: str,
        owner: str,
        tree: str,
        hold: Hold | None = None,
        most_of_user: int | None = None,
        *,
        line: str = "",
        session_id: str | None = None,
        context_id: str | None = None,
        opens_session: bool = False,
    ) -> StoredRun:
        """Take a run that waits to be begun. Of several that try at once, one gets it. The `line`
        is the owner of those that wait in this process.

        Its place in a conversation is stored now, unless it was stored with the question.
        `TooManyRuns` if its user has `most_of_user` runs under way already, in any process.
        """
        # One that has records is resumed, by `claim`: beginning it again would do things twice.
        free = Clause(f"(NOT {IS_HELD} OR lease_owner = ?) AND {_HAS_NO_RECORD}", (line,))
        values = (owner, self._lease_seconds(None), tree)
        lease = Clause("lease_owner = ?, lease_until = {now} + ?, tree = ?", values)

        def take(connection: Transaction, run: StoredRun) -> None:
            if hold is not None:
                hold.take(connection, run.id)
            # After the hold, which lets one process at a time do this.
            check_room(connection, run, most_of_user)
            if run.session_id is not None or session_id is None:
                return
            if opens_session:
                create(connection, session_id, run.question, run.started_at, run.project)
            else:
                touch(connection, session_id, run.started_at)
            if context_id is not None:
                check_lies_in(connection, context_id, session_id)
            connection.execute(_PLACE, [session_id, context_id, run.id])

        return await self._change(typed, lease, free, take)

    async def hold_line(self, run_ids: Sequence[str], line: str) -> None:
        """Hold runs that wait in the line of a process for longer."""
        longer = f"UPDATE runs SET lease_until = {self._database.backend.now} + ?"
        sql = f"{longer} WHERE id IN {marks(run_ids)} AND {_IN_LINE}"
        values = [self._lease_seconds(None), *run_ids, line]
        await self._database.write(lambda c: c.execute(sql, values))

    async def leave_line(self, run_id: str, line: str, *, for_good: bool) -> None:
        """Of a run that was not begun: let another process begin it, or forget it `for_good`."""
        where = f"id = ? AND {_IN_LINE}"
        sql = f"UPDATE runs SET lease_owner = NULL, lease_until = NULL WHERE {where}"
        if for_good:
            sql = f"DELETE FROM runs WHERE {where} AND {_HAS_NO_RECORD}"
        await self._database.write(lambda c: c.execute(sql, [run_id, line]))

    async def claim(
        self,
        typed: str,
        owner: str,
        seconds: float | None = None,
        budgets: Sequence[Budget] = (),
        most_of_user: int | None = None,
    ) -> StoredRun:
        """Take a run that no process holds. Of several that try at once, one gets it.

        The others get `LeaseHeld`, which names the holder. `TooManyRuns` as for `begin_queued`.
        """
        claim = partial(self._claim, typed, owner, seconds, budgets, most_of_user)
        try:
            return await claim(PARKED)
        except LeaseHeld as held:
            # Its lease need not run out first. On other machines there may be one of its name.
            is_free = self._database.backend.is_of_this_machine and has_ended(held.holder or "")
            if not is_free or held.holder is None:
                raise
            return await claim(held.holder)

    async def _claim(
        self,
        typed: str,
        owner: str,
        seconds: float | None,
        budgets: Sequence[Budget],
        most_of_user: int | None,
        free_from: str,
    ) -> StoredRun:
        """Take a run that no process holds, or the owner `free_from`."""
        free = Clause(
            f"(NOT {IS_HELD} OR lease_owner IN (?, ?)) AND stop_reason IS NULL", (owner, free_from)
        )
        values = (owner, self._lease_seconds(seconds))
        lease = Clause("lease_owner = ?, lease_until = {now} + ?", values)

        def hold_again(connection: Transaction, run: StoredRun) -> None:
            Account(connection, run.user_id, run.project).hold_again(run.id, budgets)
            check_room(connection, run, most_of_user)

        return await self._change(typed, lease, free, hold_again)

    async def renew(
        self,
        typed: str,
        owner: str,
        seconds: float | None = None,
        usage: Mapping[str, Any] | None = None,
    ) -> StoredRun:
        """Hold the run for longer, and note what it has used so far; raises `LeaseHeld` if it was
        lost in the meantime.
        """
        longer = Clause("lease_until = {now} + ?", (self._lease_seconds(seconds),))
        return await self._change(typed, longer, _owned_by(owner), _noting(usage))

    async def release(
        self, typed: str, owner: str, usage: Mapping[str, Any] | None = None
    ) -> StoredRun:
        """Give up a run that is not done, so that it can be claimed at once."""
        free = Clause("lease_owner = NULL, lease_until = NULL")
        return await self._change(typed, free, _owned_by(owner), _noting(usage))

    async def park(self, typed: str, owner: str, seconds: float) -> StoredRun:
        """Give up a run that waits for a person. For that long no process takes it up by itself,
        but it can be claimed.
        """
        parked = Clause("lease_owner = ?, lease_until = {now} + ?", (PARKED, seconds))
        return await self._change(typed, parked, _owned_by(owner))

    async def get(self, typed: str) -> StoredRun:
        return await self._database.read(lambda c: by_id(c, StoredRun, typed))

    async def newest(
        self,
        limit: int | None = None,
        *,
        session_id: str | None = None,
        project: str | None = None,
    ) -> list[StoredRun]:
        """Newest first, without shadows; with a `project` only its own."""
        where, values = of_project(project)
        where, given = f"WHERE {where} AND shadow_of IS NULL", list(values)
        if session_id is not None:
            where += " AND session_id = ?"
            given.append(session_id)
        query = f"{where} ORDER BY started_at DESC, id DESC"
        if limit is not None:
            query += f" LIMIT {limit:d}"
        return await self._database.read(lambda c: entities(c, StoredRun, query, given))

    async def unfinished(
        self, *, project: str | None = None, door: str | None = None
    ) -> list[StoredRun]:
        """Those that are running or were interrupted, oldest first, without shadows; with a `door`,
        only those that began there.
        """
        where, values = of_project(project)
        if door is not None:
            where, values = f"{where} AND door = ?", [*values, door]
        where = (
            f"WHERE status = 'running' AND stop_reason IS NULL AND shadow_of IS NULL AND {where}"
        )
        query = f"{where} ORDER BY started_at, id"
        return await self._database.read(lambda c: entities(c, StoredRun, query, values))

    def _lease_seconds(self, wanted: float | None) -> float:
        return self._database.backend.lease_seconds if wanted is None else wanted

    async def _change(
        self,
        typed: str,
        change: Clause,
        allowed: Clause,
        then: Callable[[Transaction, StoredRun], None] = lambda _, __: None,
    ) -> StoredRun:
        """Change a run that is not done, and do `then`; both or neither. `{now}` is the time by the
        database's clock.
        """
        # Condition and change are one statement, so no other process can act in between.
        sql = f"UPDATE runs SET {change.sql} WHERE id = ? AND status = 'running' AND {allowed.sql}"

        def update(connection: Transaction) -> StoredRun:
            run = by_id(connection, StoredRun, typed)
            values = (*change.values, run.id, *allowed.values)
            changed = connection.execute(sql.replace("{now}", connection.backend.now), values)
            run = by_id(connection, StoredRun, run.id)
            if changed == 0:
                raise _refused(run, connection.first(f"SELECT {connection.backend.now}") or 0.0)
            then(connection, run)
            return run

        return await self._database.write(update)


_BEGIN: Final = (
    "INSERT INTO runs (id, session_id, context_node_id, question, tree, status, usage, started_at, "
    "lease_owner, lease_until, project, shadow_of, user_id, door, "
    "priority) VALUES (?, ?, ?, ?, ?, 'running', ?, ?, ?, {now} + ?, ?, ?, ?, ?, ?)"
)
_HAS_NO_RECORD: Final = "NOT EXISTS (SELECT 1 FROM journal WHERE run_id = runs.id)"
_IN_LINE: Final = "status = 'running' AND lease_owner = ?"
_PLACE: Final = "UPDATE runs SET session_id = ?, context_node_id = ? WHERE id = ?"
_QUEUE: Final = (
    "INSERT INTO run_queue (run_id, request, failures, problem, at) VALUES (?, ?, 0, ?, ?)"
)
IS_HELD: Final = "(status = 'running' AND coalesce(lease_until, 0) > {now})"
"""Whether a process is working on a run, as far as the database knows."""


def held_of(connection: Transaction, user: str, project: str | None) -> int:
    """How many runs of the user are worked on now, for a server or a queue."""
    # Not `IS NOT DISTINCT FROM`, for which PostgreSQL uses no index.
    where = "project = ?" if project is not None else "project IS NULL"
    sql = (
        f"SELECT count(*) FROM runs WHERE {where} AND user_id = ? "
        f"AND status = 'running' AND lease_owner IS NOT NULL AND lease_owner <> '{PARKED}' "
        f"AND lease_until > {connection.backend.now} AND door IN ('{QUEUED}', '{SERVER}')"
    )
    return int(connection.first(sql, [user] if project is None else [project, user]))


def check_room(connection: Transaction, run: StoredRun, most: int | None) -> None:
    """After the run was taken: it is one of those that count."""
    if most is not None and held_of(connection, run.user_id, run.project) > most:
        raise TooManyRuns(
            f"as many runs of user {run.user_id!r} are under way as one user may have at once "
            f"({most}); this one waits",
            retry_after=SECONDS_TO_WAIT,
        )


def _noting(usage: Mapping[str, Any] | None) -> Callable[[Transaction, StoredRun], None]:
    def then(connection: Transaction, run: StoredRun) -> None:
        if usage:
            note(connection, run.id, usage)

    return then


def _owned_by(owner: str) -> Clause:
    return Clause("lease_owner = ?", (owner,))


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

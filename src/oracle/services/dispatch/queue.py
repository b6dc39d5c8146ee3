"""The runs that wait for a worker, those that are worked on, and those that nobody can begin."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from oracle.lazy_dataclass import dataclass
from oracle.models.session import StoredRun
from oracle.services.dispatch.news import SAID, tell
from oracle.services.storage.database import Database
from oracle.services.storage.records import by_id, checked, entities, of_project
from oracle.services.storage.runs import IS_HELD, QUEUED, SERVER, held_of
from oracle.services.storage.schema import run_queue
from oracle.services.storage.transactions import Transaction
from oracle.services.storage.users import EVERYBODY
from oracle.services.storage.values import as_json

MOST_FAILURES: Final = 3
"""After so many attempts that failed a run is stuck: it waits for somebody to look at it."""
MOST_FOUND: Final = 100
RANKS: Final = 1000
"""More than the runs of one user that may be under way."""

State: TypeAlias = Literal["waiting", "running", "stuck"]


@dataclass(frozen=True, kw_only=True, slots=True)
class QueuedRun:
    run: StoredRun
    state: State
    failures: int = 0
    problem: str = ""


class Due(NamedTuple):
    """A run that may begin. `priority` is that of its job among those of all users: a user who has
    nothing under way comes first, and a run that is less important than usual comes last. One that
    is more important only goes ahead of others of the same user.
    """

    run_id: str
    priority: int


class Queue:
    """Of one project, and of all users."""

    def __init__(self, database: Database, project: str | None) -> None:
        self._database = database.seen_by(EVERYBODY)
        self._project = project

    async def request_of(self, run_id: str) -> Mapping[str, Any] | None:
        """What was asked; None for a run that has begun, or was not asked through the queue."""
        return await self._database.read(lambda c: _request_of(c, run_id))

    async def look_at(self, run_id: str) -> tuple[StoredRun, Mapping[str, Any] | None]:
        """A run, and what `request_of` returns for it."""

        def read(connection: Transaction) -> tuple[StoredRun, Mapping[str, Any] | None]:
            return by_id(connection, StoredRun, run_id), _request_of(connection, run_id)

        return await self._database.read(read)

    async def problem_of(self, run_id: str) -> tuple[int, Mapping[str, Any]]:
        """How often the run has failed in a row, and how the last time."""
        sql = "SELECT * FROM run_queue WHERE run_id = ?"
        found = await self._database.read(lambda c: c.records(sql, [run_id]))
        if not found:
            return 0, {}
        row = checked(run_queue, found[0])
        return row["failures"], row["problem"]

    async def failed(self, run_id: str, problem: Mapping[str, Any]) -> int:
        """Note that an attempt failed. Returns how many have."""
        sql = (
            "INSERT INTO run_queue (run_id, request, failures, problem, at) VALUES (?, ?, 1, ?, ?) "
            "ON CONFLICT (run_id) DO UPDATE SET failures = run_queue.failures + 1, "
            "problem = excluded.problem"
        )

        def note(connection: Transaction) -> int:
            connection.execute(sql, [run_id, as_json({}), as_json(problem), time.time()])
            noted = "SELECT failures FROM run_queue WHERE run_id = ?"
            return int(connection.first(noted, [run_id]))

        return await self._database.write(note)

    async def forgive(self, run_id: str) -> None:
        """Let it be tried again."""
        sql = "UPDATE run_queue SET failures = 0 WHERE run_id = ?"
        await self._database.write(lambda c: c.execute(sql, [run_id]))

    async def ended(self, run_id: str) -> None:
        """Forget what was asked, as the record of the run has it, and wake the readers: the rest,
        and the end, are in the record too.
        """

        def forget(connection: Transaction) -> None:
            connection.execute("DELETE FROM run_queue WHERE run_id = ?", [run_id])
            tell(connection, SAID, run_id)

        await self._database.write(forget)

    async def left_behind(self, unless: str = "1 = 0") -> Sequence[str]:
        """Runs of processes that died: oldest first, the first hundred."""
        where, values = of_project(self._project)
        sql = (
            f"SELECT id FROM runs WHERE lease_owner IS NOT NULL AND {_OPEN} AND NOT {IS_HELD} "
            f"AND {where} AND NOT {_STUCK} AND NOT ({unless}) "
            f"ORDER BY started_at, id LIMIT {MOST_FOUND}"
        )
        return await self._database.read(lambda c: c.firsts(_timed(sql, c), values))

    async def due(self, user: str, most: int, unless: str = "1 = 0") -> list[Due]:
        """The runs of a user that wait and may begin now: the first ones, as many as there is room
        for below `most`. However many wait behind them, that costs the same.
        """
        # `=` and not `of_project`, so that the index is read in order and only as far as needed.
        where = "project IS NULL" if self._project is None else "project = ?"
        values = [user] if self._project is None else [self._project, user]
        waiting = (
            f"SELECT id, priority FROM runs WHERE lease_owner IS NULL AND {_OPEN} AND {where} "
            f"AND user_id = ? AND NOT {_STUCK} ORDER BY priority DESC, started_at, id LIMIT ?"
        )
        sql = f"SELECT id, priority, {unless} FROM ({waiting}) AS runs"

        def read(connection: Transaction) -> list[Due]:
            held = held_of(connection, user, self._project)
            if held >= most:
                return []
            found = connection.rows(sql, [*values, most - held])
            return [
                Due(run_id, min(0, priority) * RANKS - rank)
                for rank, (run_id, priority, has_job) in enumerate(found, start=held)
                if not has_job
            ]

        return await self._database.read(read)

    async def held_by(self, user: str) -> int:
        """How many runs of the user are worked on."""
        return await self._database.read(lambda c: held_of(c, user, self._project))

    async def users(self) -> list[str]:
        """Those who have runs that wait. Each costs one look into the index, not each run."""
        where = "project IS NULL" if self._project is None else "project = ?"
        values = [] if self._project is None else [self._project] * 2
        first = f"SELECT min(user_id) FROM runs WHERE lease_owner IS NULL AND {_OPEN} AND {where}"
        sql = (
            f"WITH RECURSIVE users(id) AS ({first} UNION ALL "
            f"SELECT ({first} AND user_id > users.id) FROM users WHERE users.id IS NOT NULL) "
            "SELECT id FROM users WHERE id IS NOT NULL"
        )
        return await self._database.read(lambda c: c.firsts(sql, values))

    async def entries(self) -> list[QueuedRun]:
        """All that are not done, oldest first."""
        where, values = of_project(self._project)
        query = (
            f"WHERE status = 'running' AND stop_reason IS NULL AND shadow_of IS NULL AND {where} "
            f"AND door IN ('{QUEUED}', '{SERVER}') ORDER BY started_at, id"
        )

        def read(connection: Transaction) -> list[QueuedRun]:
            now = connection.first(f"SELECT {connection.backend.now}")
            failed = connection.records("SELECT * FROM run_queue WHERE failures > 0")
            rows = [checked(run_queue, row) for row in failed]
            problems = {row["run_id"]: (row["failures"], row["problem"]) for row in rows}
            return [
                _entry(run, now, *problems.get(run.id, (0, {})))
                for run in entities(connection, StoredRun, query, values)
            ]

        return await self._database.read(read)


def _request_of(connection: Transaction, run_id: str) -> Mapping[str, Any] | None:
    sql = (
        "SELECT * FROM run_queue WHERE run_id = ? AND "
        "NOT EXISTS (SELECT 1 FROM journal AS j WHERE j.run_id = run_queue.run_id)"
    )
    found = connection.records(sql, [run_id])
    return (checked(run_queue, found[0])["request"] or None) if found else None


def _entry(run: StoredRun, now: float, failures: int, problem: Mapping[str, Any]) -> QueuedRun:
    state: State = "waiting"
    if (run.lease_until or 0) > now:
        state = "running"
    elif failures >= MOST_FAILURES:
        state = "stuck"
    return QueuedRun(
        run=run, state=state, failures=failures, problem=str(problem.get("detail", ""))
    )


def _timed(sql: str, connection: Transaction) -> str:
    return sql.replace("{now}", connection.backend.now)


_OPEN: Final = (
    "status = 'running' AND stop_reason IS NULL AND shadow_of IS NULL "
    f"AND door IN ('{QUEUED}', '{SERVER}')"
)
_STUCK: Final = (
    "EXISTS (SELECT 1 FROM run_queue WHERE run_queue.run_id = runs.id "
    f"AND failures >= {MOST_FAILURES})"
)

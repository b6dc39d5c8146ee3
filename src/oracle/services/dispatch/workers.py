"""Which workers there are: each says every few seconds that it is alive."""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections import defaultdict
from importlib.metadata import version
from typing import Final, Literal, TypeAlias

from oracle.lazy_dataclass import dataclass
from oracle.services.storage.database import Database
from oracle.services.storage.records import checked
from oracle.services.storage.schema import run_workers
from oracle.services.storage.transactions import Transaction

SECONDS_BETWEEN_BEATS: Final = 3.0
DEAD_AFTER_SECONDS: Final = 10.0
FORGOTTEN_AFTER_SECONDS: Final = 3600.0

State: TypeAlias = Literal["working", "draining"]


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerRow:
    """`id` begins like the owner of a lease: the machine and the process."""

    id: str
    project: str | None
    version: str
    state: State
    concurrency: int
    started_at: float
    seen_at: float
    is_alive: bool
    run_ids: tuple[str, ...] = ()


def new_worker_id() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:6]}"


class Workers:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def beat(self, id_: str, *, project: str | None, state: State, concurrency: int) -> None:
        """Times are those of the database, as machines may disagree about theirs."""
        sql = (
            "INSERT INTO run_workers "
            "(id, project, version, state, concurrency, started_at, seen_at) "
            "VALUES (?, ?, ?, ?, ?, {now}, {now}) "
            "ON CONFLICT (id) DO UPDATE SET state = excluded.state, seen_at = excluded.seen_at"
        )
        values = [id_, project, version("bt-oracle"), state, concurrency]

        def write(connection: Transaction) -> None:
            connection.execute(sql.replace("{now}", connection.backend.now), values)
            forget = f"DELETE FROM run_workers WHERE seen_at < {connection.backend.now} - ?"
            connection.execute(forget, [FORGOTTEN_AFTER_SECONDS])

        await self._database.write(write)

    async def leave(self, id_: str) -> None:
        sql = "DELETE FROM run_workers WHERE id = ?"
        await self._database.write(lambda c: c.execute(sql, [id_]))

    async def all(self) -> list[WorkerRow]:
        """Oldest first, with the runs that each of them holds."""

        def read(connection: Transaction) -> list[WorkerRow]:
            now: float = connection.first(f"SELECT {connection.backend.now}") or time.time()
            held = connection.rows(
                "SELECT lease_owner, id FROM runs WHERE status = 'running' AND lease_until > ? "
                "ORDER BY started_at",
                [now],
            )
            of_process: defaultdict[str, list[str]] = defaultdict(list)
            for owner, run_id in held:
                of_process[process_of(owner)].append(run_id)
            found = connection.records("SELECT * FROM run_workers ORDER BY started_at, id")
            rows = [checked(run_workers, row) for row in found]
            return [
                WorkerRow(
                    **row,
                    is_alive=now - row["seen_at"] < DEAD_AFTER_SECONDS,
                    run_ids=tuple(of_process[process_of(row["id"])]),
                )
                for row in rows
            ]

        return await self._database.read(read)


def process_of(owner: str | None) -> str:
    """The machine and the process of a worker, or of the owner of a lease."""
    return (owner or "").rpartition(":")[0]

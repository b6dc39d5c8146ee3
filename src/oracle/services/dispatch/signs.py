"""Signs of life that end with their process, so that a dead worker's runs need not wait for the
end of their leases.

A worker holds a lock of PostgreSQL in the connection on which it listens. If the process is killed,
the server notices at once that the connection is gone, and gives the lock up. A connection may
break without that, and then it is made again soon. So a worker is taken for dead only if its lock
was missing in every look for some seconds, and it did not say in that time that it is alive.
A worker that only sleeps keeps its lock, and its runs wait for the end of their leases.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Final, NamedTuple

from oracle.errors import StoreError
from oracle.services.dispatch.workers import SECONDS_BETWEEN_BEATS, process_of
from oracle.services.storage.database import Database
from oracle.services.storage.transactions import Transaction

SECONDS_BETWEEN_LOOKS: Final = 1.0
SECONDS_MISSING: Final = SECONDS_BETWEEN_BEATS + 1
"""Longer than the time between two beats: one that is alive has beaten by then."""

SHOW: Final = "SELECT pg_try_advisory_lock_shared(%s)"
"""Shared: after a break, the server may hold the lock of the old connection for a while."""
_SHOWN: Final = (
    "SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE locktype = 'advisory' "
    "AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
_RELEASE: Final = (
    "UPDATE runs SET lease_until = {now} WHERE status = 'running' AND lease_until > {now} "
    "AND starts_with(lease_owner, ?)"
)


class _Missing(NamedTuple):
    seen_at: float
    since: float
    is_released: bool = False


class Signs:
    """What one worker, whose id is `own`, sees of the others."""

    def __init__(
        self, database: Database, own: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._own = own
        self._clock = clock
        self._missing: dict[str, _Missing] = {}

    async def release(self) -> int:
        """Release the leases of workers that have died. Returns how many runs that were."""
        if not self._database.backend.notice:
            return 0
        try:
            self._note(*await self._database.read(self._look))
        except StoreError:
            self.forget()
            raise
        dead = [id_ for id_, each in self._missing.items() if self._is_dead(each)]
        if not dead:
            return 0
        released = await self._database.write(lambda c: sum(_release(c, id_) for id_ in dead))
        for id_ in dead:
            self._missing[id_] = self._missing[id_]._replace(is_released=True)
        return released

    def forget(self) -> None:
        """Begin again: after an outage, those who are missing have had no time to come back."""
        self._missing.clear()

    async def shown(self) -> set[int]:
        """The locks that are held now."""
        return set(await self._database.read(lambda c: c.firsts(_SHOWN, [])))

    def _look(self, connection: Transaction) -> tuple[dict[str, float], set[int]]:
        workers = {str(id_): seen for id_, seen in connection.rows(_WORKERS, [])}
        return workers, set(connection.firsts(_SHOWN, []))

    def _note(self, workers: Mapping[str, float], shown: set[int]) -> None:
        alive = {process_of(id_) for id_ in workers if key_of(id_) in shown}
        alive.add(process_of(self._own))
        before, self._missing = self._missing, {}
        for id_, seen_at in workers.items():
            if process_of(id_) in alive:
                continue
            found = before.get(id_)
            if found is None or found.seen_at != seen_at:
                found = _Missing(seen_at, self._clock())
            self._missing[id_] = found

    def _is_dead(self, missing: _Missing) -> bool:
        return not missing.is_released and self._clock() - missing.since >= SECONDS_MISSING


_WORKERS: Final = "SELECT id, seen_at FROM run_workers"


def key_of(worker_id: str) -> int:
    """The number of the lock of a worker."""
    return int.from_bytes(sha256(worker_id.encode()).digest()[:8], signed=True)


def _release(connection: Transaction, worker_id: str) -> int:
    # Each run that a process works on has an owner of its own, which begins with the process.
    sql = _RELEASE.replace("{now}", connection.backend.now)
    return connection.execute(sql, [f"{process_of(worker_id)}:"])

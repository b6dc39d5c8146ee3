"""Questions that wait for their turn to begin are on disk, so that none is lost with this process.

The line holds them under a lease of its own. A process that dies loses it, and the next server, or
a worker, begins what was waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from oracle.bt.wrappers.run_store import RunStore
from oracle.errors import OracleError
from oracle.logs import logger_of
from oracle.services.background import cancelled
from oracle.services.storage.runs import Runs, new_owner

log = logger_of(__name__)


class Line:
    def __init__(self, store: RunStore) -> None:
        self.owner = new_owner()
        self.store = store.of_line(self.owner)
        self._runs: Runs = store.runs
        self._waiting: set[str] = set()
        self._holding: asyncio.Task[None] | None = None

    def stored(self, run_id: str, storing: Coroutine[Any, Any, None]) -> StoredPlace:
        """A place for a run that is being stored. Its lease is renewed until it is begun."""
        self._waiting.add(run_id)
        if self._holding is None:
            self._holding = asyncio.create_task(self._hold())
        return StoredPlace(self, run_id, asyncio.create_task(storing))

    def found(self, run_id: str) -> StoredPlace:
        """A place for a run that another process has stored and never begun."""
        return self.stored(run_id, self._take(run_id))

    async def _take(self, run_id: str) -> None:
        await self._runs.claim(run_id, self.owner)

    def begun(self, run_id: str) -> None:
        self._waiting.discard(run_id)

    async def give_up(self, run_id: str, *, for_good: bool) -> None:
        self._waiting.discard(run_id)
        # If that fails, its lease runs out, and the run is begun by whoever looks for it then.
        with suppress(OracleError):
            await self._runs.leave_line(run_id, self.owner, for_good=for_good)

    async def close(self) -> None:
        if self._holding is not None:
            await cancelled(self._holding)

    async def _hold(self) -> None:
        while True:
            await asyncio.sleep(self._runs.renew_seconds)
            if self._waiting:
                try:
                    await self._runs.hold_line([*self._waiting], self.owner)
                except OracleError as problem:
                    log.warning("the questions that wait are not held for longer: %s", problem)


class StoredPlace:
    """Of a run that is on disk before it begins."""

    def __init__(self, line: Line, run_id: str, storing: asyncio.Task[None]) -> None:
        self._line = line
        self._run_id = run_id
        self._storing = storing

    async def stored(self) -> None:
        """Wait until it is on disk. Raises if it cannot be stored."""
        await asyncio.shield(self._storing)

    async def is_stored(self) -> bool:
        try:
            await self.stored()
        except OracleError:
            return False
        return True

    def begun(self) -> None:
        self._line.begun(self._run_id)

    async def give_up(self, *, for_good: bool) -> None:
        """It is not begun here, and with `for_good` nowhere else either."""
        await self._line.give_up(self._run_id, for_good=for_good)

"""This process's hold on a run: renewed while it works, so that no other process takes the run."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from oracle.errors import OracleError, StoreError
from oracle.services.storage.runs import Runs

log = logging.getLogger(__name__)


class Lease:
    """`async with lease:` renews it. A block that raises gives the run back, to be resumed at once.

    A lease that is lost cancels the block, which then raises `LeaseHeld`.
    """

    def __init__(self, runs: Runs, run_id: str, owner: str, *, needs_record: bool = True) -> None:
        self._runs = runs
        self._run_id = run_id
        self.owner = owner
        self._needs_record = needs_record
        self._lost: OracleError | None = None
        self.usage: Callable[[], Mapping[str, Any]] = dict[str, Any]
        """What the run has used so far. It is noted with each renewal."""
        self.when_lost: Callable[[], object] = _nothing
        """Called before the block is cancelled."""
        self._parks_for: float | None = None
        self._renewing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        self._renewing = asyncio.create_task(self._renew(asyncio.current_task()))

    async def __aexit__(self, _: object, problem: BaseException | None, __: object) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
        if problem is None:
            return
        # The block was cancelled because of the loss: that is the reason to report.
        if self._lost is not None:
            raise self._lost from problem
        await self.release()

    def park_for(self, seconds: float) -> None:
        """When the run is given back, let it wait for a person for that long."""
        self._parks_for = seconds

    async def release(self) -> None:
        """Let another process take the run; where that fails, the lease runs out by itself."""
        with contextlib.suppress(OracleError):
            if self._parks_for is None:
                await self._runs.release(self._run_id, self.owner, self.usage())
            else:
                await self._runs.park(self._run_id, self.owner, self._parks_for)

    async def finish(self, stop_reason: str, usage: Mapping[str, Any]) -> None:
        """Write down how the run ended; it can then not be resumed.

        A run that `needs_record` fails if that fails; another one only says so in the log.
        """
        try:
            await self._runs.finish(
                self._run_id,
                owner=self.owner,
                stop_reason=stop_reason,
                usage=usage,
                at=time.time(),
            )
        except StoreError as problem:
            if self._needs_record:
                raise
            log.error("run %s: its end is not on record: %s", self._run_id, problem)

    async def _renew(self, work: asyncio.Task[Any] | None) -> None:
        while True:
            await asyncio.sleep(self._runs.renew_seconds)
            try:
                await self._runs.renew(self._run_id, self.owner, usage=self.usage())
            except StoreError as problem:
                # The lease lasts for several renewals, so a database may be away for a moment.
                log.warning("the lease of run %s was not renewed: %s", self._run_id, problem)
            except OracleError as lost:
                self._lost = lost
                self.when_lost()
                if work is not None:
                    work.cancel()
                return


def _nothing() -> None:
    """Nobody asked to be told."""

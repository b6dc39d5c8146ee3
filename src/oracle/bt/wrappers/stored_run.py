"""Runs in the database: begun, found again, resumed by one process at a time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, Final, NoReturn, TypeAlias

from sqlalchemy import select

from oracle.bt.core.leaves import LEAVES, LeafRegistry
from oracle.bt.core.runtime import Outcome
from oracle.bt.wrappers.recorded_run import KEPT_BY_CONTENT, Recipe, RecordedRun, ServicesOf
from oracle.errors import InputError, OracleError, StoreError
from oracle.models.run import Run
from oracle.services.journal import Record
from oracle.services.journal.record import decoded
from oracle.services.journal.writer import JournalWriter
from oracle.services.storage.database import Database
from oracle.services.storage.runs import Runs
from oracle.services.storage.schema import blobs, journal

log = logging.getLogger(__name__)

Keep: TypeAlias = Callable[[Outcome], Awaitable[None]]
"""Keeps what came of a run, while the run is not yet done: after a crash it is called again."""

LEASE_SECONDS: Final = 30.0
RENEW_SECONDS: Final = 8.0


class RunArchive:
    """The runs of a database, for those who look at what was recorded."""

    def __init__(self, database: Database, *, leaves: LeafRegistry = LEAVES) -> None:
        self._database = database
        self._leaves = leaves
        self.runs = Runs(database)

    async def record_of(self, typed: str) -> tuple[list[Record], dict[str, str]]:
        """The records of a run, and the texts that its first one names."""
        run = await self.runs.get(typed)
        columns = (journal.c.seq, journal.c.kind, journal.c.node_path, journal.c.turn)
        rows = select(*columns, journal.c.ordinal, journal.c.body).where(journal.c.run_id == run.id)
        async with self._database.reading() as connection:
            found = await connection.execute(rows.order_by(journal.c.seq))
            records = decoded(tuple(row) for row in found)
            first: dict[str, dict[str, str]] = dict(records[0].body) if records else {}
            names = [name for kind in KEPT_BY_CONTENT for name in first.get(kind, {}).values()]
            texts = await connection.execute(
                select(blobs.c.hash, blobs.c.body).where(blobs.c.hash.in_(names))
            )
            return records, {row.hash: row.body for row in texts}

    async def replay(self, typed: str, *, services: ServicesOf | None = None) -> RecordedRun:
        records, contents = await self.record_of(typed)
        return RecordedRun.replay(records, contents, leaves=self._leaves, services=services)


class RunStore(RunArchive):
    """… and for a process that works on them."""

    def __init__(
        self, database: Database, writer: JournalWriter, *, leaves: LeafRegistry = LEAVES
    ) -> None:
        super().__init__(database, leaves=leaves)
        self._writer = writer
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:6]}"

    async def begin(
        self,
        recipe: Recipe,
        *,
        session_id: str | None = None,
        context_id: str | None = None,
        opens_session: bool = False,
        services: ServicesOf | None = None,
    ) -> StoredRun:
        """Write a new run down before anything is done for it.

        Where that fails and the writer is to go on in memory, so does the run, with a warning.
        """
        sink = self._writer.sink(recipe.run_id, self._owner)
        recorded = RecordedRun(recipe, sink, leaves=self._leaves, services=services)
        try:
            await self.runs.begin(
                run_id=recipe.run_id,
                question=recipe.question,
                tree=recipe.tree,
                at=recipe.began_at,
                owner=self._owner,
                lease_seconds=LEASE_SECONDS,
                session_id=session_id,
                context_id=context_id,
                opens_session=opens_session,
            )
        except StoreError as problem:
            if self._writer.on_failure == "stop":
                raise
            log.error("run %s: %s; GOING ON WITHOUT A RECORD", recipe.run_id, problem)
            unrecorded = RecordedRun(recipe, leaves=self._leaves, services=services)
            return StoredRun(unrecorded, None, self._owner)
        return StoredRun(recorded, self.runs, self._owner)

    async def resume(self, typed: str, *, services: ServicesOf | None = None) -> StoredRun:
        """Take up a run that its process left behind; another that holds it is respected.

        One that came to its end, and died before that was noted, is only told again.
        """
        run = await self.runs.claim(typed, self._owner, LEASE_SECONDS)
        try:
            records, contents = await self.record_of(run.id)
            if not records:
                await self._finish_unbegun(run)
            known: dict[str, Any] = {"leaves": self._leaves, "services": services}
            if records[-1].kind == "end":
                recorded = RecordedRun.replay(records, contents, **known)
            else:
                sink = self._writer.sink(run.id, self._owner)
                recorded = RecordedRun.resume(records, contents, sink, **known)
        except BaseException:
            with contextlib.suppress(OracleError):
                await self.runs.release(run.id, self._owner)
            raise
        return StoredRun(recorded, self.runs, self._owner)

    async def _finish_unbegun(self, run: Run) -> NoReturn:
        await self.runs.finish(
            run.id, owner=self._owner, stop_reason="never_begun", usage={}, at=time.time()
        )
        raise InputError(f"run {run.id} died before it began, so nothing is lost; ask again")


class StoredRun:
    """A run that this process holds: it renews its lease while it works, and says how it ended.

    Without `runs` it is a run that could not be written down.
    """

    def __init__(self, recorded: RecordedRun, runs: Runs | None, owner: str) -> None:
        self.id = recorded.recipe.run_id
        self.recorded = recorded
        self._runs = runs
        self._owner = owner
        self._lost: OracleError | None = None

    async def settle(self, keep: Keep | None = None) -> Outcome:
        if self._runs is None:
            return await self.recorded.settle()
        holding = asyncio.create_task(self._hold(self._runs, asyncio.current_task()))
        try:
            outcome = await self.recorded.settle()
            if keep is not None:
                await keep(outcome)
        except BaseException as problem:
            if self._lost is not None:
                raise self._lost from problem
            with contextlib.suppress(OracleError):
                await self._runs.release(self.id, self._owner)
            raise
        finally:
            holding.cancel()
        await self._finish(self._runs, outcome)
        return outcome

    async def _finish(self, runs: Runs, outcome: Outcome) -> None:
        stop_reason, usage = self.recorded.ending(outcome)
        await runs.finish(
            self.id, owner=self._owner, stop_reason=stop_reason, usage=usage, at=time.time()
        )

    async def _hold(self, runs: Runs, work: asyncio.Task[Any] | None) -> None:
        """Renew the lease in time. A run whose lease was lost belongs to another process: stop."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                await runs.renew(self.id, self._owner, LEASE_SECONDS)
            except StoreError as problem:
                log.warning("the lease of run %s was not renewed: %s", self.id, problem)
            except OracleError as lost:
                self._lost = lost
                if work is not None:
                    work.cancel()
                return

"""Jobs in PostgreSQL, with Procrastinate as the engine: queue, wake-up and heartbeat."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, Final

import procrastinate
import psycopg
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import Status

from oracle.errors import StoreError
from oracle.logs import logger_of
from oracle.services.background import Together, cancelled
from oracle.services.dispatch.protocol import Job
from oracle.services.dispatch.queue import Queue
from oracle.services.storage.addresses import Address
from oracle.services.storage.connections import shown
from oracle.services.storage.postgres import session_limits

log = logger_of(__name__)

TASK: Final = "oracle.run"
WAITING: Final = (
    "EXISTS (SELECT 1 FROM procrastinate_jobs WHERE queueing_lock = runs.id AND status = 'todo')"
)
"""In SQL: whether a run has a job that no worker has claimed."""

STALLED_SECONDS: Final = 10.0
"""Without a heartbeat for so long, a worker is taken for dead, and its jobs are given to others."""
FORGOTTEN_SECONDS: Final = 3600.0
SECONDS_TO_FIRST_LOOK: Final = 0.1
SECONDS_TO_CONNECT_AGAIN: Final = 1.0
MOST_CONNECTIONS: Final = 2
SECONDS_TO_GET_A_CONNECTION: Final = 3.0
"""While the database is away, a worker that is to stop waits for it a few times."""


class ProcrastinateDispatcher:
    """`queue` is the name of a queue: a worker claims jobs of its own project only."""

    def __init__(
        self,
        app: procrastinate.App,
        queue: str,
        runs: Queue,
        most_of_user: int,
        address: Address,
    ) -> None:
        self._app = app
        self._jobs = app.job_manager
        self._queue = queue
        self._runs = runs
        self._most = most_of_user
        self._address = address
        self._worker: int | None = None
        self._news = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None
        self._admitting: dict[str, Together[None]] = {}
        self._is_heard = False

    async def enqueue(self, run_id: str, priority: int = 0) -> None:
        task = self._app.configure_task(
            TASK, queue=self._queue, queueing_lock=run_id, priority=priority
        )
        with self._faults(), contextlib.suppress(AlreadyEnqueued):
            await task.defer_async(run_id=run_id)

    async def admit(self, user: str) -> None:
        # One look for all who ask at the same time. Each of a burst of questions would find all the
        # others, and enqueue them as well.
        if user not in self._admitting:
            self._admitting[user] = Together(partial(self._admit, user))
        await self._admitting[user]()

    async def _admit(self, user: str) -> None:
        for run_id, priority in await self._runs.due(user, self._most, unless=WAITING):
            await self.enqueue(run_id, priority)

    async def claim(self, seconds: float) -> Job | None:
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen())
        # Cleared before the first look: a job that comes after it rings again.
        self._news.clear()
        if (job := await self._fetched()) is not None:
            return job
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        # Nobody says when the server has begun to listen for us. A job that came just before that
        # rings nobody, so until the first ring there are further looks, less and less often.
        pause = seconds if self._is_heard else SECONDS_TO_FIRST_LOOK
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(pause, end - loop.time())):
                    await self._news.wait()
            job = await self._fetched()
            if job is not None or self._news.is_set() or loop.time() >= end:
                return job
            pause *= 2

    async def _fetched(self) -> Job | None:
        try:
            with self._faults():
                worker = await self._registered()
                found = await self._jobs.fetch_job(queues=[self._queue], worker_id=worker)
        except StoreError:
            # Others may have forgotten a worker that was asleep for long.
            self._worker = None
            raise
        if found is None or found.id is None:
            return None
        return Job(found.id, str(found.task_kwargs["run_id"]))

    async def finish(self, job: Job) -> None:
        await self._remove(job.id)

    async def cancel(self, run_id: str) -> bool:
        with self._faults():
            found = await self._jobs.list_jobs_async(queueing_lock=run_id, status="todo")
            taken = [
                await self._jobs.cancel_job_by_id_async(job.id, delete_job=True)
                for job in found
                if job.id is not None
            ]
        return any(taken)

    async def heartbeat(self) -> None:
        with self._faults():
            await self._jobs.update_heartbeat(await self._registered())
            stalled = await self._jobs.get_stalled_jobs(
                queue=self._queue, seconds_since_heartbeat=STALLED_SECONDS
            )
            await self._jobs.prune_stalled_workers(FORGOTTEN_SECONDS)
        for job in stalled:
            if job.id is not None:
                await self._remove(job.id)
        await self.rescue()
        # Also runs whose job was lost, for example with a front end that died between the two.
        for user in await self._runs.users():
            await self.admit(user)

    async def rescue(self) -> None:
        for run_id in await self._runs.left_behind(unless=WAITING):
            await self.enqueue(run_id)

    async def close(self) -> None:
        if self._listening is not None:
            await cancelled(self._listening)
        if self._worker is not None:
            with contextlib.suppress(StoreError), self._faults():
                await self._jobs.unregister_worker(self._worker)

    async def _registered(self) -> int:
        if self._worker is None:
            self._worker = await self._jobs.register_worker()
        return self._worker

    async def _remove(self, job_id: int) -> None:
        """Jobs that are over are deleted: what became of their runs is recorded elsewhere."""
        try:
            await self._jobs.finish_job_by_id_async(job_id, Status.SUCCEEDED, delete_job=True)
        except ConnectorException as problem:
            # Another worker took this one for dead and removed its job already.
            log.debug("job %s is gone: %s", job_id, problem)

    async def _listen(self) -> None:
        async def ring(**_: Any) -> None:
            self._is_heard = True
            self._news.set()

        while True:
            try:
                await self._jobs.listen_for_jobs(on_notification=ring, queues=[self._queue])
            except Exception as problem:
                log.warning("the job queue cannot be heard: %s; trying again", problem)
            self._is_heard = False
            await asyncio.sleep(SECONDS_TO_CONNECT_AGAIN)

    @contextmanager
    def _faults(self) -> Generator[None]:
        try:
            yield
        except AlreadyEnqueued:
            raise
        except ConnectorException as problem:
            reason = str(problem.__cause__ or problem).strip().splitlines()
            told = f"{shown(self._address)}: the job queue cannot be used"
            raise StoreError(f"{told} ({reason[0] if reason else 'no answer'})") from problem


async def _limited(connection: psycopg.AsyncConnection) -> None:
    # Each statement is whole. In a transaction, a worker that is suspended before its commit would
    # hold a lock for which all the others wait.
    await connection.set_autocommit(True)
    await connection.execute(session_limits())


@asynccontextmanager
async def opened(
    address: Address, queue: str, runs: Queue, most_of_user: int
) -> AsyncGenerator[ProcrastinateDispatcher]:
    connector = procrastinate.PsycopgConnector(
        conninfo=address.with_password(),
        min_size=1,
        max_size=MOST_CONNECTIONS,
        timeout=SECONDS_TO_GET_A_CONNECTION,
        configure=_limited,
    )
    app = procrastinate.App(connector=connector)
    async with app.open_async():
        dispatcher = ProcrastinateDispatcher(app, queue, runs, most_of_user, address)
        try:
            yield dispatcher
        finally:
            await dispatcher.close()

"""Jobs in the memory of one process, for a database without a job queue of its own.

Another process hears nothing of them. It looks into the database a few times a second while it
waits for a job.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from itertools import count
from typing import Final

from oracle.services.dispatch.protocol import Job
from oracle.services.dispatch.queue import Queue

SECONDS_BETWEEN_LOOKS: Final = 0.25


class MemoryDispatcher:
    def __init__(self, queue: Queue, most_of_user: int) -> None:
        self._queue = queue
        self._most = most_of_user
        self._numbers = count(1)
        # The keys are the ids of runs; the values, a job and its priority.
        self._waiting: dict[str, tuple[Job, int]] = {}
        self._claimed: set[str] = set()
        self._news = asyncio.Event()

    async def enqueue(self, run_id: str, priority: int = 0) -> None:
        self._waiting.setdefault(run_id, (Job(next(self._numbers), run_id), priority))
        self._news.set()

    async def admit(self, user: str) -> None:
        for run_id, priority in await self._queue.due(user, self._most):
            if run_id not in self._claimed:
                await self.enqueue(run_id, priority)

    async def claim(self, seconds: float) -> Job | None:
        ends_at = time.monotonic() + seconds
        while True:
            self._news.clear()
            if not self._waiting:
                await self._look()
            if self._waiting:
                return self._taken()
            left = ends_at - time.monotonic()
            if left <= 0:
                return None
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, SECONDS_BETWEEN_LOOKS)):
                    await self._news.wait()

    def _taken(self) -> Job:
        # Of those with the highest priority the first: a dictionary keeps the order of arrival.
        run_id = max(self._waiting, key=lambda id_: self._waiting[id_][1])
        job, _ = self._waiting.pop(run_id)
        self._claimed.add(run_id)
        return job

    async def finish(self, job: Job) -> None:
        self._claimed.discard(job.run_id)

    async def cancel(self, run_id: str) -> bool:
        return self._waiting.pop(run_id, None) is not None

    async def heartbeat(self) -> None:
        await self.rescue()
        await self._look()

    async def rescue(self) -> None:
        for run_id in await self._queue.left_behind():
            if run_id not in self._claimed:
                await self.enqueue(run_id)

    async def _look(self) -> None:
        for user in await self._queue.users():
            await self.admit(user)

"""Jobs in the memory of one process, for a database without a job queue of its own.

Another process hears nothing of them. Its heartbeat finds their runs in the database, so a run
waits for a few seconds at most.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from typing import TypeAlias

from oracle.services.dispatch.protocol import Job

LeftBehind: TypeAlias = Callable[[], Awaitable[Sequence[str]]]
"""Finds the runs that nobody works on."""


class MemoryDispatcher:
    def __init__(self, left_behind: LeftBehind) -> None:
        self._left_behind = left_behind
        self._numbers = count(1)
        # In the order of arrival; the keys are the ids of runs.
        self._waiting: dict[str, Job] = {}
        self._claimed: set[str] = set()
        self._news = asyncio.Event()

    async def enqueue(self, run_id: str) -> None:
        self._waiting.setdefault(run_id, Job(next(self._numbers), run_id))
        self._news.set()

    async def claim(self, seconds: float) -> Job | None:
        self._news.clear()
        if not self._waiting:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._news.wait()
        if not self._waiting:
            return None
        job = self._waiting.pop(next(iter(self._waiting)))
        self._claimed.add(job.run_id)
        return job

    async def finish(self, job: Job) -> None:
        self._claimed.discard(job.run_id)

    async def cancel(self, run_id: str) -> bool:
        return self._waiting.pop(run_id, None) is not None

    async def heartbeat(self) -> None:
        for run_id in await self._left_behind():
            if run_id not in self._claimed:
                await self.enqueue(run_id)

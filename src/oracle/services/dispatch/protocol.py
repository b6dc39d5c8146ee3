"""The port to a job queue, which wakes workers.

A job is the id of a run. Who works on a run, and how it ended, is in the `runs` table and in its
journal, never in the queue. So a job may be lost or come twice: a run that is held by a worker
cannot be taken by a second one (`LeaseHeld`), and `heartbeat` finds runs that nobody works on.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Job(NamedTuple):
    id: int
    run_id: str


class Dispatcher(Protocol):
    async def enqueue(self, run_id: str, priority: int = 0) -> None:
        """Wake a worker for the run. A run that waits already is not enqueued twice."""
        ...

    async def admit(self, user: str) -> None:
        """Enqueue the waiting runs of a user that may begin now. The others have no job, so a flood
        of one user makes the queue no longer for the others.
        """
        ...

    async def claim(self, seconds: float) -> Job | None:
        """Take the oldest job of the highest priority, or wait for one for at most so long."""
        ...

    async def finish(self, job: Job) -> None:
        """The job is over, whatever became of its run."""
        ...

    async def cancel(self, run_id: str) -> bool:
        """Take out the job of a run that no worker has claimed; False if there is none."""
        ...

    async def heartbeat(self) -> None:
        """Say that this worker is alive, and enqueue the runs that nobody works on."""
        ...

    async def rescue(self) -> None:
        """Enqueue the runs of processes that have died. It costs little, so it is done often."""
        ...

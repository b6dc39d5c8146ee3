"""One thread that writes for all event loops of a process, many pieces of work in one transaction.

A commit waits for the disk. A thousand runs that begin at once share a few commits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from oracle.services.storage.transactions import Transaction

Result = TypeVar("Result")
Begin: TypeAlias = Callable[[], AbstractContextManager[Transaction]]

MOST_TOGETHER: Final = 1000
"""The most pieces of work in one commit. Bounds how long other processes wait for the lock."""


class Job(NamedTuple):
    work: Callable[[Transaction], Any]
    result: Future[Any]


class WriteQueue:
    """Each piece of work is done as a whole or not at all, first come, first served.

    Work is repeated alone if the transaction that it shared fails, so it may have no effect except
    through its connection.
    """

    def __init__(self, begin: Begin) -> None:
        self._begin = begin
        self._waiting: deque[Job] = deque()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="database-write")

    def submit(self, work: Callable[[Transaction], Result]) -> Future[Result]:
        job = Job(work, Future[Any]())
        self._waiting.append(job)
        self._thread.submit(self._run_waiting)
        return job.result

    def close(self) -> None:
        """Write what is queued, and end the thread."""
        self._thread.shutdown()

    def _run_waiting(self) -> None:
        # Every job submits this call, and one call takes all jobs that wait, so many find none.
        count = min(MOST_TOGETHER, len(self._waiting))
        taken = [self._waiting.popleft() for _ in range(count)]
        # From here on a job cannot be cancelled: its work may be committed.
        jobs = [job for job in taken if job.result.set_running_or_notify_cancel()]
        try:
            if jobs and not self._run(jobs):
                for job in jobs:
                    self._run([job])
        except _CannotBegin as problem:
            # Trying each job alone would let each of them wait for the same lock again.
            for job in jobs:
                if not job.result.done():
                    job.result.set_exception(problem.reason)

    def _run(self, jobs: list[Job]) -> bool:
        """Run them in one transaction. False if each of them has to be tried alone."""
        is_begun = False
        try:
            with self._begin() as connection:
                is_begun = True
                results = [_attempt(connection, job, alone=len(jobs) == 1) for job in jobs]
        except Exception as problem:
            if not is_begun:
                raise _CannotBegin(problem) from problem
            if len(jobs) == 1:
                jobs[0].result.set_exception(problem)
            return len(jobs) == 1
        for job, (value, problem) in zip(jobs, results, strict=True):
            if problem is None:
                job.result.set_result(value)
            else:
                job.result.set_exception(problem)
        return True


class _CannotBegin(Exception):  # noqa: N818 - it is an outcome, not a bug
    def __init__(self, reason: Exception) -> None:
        self.reason = reason


def _attempt(connection: Transaction, job: Job, *, alone: bool) -> tuple[Any, Exception | None]:
    if alone:
        return job.work(connection), None
    try:
        with connection.savepoint():
            return job.work(connection), None
    except connection.backend.value_errors as problem:
        return None, problem
    except connection.backend.errors:
        # The database fails, and may have ended the whole transaction on its own, as SQLite does
        # on a full disk. Then savepoints say nothing, and all must be done again.
        raise
    except Exception as problem:
        return None, problem

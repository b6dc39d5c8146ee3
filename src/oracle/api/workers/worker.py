"""Works on queued runs, as many at once as it may, until it is asked to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from oracle.api.live_run import LiveRun
from oracle.api.live_runs import LiveRuns
from oracle.api.workers.answers import Answers
from oracle.api.workers.hearing import obey
from oracle.api.workers.publishing import publish
from oracle.bt.wrappers.queueing import options_of
from oracle.bt.wrappers.run_end import RunEnd
from oracle.bt.wrappers.run_store import RunStore
from oracle.errors import NotFound, OracleError
from oracle.models.session import StoredRun
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.background import cancelled
from oracle.services.dispatch.commands import Commands
from oracle.services.dispatch.control import end_unbegun
from oracle.services.dispatch.news import COMMAND, News
from oracle.services.dispatch.protocol import Dispatcher, Job
from oracle.services.dispatch.queue import MOST_FAILURES, Queue
from oracle.services.dispatch.signs import SECONDS_BETWEEN_LOOKS, Signs
from oracle.services.dispatch.streams import Streams
from oracle.services.dispatch.workers import SECONDS_BETWEEN_BEATS, Workers
from oracle.services.project.redaction import redact
from oracle.services.storage.runs import NEVER_BEGUN
from oracle.services.storage.users import EVERYBODY

log = logging.getLogger(__name__)

SECONDS_BETWEEN_CLAIMS: Final = 5.0
"""How long a claim waits for a job."""
SECONDS_AFTER_A_FAULT: Final = 1.0
SECONDS_CHUNKS_ARE_KEPT: Final = 600.0
"""After the end of a run, for readers that are slow. Later ones read the record."""
BEATS_BETWEEN_CLEANINGS: Final = 100

NOT_ITS_FAULT: Final = frozenset(
    {"LeaseHeld", "StoreError", "JournalError", "TooManyRuns", "SpendHeld"}
)
"""Kinds of errors that say nothing about the run: a job that came too early, a database that was
away, other runs of its user that have to end first. The next look finds the run again.
"""
KEPT_SHARE: Final = 8
"""One place in eight, and at least one of several, is kept for users who have no run under way. So
a user who has many waits for none of theirs.
"""
AGAIN: Final = "TimedOut"
"""The kind of error that may pass by itself: a run that has not begun is tried again."""


class Worker:
    def __init__(
        self,
        id_: str,
        *,
        runs: LiveRuns,
        store: RunStore,
        dispatcher: Dispatcher,
        news: News,
        answers: Answers,
        project: str | None,
        most_runs: int,
    ) -> None:
        self.id = id_
        self._runs = runs
        self._store = store.seen_by(EVERYBODY)
        self._dispatcher = dispatcher
        self._news = news
        self._answers = answers
        self._project = project
        self._most_runs = most_runs
        database = self._store.database
        self._queue = Queue(database, project)
        self._streams = Streams(database)
        self._commands = Commands(database)
        self._workers = Workers(database)
        self._signs = Signs(database, id_)
        self._room = asyncio.Semaphore(most_runs)
        self._kept = max(1, most_runs // KEPT_SHARE) if most_runs > 1 else 0
        self._users: Counter[str] = Counter()
        # Users whose runs this worker had no place for.
        self._held_back: set[str] = set()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._handing_over: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()

    async def work(self) -> None:
        """Until `drain` is called."""
        beating = asyncio.create_task(self._beat())
        looking = asyncio.create_task(self._look_for_the_dead())
        claiming = asyncio.create_task(self._claim())
        await self._stopping.wait()
        await cancelled(claiming, looking)
        if self._tasks:
            await asyncio.wait(self._tasks.values())
        await cancelled(beating)
        with contextlib.suppress(OracleError):
            await self._workers.leave(self.id)

    async def drain(self, seconds: float) -> None:
        """Take no more runs. Those under way may end within that time; a run whose turn ends is
        handed over then, and the others when the time is over. Other workers go on with them.
        """
        self._stopping.set()
        await self._runs.close(seconds)

    # -- claiming ----------------------------------------------------------------------------------

    async def _claim(self) -> None:
        # Not only ended by its cancellation: a driver of the database may lose one.
        while not self._stopping.is_set():
            await self._room.acquire()
            job: Job | None = None
            try:
                job = await self._dispatcher.claim(SECONDS_BETWEEN_CLAIMS)
            except OracleError as problem:
                log.warning("no run can be claimed: %s; trying again", problem)
                await asyncio.sleep(SECONDS_AFTER_A_FAULT)
            finally:
                if job is None:
                    self._room.release()
            if job is not None:
                self._take(job)

    def _take(self, job: Job) -> None:
        work = self._finish(job) if job.run_id in self._tasks else self._work_on(job)
        task = asyncio.create_task(work)
        if job.run_id not in self._tasks:
            self._tasks[job.run_id] = task
        task.add_done_callback(lambda ended: self._ended(job.run_id, ended))

    def _ended(self, run_id: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(run_id) is task:
            del self._tasks[run_id]
        self._room.release()
        if not task.cancelled() and (problem := task.exception()) is not None:
            log.error("run %s: %s", run_id, problem)

    async def _finish(self, job: Job) -> None:
        with contextlib.suppress(OracleError):
            await self._dispatcher.finish(job)

    # -- one run -----------------------------------------------------------------------------------

    async def _work_on(self, job: Job) -> None:
        try:
            with contextlib.suppress(NotFound):  # it was deleted while it waited
                run, request = await self._queue.look_at(job.run_id)
                if run.status != "done":
                    async with self._place_for(run.user_id) as has_place:
                        if has_place:
                            await self._run(run, request)
        finally:
            await self._finish(job)

    @asynccontextmanager
    async def _place_for(self, user: str) -> AsyncGenerator[bool]:
        """The last places are kept for users who have nothing under way, here or elsewhere."""
        is_kept = self._users.total() >= self._most_runs - self._kept
        has_others = self._users[user] > 0
        # Counted before anything is awaited: the jobs of a flood come all at once.
        self._users[user] += 1
        try:
            if is_kept and (has_others or await self._queue.held_by(user)):
                self._held_back.add(user)
                yield False
            else:
                yield True
        finally:
            self._users[user] -= 1

    async def _admit_next(self, user: str) -> None:
        """A place has become free: for the next run of this user, and of those held back."""
        users, self._held_back = {user, *self._held_back}, set()
        for each in users:
            with contextlib.suppress(OracleError):
                await self._dispatcher.admit(each)

    async def _run(self, run: StoredRun, request: Mapping[str, Any] | None) -> None:
        runs = self._runs.seen_by(run.user_id)
        if self._stopping.is_set():
            await self._dispatcher.enqueue(run.id)
            return
        try:
            if request is None:
                live = runs.resume(run.id)
            else:
                runs = runs.seen_by(run.user_id, may_write=request["may_write"])
                live = runs.begin(request["question"], run_id=run.id, **options_of(request))
        except Exception as problem:
            # Also a bug: a newer version may have stored what this one does not know.
            done = RunEnd().broken(problem, redact(f"{type(problem).__name__}: {problem}"))
            await self._note_failure(run, done)
            return
        obeying = asyncio.create_task(self._obey(run.id, live))
        try:
            new = await publish(self._streams, run.id, live, lambda chunk: self._hear(live, chunk))
            await asyncio.wait({live.task})
        finally:
            # Never left to itself: nobody would store what it says, or give it an answer.
            await live.hand_over()
            await cancelled(obeying)
            self._answers.forget(run.id)
        if new:
            # It got further than the last time: only attempts that change nothing are counted.
            await self._queue.forgive(run.id)
        await self._settle(run.id, live)

    def _hear(self, live: LiveRun, chunk: OracleStreamChunk) -> None:
        """The end of a turn is the best moment to hand a run over: nothing is asked twice."""
        is_between = chunk.type == ChunkType.TURN_END and chunk["outcome"] != "answer"
        if is_between and self._stopping.is_set() and not live.task.done():
            self._handing_over.add(task := asyncio.create_task(live.hand_over()))
            task.add_done_callback(self._handing_over.discard)

    async def _settle(self, run_id: str, live: LiveRun) -> None:
        run = await self._store.runs.get(run_id)
        last = live.chunks[-1] if live.chunks else None
        if run.status == "done":
            if run.stop_reason != NEVER_BEGUN:
                await self._queue.ended(run_id)
            else:
                await self._streams.ended(run_id)
            await self._admit_next(run.user_id)
        elif last is None or last.type != ChunkType.DONE:
            # It was handed over.
            await self._dispatcher.enqueue(run_id)
        else:
            await self._note_failure(run, last.data)

    async def _note_failure(self, run: StoredRun, done: Mapping[str, Any]) -> None:
        if done["error_kind"] in NOT_ITS_FAULT:
            log.info("run %s does not go on here: %s", run.id, done["detail"])
            return
        problem = {name: done[name] for name in ("error_kind", "detail", "stop_reason")}
        log.warning("run %s failed: %s", run.id, problem["detail"])
        failures = await self._queue.failed(run.id, problem)
        is_final = failures >= MOST_FAILURES or problem["error_kind"] != AGAIN
        if is_final and await self._queue.request_of(run.id) is not None:
            # It has no record, so nothing can be resumed. Its client hears why.
            await end_unbegun(self._store.database, run.id)
        else:
            await self._streams.ended(run.id)

    async def _obey(self, run_id: str, live: LiveRun) -> None:
        """Do what people want of the run. A run that is taken over hears all of it again."""
        obeyed: set[int] = set()
        with self._news.bell(COMMAND, run_id) as bell:
            while True:
                with contextlib.suppress(OracleError):
                    for id_, command in await self._commands.of_run(run_id):
                        if id_ not in obeyed:
                            obeyed.add(id_)
                            self._do(live, command)
                await bell.wait()

    def _do(self, live: LiveRun, command: Mapping[str, Any]) -> None:
        if "approve" in command:
            self._answers.give(command["approve"], is_yes=command["yes"] is True)
        elif not obey(live, command):
            # A newer version may know it.
            log.warning("run %s: the command %s is not known", live.id, command)

    # -- signs of life -----------------------------------------------------------------------------

    async def _beat(self) -> None:
        beats = 0
        while True:
            try:
                state = "draining" if self._stopping.is_set() else "working"
                await self._workers.beat(
                    self.id, project=self._project, state=state, concurrency=self._most_runs
                )
                await self._dispatcher.heartbeat()
                if beats % BEATS_BETWEEN_CLEANINGS == 0:
                    await self._streams.forget(SECONDS_CHUNKS_ARE_KEPT)
                beats += 1
            except OracleError as problem:
                log.warning("the database cannot be reached: %s; trying again", problem)
            await asyncio.sleep(SECONDS_BETWEEN_BEATS)

    async def _look_for_the_dead(self) -> None:
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            # Without the database nothing can be seen; `_beat` says so.
            with contextlib.suppress(OracleError):
                if released := await self._signs.release():
                    log.warning("a worker has died; its %s runs go on elsewhere", released)
                await self._dispatcher.rescue()

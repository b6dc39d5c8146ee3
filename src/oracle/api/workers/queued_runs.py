"""The runs of a front end: it stores questions, and workers in other processes answer them."""

from __future__ import annotations

import asyncio
import copy
import uuid
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any

from oracle.api.approvals import Approvals
from oracle.api.live_run import Numbered
from oracle.api.live_runs import LiveRuns
from oracle.api.metrics import Metrics
from oracle.api.workers.stored_stream import follow
from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.queueing import store_question
from oracle.bt.wrappers.run_store import RunStore
from oracle.errors import NotFound, OracleError, RunHandedOver
from oracle.models.session import LOCAL, StoredRun
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.background import cancelled
from oracle.services.dispatch import control
from oracle.services.dispatch.commands import Commands
from oracle.services.dispatch.news import News, open_news
from oracle.services.dispatch.opening import open_dispatcher
from oracle.services.dispatch.protocol import Dispatcher
from oracle.services.dispatch.streams import Streams


class QueuedRun:
    """A run that another process works on, with the chunks that were read so far."""

    def __init__(self, runs: QueuedRuns, run_id: str, storing: Coroutine[Any, Any, None]) -> None:
        self.id = ""
        self.run_id = run_id
        self.ahead = 0
        self.chunks: list[OracleStreamChunk] = []
        self._runs = runs
        self._storing = asyncio.create_task(self._store(storing))
        self._cancelling: asyncio.Task[None] | None = None

    async def _store(self, storing: Coroutine[Any, Any, None]) -> None:
        await storing
        self.id = self.run_id

    @property
    def has_ended(self) -> bool:
        return bool(self.chunks) and self.chunks[-1].type == ChunkType.DONE

    async def begun(self) -> str:
        """Returns the id of the run, or raises why it has none."""
        await asyncio.shield(self._storing)
        return self.id

    async def follow(
        self, after: int = -1, *, beat: float | None = None
    ) -> AsyncGenerator[Numbered]:
        await self.begun()
        async with aclosing(self._runs.follow(self.id, after, beat=beat)) as batches:
            async for batch in batches:
                self.chunks += [chunk for number, chunk in batch if number >= len(self.chunks)]
                yield batch

    async def end(self) -> OracleStreamChunk:
        """Wait for the last chunk, which has the answer."""
        if not self.has_ended:
            async with aclosing(self.follow(len(self.chunks) - 1)) as batches:
                async for _ in batches:
                    pass
        if not self.has_ended:
            raise RunHandedOver(
                f"run {self.id} has not ended; GET /api/runs/{self.id}/stream has its answer then"
            )
        return self.chunks[-1]

    def cancel(self, reason: str) -> None:
        self._cancelling = asyncio.create_task(self._cancel(reason))

    async def _cancel(self, reason: str) -> None:
        # One that was never stored, or has ended, needs no cancelling.
        with suppress(OracleError):
            await self._runs.cancel(await self.begun(), reason)


class QueuedRuns(LiveRuns):
    """None of its runs is in this process, so `live` finds none."""

    def __init__(
        self,
        agent: OracleBTWrapper,
        store: RunStore,
        *,
        dispatcher: Dispatcher,
        news: News,
        project: str | None,
        metrics: Metrics,
    ) -> None:
        super().__init__(agent, store, most=0, most_of_user=0, project=project, metrics=metrics)
        self._dispatcher = dispatcher
        self._news = news
        self._closing = asyncio.Event()
        self._admitting: set[asyncio.Task[None]] = set()

    def ask(self, question: str, context_id: str | None = None, **options: Any) -> QueuedRun:
        run_id = uuid.uuid4().hex
        options |= {"run_id": run_id, "may_write": self._may_write}
        return QueuedRun(self, run_id, self._store_question(question, context_id, **options))

    async def _store_question(self, question: str, context_id: str | None, **options: Any) -> None:
        store = self._store.seen_by(LOCAL if self._user is None else self._user)
        await store_question(store, self._agent.setup, question, context_id, **options)
        # Its client is not kept waiting, and does not ask again: the question is stored.
        admitting = asyncio.create_task(self._admit(store.database.user or LOCAL))
        self._admitting.add(admitting)
        admitting.add_done_callback(self._admitting.discard)

    async def _admit(self, user: str) -> None:
        # The next look of a worker finds the run too.
        with suppress(OracleError):
            await self._dispatcher.admit(user)

    async def follow(
        self, run_id: str, after: int = -1, *, beat: float | None = None
    ) -> AsyncGenerator[Numbered]:
        batches = follow(self._store, self._news, run_id, after, beat=beat, closing=self._closing)
        async with aclosing(batches):
            async for batch in batches:
                yield batch

    async def cancel(self, run_id: str, reason: str) -> None:
        run = await self._store.runs.get(run_id)
        if run.status == "done":
            raise NotFound(f"run {run_id} has ended; GET /api/runs/{run_id} says how")
        await control.cancel(self._store.database, self._dispatcher, run, reason)

    async def raise_limits(self, run_id: str, wanted: Mapping[str, float]) -> None:
        run = await self._store.runs.get(run_id)
        if run.status == "done":
            raise NotFound(f"run {run_id} has ended; GET /api/runs/{run_id} says how")
        budgets = self._agent.setup.budgets
        await control.raise_limits(self._store.database, run, wanted, budgets)

    async def asked_by(self, run_id: str) -> list[Mapping[str, Any]]:
        """The question that the run waits for an answer to: the last thing that it has said."""
        run = await self._store.runs.get(run_id)
        last = await Streams(self._store.database).last(run.id)
        if run.status == "done" or last is None or last["type"] != ChunkType.APPROVAL:
            return []
        given = await Commands(self._store.database).of_run(run.id)
        if any(command.get("approve") == last["id"] for _, command in given):
            return []
        return [OracleStreamChunk.from_dict(last).data]

    async def order(self, run_id: str, command: Mapping[str, Any]) -> None:
        await Commands(self._store.database).give(run_id, command)

    def is_under_way(self, run: StoredRun) -> bool:
        return run.status != "done" and run.stop_reason is None

    def seen_by(self, user: str | None, *, may_write: bool = True) -> QueuedRuns:
        view = copy.copy(self)
        view._user = user
        view._may_write = may_write
        view._store = self._store.seen_by(user)
        return view

    async def watch(self) -> None:
        """Nothing: workers find the runs that were left behind."""

    async def close(self, seconds: float) -> None:
        """End the streams at once. Their clients can go on at another front end."""
        await cancelled(*self._admitting)
        self._closing.set()
        self._news.ring_all()


@asynccontextmanager
async def opened_queue(
    agent: OracleBTWrapper, store: RunStore, metrics: Metrics, most_of_user: int
) -> AsyncGenerator[QueuedRuns]:
    project = agent.project_id or None
    async with (
        open_news(store.database) as news,
        open_dispatcher(store.database, project, most_of_user=most_of_user) as dispatcher,
    ):
        yield QueuedRuns(
            agent, store, dispatcher=dispatcher, news=news, project=project, metrics=metrics
        )


class QueuedApprovals(Approvals):
    """What runs in other processes wait for, as far as their streams say it."""

    def __init__(self, runs: QueuedRuns) -> None:
        super().__init__()
        self._queued = runs

    def seen_with(self, runs: LiveRuns) -> QueuedApprovals:
        assert isinstance(runs, QueuedRuns)
        return QueuedApprovals(runs)

    async def of_run(self, run_id: str) -> list[Mapping[str, Any]]:
        return await self._queued.asked_by(run_id)

    async def answer(self, run_id: str, id_: str, *, is_yes: bool) -> None:
        await self.get(run_id, id_)
        await self._queued.order(run_id, {"approve": id_, "yes": is_yes})

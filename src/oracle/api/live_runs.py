"""The runs that this server works on now, and those who listen to them.

A run does not belong to the request that began it. It goes on when its listener leaves, any number
of listeners can follow it, and each reads at its own pace from the same list of chunks: a slow one
costs nothing. The number of a chunk is its place in the run. A run that has ended is read from its
record, which says the same chunks again. A chunk is handed over when its record is on disk: even if
this process is killed, no listener has heard anything that the record does not say.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import logging
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, Final, TypeAlias

from oracle.api.live_mind import LiveMind
from oracle.api.metrics import Metrics
from oracle.bt.wrappers.mind.breaks import Breaks
from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.retelling import chunks_of
from oracle.bt.wrappers.run import Run
from oracle.bt.wrappers.run_store import RunStore
from oracle.errors import NotFound, OracleError, RunHandedOver, TooManyRuns
from oracle.models.session import LOCAL
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.storage.users import EVERYBODY

log = logging.getLogger(__name__)

Numbered: TypeAlias = Sequence[tuple[int, OracleStreamChunk]]
"""Chunks with their numbers. Without any it is the last one of a run that was interrupted."""

NOTHING_YET: Final[Numbered] = ()
"""Handed over, by identity, when nothing was said for a while."""

DOOR: Final = "server"
"""Written to the runs that begin here, so that a later server takes them up."""

SECONDS_BETWEEN_LOOKS: Final = 5.0
"""How often runs are looked for that another process has left behind."""

SECONDS_BETWEEN_SAVES: Final = 0.05
MOST_SECONDS_BETWEEN_SAVES: Final = 0.25
"""How long what a run says is collected before it is saved and shown. The more runs there are, the
longer it is, up to this: what is saved together costs little.
"""

MOST_AT_ONCE: Final = 64
"""Chunks that are handed over together. More would hold up those who wait for their turn."""


class NotBegun(OracleError):  # noqa: N818 - the name is a sentence
    """Why a run has no id. `kind` is the name of the error's class, since a chunk is data."""

    def __init__(self, kind: str | None, message: str) -> None:
        super().__init__(message)
        self.kind = kind or type(self).__name__


class LiveRun:
    """A run under way, with the chunks that it has said so far.

    `pause` says for how many seconds chunks are collected before they are saved.
    """

    def __init__(self, run: Run, user: str, pause: Callable[[], float]) -> None:
        self.user = user
        self.chunks: list[OracleStreamChunk] = []
        self.has_ended = False
        self.mind: LiveMind | None = None
        self.breaks: Breaks | None = None
        self._run = run
        self._pause = pause
        self._safe = 0
        self._saving: asyncio.Task[None] | None = None
        self._listeners: set[asyncio.Future[bool]] = set()
        self._begun = asyncio.Event()
        self.task = asyncio.create_task(self._listen())

    @property
    def id(self) -> str:
        """Empty until the run has begun, and for one that could not be begun."""
        return "" if self._run.tree is None else self._run.tree.id

    async def begun(self) -> str:
        """Wait for its first chunk. Returns the id of the run, or raises why it has none."""
        await self._begun.wait()
        if not self.id:
            done = await self.end()
            raise NotBegun(done["error_kind"], done["detail"])
        return self.id

    async def follow(
        self, after: int = -1, *, beat: float | None = None
    ) -> AsyncGenerator[Numbered]:
        """What it says after that chunk, with the numbers of the chunks. What has arrived together
        is handed over together; with a `beat`, `NOTHING_YET` after so many seconds of silence.
        """
        at = after + 1
        while True:
            while at < self._safe:
                some = self.chunks[at : min(self._safe, at + MOST_AT_ONCE)]
                yield [*enumerate(some, start=at)]
                at += len(some)
            if self.has_ended:
                if not self._is_whole:
                    yield []
                return
            if not await self._has_news(beat):
                yield NOTHING_YET

    async def _has_news(self, within: float | None) -> bool:
        """Wait for the next chunk, or so long. A future and a timer: `asyncio.wait_for` would make
        a task of each wait, and there is one for each chunk of each listener.
        """
        loop = asyncio.get_running_loop()
        news: asyncio.Future[bool] = loop.create_future()
        timer = None if within is None else loop.call_later(within, _resolve, news, False)
        self._listeners.add(news)
        self._save_soon()
        try:
            return await news
        finally:
            self._listeners.discard(news)
            if timer is not None:
                timer.cancel()

    async def end(self) -> OracleStreamChunk:
        """Wait for the last chunk, which has the answer."""
        await asyncio.shield(self.task)
        if not self._is_whole:
            raise RunHandedOver(
                f"the server stops; the next one goes on with run {self.id}, and "
                f"GET /api/runs/{self.id}/stream has its answer then"
            )
        return self.chunks[-1]

    @property
    def _is_whole(self) -> bool:
        return bool(self.chunks) and self.chunks[-1].type == ChunkType.DONE

    def cancel(self, reason: str) -> None:
        self._run.cancel(reason)

    def watched(self) -> LiveMind:
        """Watch its tree from now on, for all who ask. Until the first call nothing is spent on it.

        Only for a run that has begun.
        """
        if self.mind is None:
            assert self._run.tree is not None
            self.mind = mind = LiveMind(self._run.tree)
            mind.begin(self.chunks)
            self.task.add_done_callback(lambda _: mind.close())
        return self.mind

    def breakable(self) -> Breaks:
        """Its breaks. From the first call on it is watched, and can be held."""
        if self.breaks is None:
            assert self._run.tree is not None
            mind = self.watched()
            self.breaks = Breaks(
                self._run.tree, lambda type_, data: mind.watcher.put(type_, **data)
            )
        return self.breaks

    async def hand_over(self, *, parked_for: float | None = None) -> None:
        """Stop without an end, so that another process can resume it (`Run.hand_over`)."""
        self._run.hand_over(parked_for=parked_for)
        await asyncio.wait({self.task})

    async def _listen(self) -> None:
        try:
            self._run.said.hand_to(self._take)
            async for _ in self._run.chunks():
                pass
        finally:
            # Its end is on disk, and all before it.
            self._safe = len(self.chunks)
            self.has_ended = True
            self._begun.set()
            self._wake()

    def _take(self, chunk: OracleStreamChunk) -> None:
        self.chunks.append(chunk)
        if self.mind is not None:
            self.mind.watcher.hear(chunk)
        if len(self.chunks) == 1:
            self._begun.set()
        self._save_soon()

    def _save_soon(self) -> None:
        """Only while somebody listens. Otherwise the journal saves in its own time."""
        if self._saving is None and self._listeners and self._safe < len(self.chunks):
            self._saving = asyncio.create_task(self._save())

    async def _save(self) -> None:
        try:
            while self._safe < len(self.chunks) and self._listeners:
                said = len(self.chunks)
                # A journal that fails ends its run, or lets it go on in memory.
                with contextlib.suppress(OracleError):
                    if self._run.tree is not None:
                        await self._run.tree.journal.flush()
                self._safe = max(self._safe, said)
                self._wake()
                await asyncio.sleep(self._pause())
        finally:
            self._saving = None

    def _wake(self) -> None:
        for news in self._listeners:
            _resolve(news, True)


def _resolve(news: asyncio.Future[bool], value: bool) -> None:
    if not news.done():
        news.set_result(value)


class LiveRuns:
    """Begins runs, finds them again, and takes up those that another process has left behind.

    At most `most` run at once, and `most_of_user` of one user; one more is refused, and its caller
    may try again later. A view for a `user` finds only their runs.
    """

    def __init__(
        self,
        agent: OracleBTWrapper,
        store: RunStore,
        *,
        most: int,
        most_of_user: int,
        project: str | None,
        metrics: Metrics,
    ) -> None:
        self._agent = agent
        self._metrics = metrics
        self._store = store.seen_by(EVERYBODY)
        self._most = most
        self._most_of_user = most_of_user
        self._user: str | None = EVERYBODY
        self._project = project
        self._live: set[LiveRun] = set()
        self._watching: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """Those of all users."""
        return len(self._live)

    def seen_by(self, user: str | None) -> LiveRuns:
        view = copy.copy(self)
        view._user = user
        view._store = self._store.seen_by(user)
        return view

    def begin(self, question: str, context_id: str | None = None, **options: Any) -> LiveRun:
        """`options` are those of `OracleBTWrapper.new_run`."""
        user = self._new_owner()
        run = self._agent.new_run(question, context_id, user_id=user, **options)
        return self._started(run, user)

    def resume(self, run_id: str, **options: Any) -> LiveRun:
        """`options` are those of `OracleBTWrapper.resumed_run`."""
        user = self._new_owner()
        return self._started(self._agent.resumed_run(run_id, user_id=user, **options), user)

    def _new_owner(self) -> str:
        """The user of a run that begins here. Raises `TooManyRuns` if there is no room for it."""
        user = LOCAL if self._user is None else self._user
        own = sum(run.user == user for run in self._live)
        if len(self._live) >= self._most:
            raise TooManyRuns(
                "this server answers as many questions at once as it may "
                f"({self._most}); try again in a moment",
                retry_after=2,
            )
        if own >= self._most_of_user:
            raise TooManyRuns(
                "as many of your questions are being answered as one user may ask at once "
                f"({self._most_of_user}); try again in a moment",
                retry_after=2,
            )
        return user

    def all(self) -> list[LiveRun]:
        return [run for run in self._live if self._user in (EVERYBODY, run.user)]

    def live(self, run_id: str) -> LiveRun | None:
        return next((run for run in self.all() if run.id == run_id), None)

    async def follow(
        self, run_id: str, after: int = -1, *, beat: float | None = None
    ) -> AsyncGenerator[Numbered]:
        """What a run says after that chunk: from this process, or from its record."""
        live = self.live(run_id)
        if live is not None:
            async with contextlib.aclosing(live.follow(after, beat=beat)) as batches:
                async for batch in batches:
                    yield batch
            return
        run = await self._store.runs.get(run_id)
        chunks = await chunks_of(self._store, run.id, has_end=run.status == "done")
        if rest := [*enumerate(chunks)][after + 1 :]:
            yield rest
        if run.status != "done":
            yield []

    def under_way(self, run_id: str) -> LiveRun:
        """Raises `NotFound` for one that has ended, or that another process works on."""
        live = self.live(run_id)
        if live is None:
            raise NotFound(
                f"run {run_id} is not running here; GET /api/runs/{run_id} says how it ended"
            )
        return live

    def cancel(self, run_id: str, reason: str) -> None:
        self.under_way(run_id).cancel(reason)

    # -- runs that were left behind ----------------------------------------------------------------

    async def watch(self) -> None:
        """Resume runs whose process has died, now and from time to time."""
        await self._take_up()
        self._watching = asyncio.create_task(self._keep_watching())

    async def _keep_watching(self) -> None:
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            try:
                await self._take_up()
            except OracleError as problem:
                log.warning("runs that were interrupted could not be looked for: %s", problem)

    async def _take_up(self) -> None:
        known = {run.id for run in self._live}
        # A run of the terminal waits for its user: to go on with it would spend money unasked.
        for run in await self._store.runs.unfinished(project=self._project, door=DOOR):
            # A process that is gone may still hold the lease for a moment.
            is_free = (run.lease_until or 0) <= time.time()
            if run.id not in known and is_free and len(self._live) < self._most:
                again = self._agent.resumed_run(run.id, user_id=run.user_id)
                live = self._started(again, run.user_id)
                log.warning("run %s was interrupted and is resumed", run.id)
                with contextlib.suppress(OracleError):
                    await live.begun()

    async def close(self, seconds: float) -> None:
        """Let the runs end within that time. The others are handed over, to be resumed later."""
        if self._watching is not None:
            self._watching.cancel()
        if self._live:
            await asyncio.wait({run.task for run in self._live}, timeout=seconds)
        await asyncio.gather(*(run.hand_over() for run in self.all()))

    def _started(self, run: Run, user: str) -> LiveRun:
        live = LiveRun(run, user, self._pause)
        self._live.add(live)
        live.task.add_done_callback(lambda _: self._ended(live))
        return live

    def _pause(self) -> float:
        return min(MOST_SECONDS_BETWEEN_SAVES, SECONDS_BETWEEN_SAVES + 0.001 * len(self._live))

    def _ended(self, live: LiveRun) -> None:
        self._live.discard(live)
        if live.chunks and live.chunks[-1].type == ChunkType.DONE:
            done = live.chunks[-1]
            self._metrics.run_ended(done["stop_reason"], done["usage"])

"""The runs that this server works on now.

One that has ended is read from its record, which says the same chunks again.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import logging
import time
import uuid
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final

from oracle.api.line import Line, StoredPlace
from oracle.api.live_run import LiveRun, Numbered
from oracle.api.metrics import Metrics
from oracle.api.run_under_way import RunUnderWay
from oracle.api.saves import Saves
from oracle.api.starts import Starts
from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.queueing import options_of, store_in_line
from oracle.bt.wrappers.retelling import chunks_of
from oracle.bt.wrappers.run import Run
from oracle.bt.wrappers.run_store import RunStore
from oracle.errors import NotFound, OracleError, TooManyRuns
from oracle.models.session import LOCAL, StoredRun
from oracle.models.stream_chunk import ChunkType
from oracle.services.dispatch import control
from oracle.services.dispatch.queue import Queue
from oracle.services.storage.runs import SERVER
from oracle.services.storage.users import EVERYBODY

log = logging.getLogger(__name__)

SECONDS_BETWEEN_LOOKS: Final = 5.0
"""How often runs are looked for that another process has left behind."""


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
        self._may_write = True
        self._project = project
        self._live: set[LiveRun] = set()
        self._of_user: Counter[str] = Counter()
        self.starts = Starts()
        self._saves = Saves(lambda: store.writing().committed())
        self.line = Line(self._store)
        self._queue = Queue(store.database, project)
        self._watching: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """Those of all users."""
        return len(self._live)

    def seen_by(self, user: str | None, *, may_write: bool = True) -> LiveRuns:
        view = copy.copy(self)
        view._user = user
        view._may_write = may_write
        view._store = self._store.seen_by(user)
        return view

    def begin(self, question: str, context_id: str | None = None, **options: Any) -> LiveRun:
        """`options` are those of `OracleBTWrapper.new_run`."""
        user = self._new_owner()
        options["may_write"] = self._may_write
        run_id = options.pop("run_id", None) or uuid.uuid4().hex
        run = self._agent.new_run(question, context_id, user_id=user, run_id=run_id, **options)
        return self._started(run, user, run_id)

    def ask(
        self, question: str, context_id: str | None = None, *, priority: int = 0, **options: Any
    ) -> RunUnderWay:
        """The same, wherever the run is worked on. Here only those in the line wait. They are on
        disk meanwhile, unless the caller keeps the conversation: such a run ends with its client.
        """
        is_kept = options.get("history") is None and self._store.needs_records
        if self.starts.has_room or not is_kept:
            return self.begin(question, context_id, **options)
        user = self._new_owner()
        options |= {"run_id": uuid.uuid4().hex, "may_write": self._may_write}
        run = self._agent.new_run(
            question, context_id, user_id=user, store=self.line.store, **options
        )
        storing = store_in_line(
            self._store.seen_by(user),
            self._agent.setup,
            question,
            context_id,
            line=self.line.owner,
            **options,
        )
        run_id = options["run_id"]
        return self._started(run, user, run_id, self.line.stored(run_id, storing))

    def resume(self, run_id: str, **options: Any) -> LiveRun:
        """`options` are those of `OracleBTWrapper.resumed_run`."""
        user = self._new_owner()
        run = self._agent.resumed_run(run_id, user_id=user, **options)
        return self._started(run, user, run_id)

    def _new_owner(self) -> str:
        """The user of a run that begins here. Raises `TooManyRuns` if there is no room for it."""
        user = LOCAL if self._user is None else self._user
        own = self._of_user[user]
        why = ""
        if len(self._live) >= self._most:
            why = f"this server answers as many questions at once as it may ({self._most})"
        elif own >= self._most_of_user:
            most = f"({self._most_of_user})"
            why = f"as many of your questions are being answered as one user may ask at once {most}"
        if why:
            raise TooManyRuns(f"{why}; try again in a moment", retry_after=2)
        return user

    def all(self) -> list[LiveRun]:
        return [run for run in self._live if self._user in (EVERYBODY, run.user)]

    def live(self, run_id: str) -> LiveRun | None:
        return next((run for run in self.all() if run.id == run_id), None)

    def asked(self, run_id: str) -> LiveRun | None:
        """Also one that waits for its turn to begin."""
        return next((run for run in self.all() if run.run_id == run_id), None)

    async def follow(
        self, run_id: str, after: int = -1, *, beat: float | None = None
    ) -> AsyncGenerator[Numbered]:
        """What a run says after that chunk: from this process, or from its record."""
        live = self.asked(run_id)
        if live is not None:
            async with contextlib.aclosing(live.follow(after, beat=beat)) as batches:
                async for batch in batches:
                    yield batch
            return
        run = await self._store.runs.get(run_id)
        if run.status != "done" and await self._queue.request_of(run.id) is not None:
            # It is on disk and not begun: a server will begin it in a moment.
            yield []
            return
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

    async def cancel(self, run_id: str, reason: str) -> None:
        (self.asked(run_id) or self.under_way(run_id)).cancel(reason)

    async def raise_limits(self, run_id: str, wanted: Mapping[str, float]) -> None:
        """Let a run spend more. What it may cost is held for it first."""
        live = self.asked(run_id) or self.under_way(run_id)
        run = await self._store.runs.get(await live.begun())
        budgets = self._agent.setup.budgets
        # The command stays with the run, for a process that takes it over.
        await control.raise_limits(self._store.database, run, wanted, budgets)
        live.raise_limits(wanted)

    def is_under_way(self, run: StoredRun) -> bool:
        return self.live(run.id) is not None

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
        known = {run.run_id for run in self._live}
        # A run of the terminal waits for its user: to go on with it would spend money unasked.
        for run in await self._store.runs.unfinished(project=self._project, door=SERVER):
            # A process that is gone may still hold the lease for a moment.
            is_free = (run.lease_until or 0) <= time.time()
            if run.id not in known and is_free and len(self._live) < self._most:
                live = await self._again(run)
                with contextlib.suppress(OracleError):
                    await live.begun()

    async def _again(self, run: StoredRun) -> LiveRun:
        request = await self._queue.request_of(run.id)
        if request is None:
            log.warning("run %s was interrupted and is resumed", run.id)
            again = self._agent.resumed_run(run.id, user_id=run.user_id)
            return self._started(again, run.user_id, run.id)
        log.warning("run %s had not begun when its server ended, and begins now", run.id)
        new = self._agent.new_run(
            request["question"],
            user_id=run.user_id,
            run_id=run.id,
            may_write=request["may_write"],
            store=self.line.store,
            **options_of(request),
        )
        return self._started(new, run.user_id, run.id, self.line.found(run.id))

    async def close(self, seconds: float) -> None:
        """Let the runs end within that time. The others are handed over, to be resumed later."""
        if self._watching is not None:
            self._watching.cancel()
        if self._live:
            await asyncio.wait({run.task for run in self._live}, timeout=seconds)
        await asyncio.gather(*(run.hand_over() for run in self.all()))
        await self.line.close()

    def _started(
        self, run: Run, user: str, run_id: str, kept: StoredPlace | None = None
    ) -> LiveRun:
        place = self.starts.place()
        live = LiveRun(run, user, self._saves, place=place, kept=kept, run_id=run_id)
        self._live.add(live)
        self._of_user[user] += 1
        live.task.add_done_callback(lambda _: self._ended(live))
        return live

    def _ended(self, live: LiveRun) -> None:
        self._live.discard(live)
        # Users that have gone leave nothing behind.
        self._of_user -= Counter([live.user])
        if live.chunks and live.chunks[-1].type == ChunkType.DONE:
            done = live.chunks[-1]
            self._metrics.run_ended(done["stop_reason"], done["usage"])

"""The runs that this server works on now.

One that has ended is read from its record, which says the same chunks again.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import time
import uuid
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final

from oracle.api.live_run import LiveRun, Numbered
from oracle.api.metrics import Metrics
from oracle.api.run_under_way import RunUnderWay
from oracle.api.saves import Saves
from oracle.api.starts import Starts
from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.retelling import chunks_of
from oracle.bt.wrappers.run import Run
from oracle.bt.wrappers.run_store import RunStore
from oracle.errors import NotFound, OracleError, TooManyRuns
from oracle.logs import logger_of
from oracle.models.session import LOCAL, StoredRun
from oracle.models.stream_chunk import ChunkType
from oracle.services.dispatch import control
from oracle.services.storage.runs import SERVER
from oracle.services.storage.users import EVERYBODY

log = logger_of(__name__)

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
        self.starts = Starts()
        self._saves = Saves(lambda: store.writing().committed())
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
        """The same, wherever the run is worked on. Here it begins at once: nothing waits."""
        return self.begin(question, context_id, **options)

    def resume(self, run_id: str, **options: Any) -> LiveRun:
        """`options` are those of `OracleBTWrapper.resumed_run`."""
        user = self._new_owner()
        run = self._agent.resumed_run(run_id, user_id=user, **options)
        return self._started(run, user, run_id)

    def _new_owner(self) -> str:
        """The user of a run that begins here. Raises `TooManyRuns` if there is no room for it."""
        user = LOCAL if self._user is None else self._user
        own = sum(run.user == user for run in self._live)
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
        known = {run.id for run in self._live}
        # A run of the terminal waits for its user: to go on with it would spend money unasked.
        for run in await self._store.runs.unfinished(project=self._project, door=SERVER):
            # A process that is gone may still hold the lease for a moment.
            is_free = (run.lease_until or 0) <= time.time()
            if run.id not in known and is_free and len(self._live) < self._most:
                again = self._agent.resumed_run(run.id, user_id=run.user_id)
                live = self._started(again, run.user_id, run.id)
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

    def _started(self, run: Run, user: str, run_id: str) -> LiveRun:
        live = LiveRun(run, user, self._saves, place=self.starts.place(), run_id=run_id)
        self._live.add(live)
        live.task.add_done_callback(lambda _: self._ended(live))
        return live

    def _ended(self, live: LiveRun) -> None:
        self._live.discard(live)
        if live.chunks and live.chunks[-1].type == ChunkType.DONE:
            done = live.chunks[-1]
            self._metrics.run_ended(done["stop_reason"], done["usage"])

"""One question under way: what it says, how it is cancelled, and how it ends.

run = Run.start(AgentSetup(live=AgentServices(model=model, tools=tools)), "How does …?")
async for chunk in run.chunks():
    …

`done` is always the last chunk, whatever happens.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

from oracle.bt.core.runtime import Outcome
from oracle.bt.state.base import RunStatus
from oracle.bt.wrappers.chunks import Chunks
from oracle.bt.wrappers.looked_up import LookedUp, gathered, looked_up
from oracle.bt.wrappers.recipe import AgentSetup, check_roots, services_from
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.bt.wrappers.run_end import RunEnd
from oracle.bt.wrappers.run_store import RunStore
from oracle.bt.wrappers.spending import refuse_budgets
from oracle.errors import InputError, OracleError, TimedOut
from oracle.models.session import Exchange
from oracle.models.source import NOTHING_GIVEN, Given
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.background import in_thread, running_loop, within
from oracle.services.project.redaction import redact, redacted_traceback
from oracle.services.prompting.project_facts import MISSING_ROOTS, WARNINGS
from oracle.services.signals.said import is_visible
from oracle.services.telemetry.live import follow_runs, note_answer

log = logging.getLogger(__name__)

Result = TypeVar("Result")

SHARE_FOR_SOURCES: Final = 0.5
"""Of the time limit. The other half is for the tree, which can also read files without an index."""
SECONDS_TO_BEGIN: Final = 4.0
"""How long a run may take beyond its time limit until it is begun."""
SECONDS_BEYOND: Final = 6.0
"""How long a run may take beyond its time limit to close what hangs, and to store its answer."""

OpenStore: TypeAlias = Callable[[], AbstractAsyncContextManager[RunStore]]
Begin: TypeAlias = Callable[["Run", AsyncExitStack], Coroutine[Any, Any, RecordedTree]]
"""Makes the tree of a run. What it opens is closed when the run has ended."""


class Run:
    """Begun by `start`, `resume` or `replay`. Nothing happens before its chunks are asked for.

    A `store` that is given as a function is opened for this run alone; without one the run leaves
    nothing behind. With `nodes` each change of a status in the tree is a chunk.
    """

    def __init__(
        self,
        agent: AgentSetup,
        begin: Begin,
        *,
        store: RunStore | OpenStore | None = None,
        nodes: bool = False,
    ) -> None:
        self.tree: RecordedTree | None = None
        self._agent = agent
        self._begin = begin
        self._store = store
        self._nodes = nodes
        self.said = Chunks()
        self.problem: Exception | None = None
        """The error that has ended it, if one has: what it says then is not on record."""
        live = replace(agent.live, say=self.said.hear)
        self._services = partial(services_from, live=live)
        self._cancelled: str | None = None
        self._raised: list[Mapping[str, float]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._preparing: asyncio.Task[LookedUp] | None = None
        self._context_id: str | None = None
        self._started_at = 0.0
        # Known before there is a tree, for a run that is resumed.
        self._run_id = ""
        self._end = RunEnd()

    @classmethod
    def start(
        cls,
        agent: AgentSetup,
        query: str,
        *,
        context_id: str | None = None,
        session_id: str | None = None,
        given: Given = NOTHING_GIVEN,
        history: Sequence[Exchange] | None = None,
        run_id: str | None = None,
        store: RunStore | OpenStore | None = None,
        nodes: bool = False,
    ) -> Run:
        """Answer a query: after the exchange `context_id`, else at the end of the session.

        A `history`, even an empty one, is a conversation that the caller keeps: the run continues
        from it, and makes no exchange. The `run_id`, a new one, is for a caller that has to know it
        before the run begins.
        """
        begin = partial(
            Run._begin_new,
            query=query,
            context_id=context_id,
            session_id=session_id,
            given=given,
            history=history,
            run_id=run_id,
        )
        return cls(agent, begin, store=store, nodes=nodes)

    @classmethod
    def resume(
        cls,
        agent: AgentSetup,
        run_id: str,
        *,
        store: RunStore | OpenStore | None,
        nodes: bool = False,
    ) -> Run:
        """Go on with a run whose process died; its chunks come again from the first one."""
        run = cls(agent, partial(Run._begin_again, run_id=run_id), store=store, nodes=nodes)
        run._run_id = run_id
        return run

    @classmethod
    def replay(cls, run_id: str, *, store: RunStore | OpenStore, nodes: bool = False) -> Run:
        """Say again what a recorded run said. Nothing is asked, done or written."""
        begin = partial(Run._begin_replay, run_id=run_id)
        return cls(AgentSetup(), begin, store=store, nodes=nodes)

    async def chunks(self) -> AsyncGenerator[OracleStreamChunk]:
        """What the run says, to `done`. A listener who stops listening cancels the run."""
        self._loop = asyncio.get_running_loop()
        work = self._task = asyncio.create_task(self._work())
        work.add_done_callback(lambda _: self.said.put(None))
        try:
            while (chunk := await self.said.get()) is not None:
                yield chunk
        finally:
            if self._cancelled is None and not self.said.is_cut and not work.done():
                self.cancel("nobody listens any more")
            await asyncio.wait({work})

    def ended(self) -> Future[None]:
        """Resolved when nothing more of the run happens; for callers of any event loop."""
        ended: Future[None] = Future()
        try:
            if self._loop is None or self._task is None:
                raise RuntimeError("not begun")
            when_done = partial(self._task.add_done_callback, lambda _: ended.set_result(None))
            self._loop.call_soon_threadsafe(when_done)
        except RuntimeError:  # nothing of it was begun, or its event loop is closed
            ended.set_result(None)
        return ended

    def cancel(self, reason: str = "cancelled") -> None:
        """End the run, at any moment and from any thread: it still ends with what it has."""
        if self._loop is None or self._loop is running_loop():
            self._cancel(reason)
        else:
            with contextlib.suppress(RuntimeError):  # its event loop is closed, and it has ended
                self._loop.call_soon_threadsafe(self._cancel, reason)

    def raise_limits(self, wanted: Mapping[str, float]) -> None:
        """Let it spend more, in the event loop of the run. No limit is made smaller."""
        if self.tree is None:
            self._raised.append(wanted)
        else:
            self.tree.raise_limits(wanted)

    def hand_over(self, *, parked_for: float | None = None) -> None:
        """Stop without an end, in the event loop of the run: another process can resume it. If it
        is `parked_for` some seconds, until then only one that has the answer of a person.
        """
        self.said.cut()
        if parked_for is not None and self.tree is not None and self.tree.lease is not None:
            self.tree.lease.park_for(parked_for)
        if self._task is not None:
            self._task.cancel()

    def _cancel(self, reason: str) -> None:
        self._cancelled = self._cancelled or reason
        if self._preparing is not None:
            self._preparing.cancel()
        if self.tree is not None:
            self.tree.cancel(reason)

    # -- from the beginning to the end -------------------------------------------------------------

    async def _work(self) -> None:
        self._started_at = time.monotonic()
        follow_runs()
        try:
            # What was opened is closed before `done`: by then all is on disk.
            async with AsyncExitStack() as leaving:
                self.tree = await self._in_time(
                    self._begin(self, leaving), "begun", SECONDS_TO_BEGIN
                )
                self._end.of(self.tree)
                if self.tree.lease is not None:
                    self.tree.lease.when_lost = self.said.cut
                for warning in self._end.warnings():
                    self.said.put(warning)
                if self._nodes:
                    self.tree.tree_run.subscribe(self._say_node)
                for wanted in self._raised:
                    self.tree.raise_limits(wanted)
                # It was cancelled while it was prepared.
                if self._cancelled is not None:
                    self.tree.cancel(self._cancelled)
                await self._in_time(self.tree.settle(self._keep), "ended", SECONDS_BEYOND)
        except Exception as problem:
            self._say_broken(problem)
        else:
            self._say(ChunkType.DONE, **self._end.done(), context_id=self._context_id)
        if self.tree is not None:
            note_answer(self.tree.id, self._end.answer)

    async def _in_time(self, work: Coroutine[Any, Any, Result], done: str, beyond: float) -> Result:
        """The tree keeps the time limit by itself. This binds all that is done around it."""
        spent = self._seconds_spent()
        try:
            # Asked again when the time is over: the limit may have been raised meanwhile.
            return await within(
                lambda: max(self._time_limit, spent) - self._seconds_spent() + beyond, work
            )
        except TimeoutError:
            self.said.cut()
            raise TimedOut(
                f"the run was not {done} within its time limit of {self._time_limit:g} s: "
                "something that it waits for does not respond, such as a database that another "
                "process has locked; try again, or give it more time (--timeout)"
            ) from None

    def _seconds_spent(self) -> float:
        return round(time.monotonic() - self._started_at, 3)

    def _seconds_left(self) -> float:
        return max(0.0, self._time_limit - self._seconds_spent())

    @property
    def _time_limit(self) -> float:
        limits = None if self.tree is None else self.tree.read("limits")
        return max(self._agent.limits.seconds, limits["seconds"] if limits else 0.0)

    async def _begin_new(
        self,
        leaving: AsyncExitStack,
        *,
        query: str,
        context_id: str | None,
        session_id: str | None,
        given: Given,
        history: Sequence[Exchange] | None,
        run_id: str | None,
    ) -> RecordedTree:
        if not is_visible(query):
            raise InputError("the question is empty; ask something")
        if self._store is None:
            refuse_budgets(self._agent.budgets)
        if self._store is None and context_id is not None:
            raise InputError(f"there is no store to look for exchange {context_id!r} in")
        store = await self._open_store(leaving)
        is_kept = history is None
        if history is None:
            history = () if store is None else await store.history(context_id, session_id)
        looked = await self._prepare_sources(leaving, query, history)
        await self._agent.prepare_tools(query, history, looked.known_terms)
        warnings = await self._refreshed_definitions()
        may_gather = self._agent.facts if self._cancelled is None else None
        facts = await gathered(may_gather, self._seconds_left())
        if warnings := [*warnings, *facts.get(MISSING_ROOTS, ())]:
            facts = {**facts, WARNINGS: warnings}
        recipe = self._agent.recipe(
            query,
            given=given,
            history=history,
            **looked._asdict(),
            seconds_before=0.0 if self._agent.sources is None else self._seconds_spent(),
            facts=facts,
            run_id=run_id,
        )
        if store is None:
            return RecordedTree(recipe, services=self._services)
        return await store.begin(
            recipe,
            services=self._services,
            parent=history[-1] if history and is_kept else None,
            session_id=session_id,
            opens_session=is_kept and not history and session_id is None,
            project=self._agent.project,
            budgets=self._agent.budgets,
        )

    async def _refreshed_definitions(self) -> list[str]:
        """Returns what is wrong with them."""
        definitions = self._agent.definitions
        problem = definitions and await in_thread(definitions.refresh)
        return [f"the last good trees and prompts are used: {problem}"] if problem else []

    async def _begin_again(self, leaving: AsyncExitStack, *, run_id: str) -> RecordedTree:
        store = await self._open_store(leaving)
        if store is None:
            raise InputError(f"run {run_id} cannot be resumed without a store")
        # Another folder has other files, and the question was about those of its own.
        run = await store.runs.get(run_id)
        folder = await store.folder_of(run_id)
        if folder and folder != self._agent.folder:
            raise InputError(f"run {run_id} was asked in {folder}; go there to resume it")
        if None not in (run.project, self._agent.project) and run.project != self._agent.project:
            raise InputError(f"run {run_id} belongs to the project {run.project!r}; go there")
        check_roots(run_id, (await store.start_of(run_id)).get("board"), self._agent.roots)
        await self._prepare_sources(leaving)
        return await store.resume(run_id, services=self._services, budgets=self._agent.budgets)

    async def _begin_replay(self, leaving: AsyncExitStack, *, run_id: str) -> RecordedTree:
        store = await self._open_store(leaving)
        assert store is not None
        return await store.replay(run_id, services=self._services)

    async def _open_store(self, leaving: AsyncExitStack) -> RunStore | None:
        if self._store is not None and not isinstance(self._store, RunStore):
            self._store = await leaving.enter_async_context(self._store())
        if self._store is not None:
            self._store = self._store.seen_by(self._agent.user)
        return self._store

    async def _prepare_sources(
        self, leaving: AsyncExitStack, query: str = "", history: Sequence[Exchange] = ()
    ) -> LookedUp:
        """Bring the sources up to date, and return what they have of the query.

        It takes a share of the time at most, because files can be read without it: then, and when
        the run is cancelled meanwhile, nothing is known.
        """
        sources = self._agent.sources
        if sources is None or self._cancelled is not None:
            return LookedUp()

        async def prepare() -> LookedUp:
            await leaving.enter_async_context(sources.at_hand())
            return await looked_up(sources, query, history) if query else LookedUp()

        preparing = self._preparing = asyncio.create_task(prepare())
        try:
            seconds = SHARE_FOR_SOURCES * self._seconds_left()
            await asyncio.wait({preparing}, timeout=seconds)
        finally:
            preparing.cancel()
        return preparing.result() if preparing.done() and not preparing.cancelled() else LookedUp()

    async def _keep(self, outcome: Outcome) -> None:
        """What the user is shown is on disk before `done`, and before the run counts as done."""
        assert self.tree is not None
        for chunk in self._end.words_for_the_tree(outcome):
            self.said.put(chunk)
        if self.tree.lease is not None:
            assert isinstance(self._store, RunStore)
            self._context_id = await self._store.keep_exchange(
                self.tree.id, self._end.answer, self._end.metadata()
            )

    def _say_broken(self, problem: Exception) -> None:
        """There is an answer even now: what the run has, or at least why it has nothing."""
        is_ours = isinstance(problem, OracleError)
        if not is_ours:
            log.error("run %s broke:\n%s", self._end.done()["run_id"], redacted_traceback(problem))
        self.problem = problem
        told = redact(str(problem) if is_ours else f"{type(problem).__name__}: {problem}")
        self._say(ChunkType.ERROR, content=told)
        done = self._end.broken(problem, told)
        done["run_id"] = done["run_id"] or self._run_id
        self._say(ChunkType.DONE, **done, context_id=None)

    def _say(self, type_: ChunkType, **data: Any) -> None:
        turn = 0 if self.tree is None else self.tree.tree_run.context.turn
        self.said.put(OracleStreamChunk(type=type_, turn=turn, data=data))

    def _say_node(
        self, time: float, path: str, old: RunStatus | None, new: RunStatus | None
    ) -> None:
        assert self.tree is not None
        status = "halted" if new is None else new.value
        tick = self.tree.tree_run.context.ticks
        self._say(ChunkType.NODE, path=path, status=status, tick=tick)

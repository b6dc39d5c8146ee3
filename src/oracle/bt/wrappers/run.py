"""One question under way: what it says, how it is cancelled, and how it ends.

run = Run.start(AgentSetup(live=AgentServices(model=model, tools=tools)), "How does …?")
async for chunk in run.chunks():
    …

`done` is always the last chunk, whatever happens.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias

from oracle.bt.core.runtime import Outcome
from oracle.bt.state.base import RunStatus
from oracle.bt.wrappers.recipe import AgentSetup, services_from, terms_of
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.bt.wrappers.run_store import RunStore
from oracle.errors import InputError, JournalError, LeaseHeld, OracleError, StoreError
from oracle.models.session import Exchange
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.ans.event import Event
from oracle.services.citations import places_to_remember
from oracle.services.control.unfinished_answer import UnfinishedRun, unfinished_answer
from oracle.services.signals.said import place_in_answer

log = logging.getLogger(__name__)

STOPS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (InputError, "invalid_input"),
    (LeaseHeld, "held_elsewhere"),
    (StoreError, "store_failed"),
    (JournalError, "store_failed"),
)
"""The stop reasons of exceptions that break a run. Any other is an `internal_error`."""

SIGNALS_KEPT: Final = ("signal.received", "signal.ignored", "signal.malformed")
MOST_SIGNALS: Final = 200
"""The newest signals of a run are kept with its exchange. The events have all of them."""

FACTS_SECONDS: Final = 1.0

OpenStore: TypeAlias = Callable[[], AbstractAsyncContextManager[RunStore]]
Begin: TypeAlias = Callable[["Run", AsyncExitStack], Awaitable[RecordedTree]]
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
        self._said = Chunks()
        live = replace(agent.live, say=self._said.put)
        self._services = partial(services_from, live=live)
        self._cancelled: str | None = None
        self._preparing: asyncio.Task[Sequence[str] | None] | None = None
        self._context_id: str | None = None
        self._last_words = ""
        # Also those of a recorded past, so that a resumed run keeps all of them.
        self._signals: deque[Event] = deque(maxlen=MOST_SIGNALS)

    @classmethod
    def start(
        cls,
        agent: AgentSetup,
        query: str,
        *,
        context_id: str | None = None,
        session_id: str | None = None,
        attachment: str = "",
        store: RunStore | OpenStore | None = None,
        nodes: bool = False,
    ) -> Run:
        """Answer a query: after the exchange `context_id`, else at the end of the session."""
        begin = partial(
            Run._begin_new,
            query=query,
            context_id=context_id,
            session_id=session_id,
            attachment=attachment,
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
        return cls(agent, partial(Run._begin_again, run_id=run_id), store=store, nodes=nodes)

    @classmethod
    def replay(cls, run_id: str, *, store: RunStore | OpenStore, nodes: bool = False) -> Run:
        """Say again what a recorded run said. Nothing is asked, done or written."""
        begin = partial(Run._begin_replay, run_id=run_id)
        return cls(AgentSetup(), begin, store=store, nodes=nodes)

    async def chunks(self) -> AsyncGenerator[OracleStreamChunk]:
        """What the run says, to `done`. A listener who stops listening cancels the run."""
        work = asyncio.create_task(self._work())
        work.add_done_callback(lambda _: self._said.put(None))
        try:
            while (chunk := await self._said.get()) is not None:
                yield chunk
        finally:
            if self._cancelled is None and not work.done():
                self.cancel("nobody listens any more")
            await work

    def cancel(self, reason: str = "cancelled") -> None:
        """End the run, at any moment: it still ends with what it has."""
        self._cancelled = self._cancelled or reason
        if self._preparing is not None:
            self._preparing.cancel()
        if self.tree is not None:
            self.tree.cancel(reason)

    # -- from the beginning to the end -------------------------------------------------------------

    async def _work(self) -> None:
        try:
            # What was opened is closed before `done`: by then all is on disk.
            async with AsyncExitStack() as leaving:
                self.tree = await self._begin(self, leaving)
                self.tree.bus.subscribe(self._signals.append, SIGNALS_KEPT)
                if self._nodes:
                    self.tree.tree_run.subscribe(self._say_node)
                # It was cancelled while it was prepared.
                if self._cancelled is not None:
                    self.tree.cancel(self._cancelled)
                await self.tree.settle(self._keep)
        except Exception as problem:
            self._say_broken(problem)
        else:
            self._say(ChunkType.DONE, **self._done(), context_id=self._context_id)

    async def _begin_new(
        self,
        leaving: AsyncExitStack,
        *,
        query: str,
        context_id: str | None,
        session_id: str | None,
        attachment: str,
    ) -> RecordedTree:
        if not query.strip():
            raise InputError("the question is empty; ask something")
        if self._store is None and context_id is not None:
            raise InputError(f"there is no store to look for exchange {context_id!r} in")
        store = await self._open_store(leaving)
        history = [] if store is None else await store.history(context_id, session_id)
        known = await self._prepare_sources(leaving, query, history)
        recipe = self._agent.recipe(
            query,
            attachment=attachment,
            history=history,
            known_terms=known,
            facts=await self._facts(),
        )
        if store is None:
            return RecordedTree(recipe, services=self._services)
        return await store.begin(
            recipe,
            services=self._services,
            parent=history[-1] if history else None,
            session_id=session_id,
            opens_session=not history and session_id is None,
        )

    async def _begin_again(self, leaving: AsyncExitStack, *, run_id: str) -> RecordedTree:
        store = await self._open_store(leaving)
        if store is None:
            raise InputError(f"run {run_id} cannot be resumed without a store")
        # Another folder has other files, and the question was about those of its own.
        folder = await store.folder_of(run_id)
        if folder and folder != self._agent.folder:
            raise InputError(f"run {run_id} was asked in {folder}; go there to resume it")
        await self._prepare_sources(leaving)
        return await store.resume(run_id, services=self._services)

    async def _begin_replay(self, leaving: AsyncExitStack, *, run_id: str) -> RecordedTree:
        store = await self._open_store(leaving)
        assert store is not None
        return await store.replay(run_id, services=self._services)

    async def _open_store(self, leaving: AsyncExitStack) -> RunStore | None:
        if self._store is not None and not isinstance(self._store, RunStore):
            self._store = await leaving.enter_async_context(self._store())
        return self._store

    async def _prepare_sources(
        self, leaving: AsyncExitStack, query: str = "", history: Sequence[Exchange] = ()
    ) -> Sequence[str] | None:
        """Bring the sources up to date, and return which terms of the query they know.

        It takes no longer than the question may take, because files can be read without it: then,
        and when the run is cancelled meanwhile, nothing is known.
        """
        sources = self._agent.sources
        if sources is None or self._cancelled is not None:
            return None

        async def prepare() -> Sequence[str] | None:
            await leaving.enter_async_context(sources.at_hand())
            return await sources.known(terms_of(query, history)) if query else None

        preparing = self._preparing = asyncio.create_task(prepare())
        try:
            await asyncio.wait({preparing}, timeout=self._agent.limits.seconds)
        finally:
            preparing.cancel()
        return preparing.result() if preparing.done() and not preparing.cancelled() else None

    async def _facts(self) -> Mapping[str, Any]:
        """Facts about the project. They help, but no question waits long for them."""
        if self._agent.facts is None or self._cancelled is not None:
            return {}
        with suppress(TimeoutError):
            return await asyncio.wait_for(self._agent.facts(), FACTS_SECONDS)
        return {}

    async def _keep(self, outcome: Outcome) -> None:
        """What the user is shown is on disk before `done`, and before the run counts as done."""
        assert self.tree is not None
        if not self._answer:
            self._answer_for_the_tree(outcome)
        if self.tree.lease is not None:
            assert isinstance(self._store, RunStore)
            self._context_id = await self._store.keep_exchange(
                self.tree.id, self._answer, self._metadata()
            )

    # -- what is said and kept of the end ----------------------------------------------------------

    def _done(self) -> dict[str, Any]:
        """The data of `done` but for the exchange."""
        return {
            "answer": self._answer,
            "stop_reason": self._stop_reason,
            "error_kind": self._error_kind,
            "detail": self._read("stop_detail", ""),
            "caveat": self._read("caveat", None),
            "tried": self._read("tried", []),
            "missing": self._read("missing", []),
            "usage": self._read("usage", {}),
            "run_id": "" if self.tree is None else self.tree.id,
        }

    def _metadata(self) -> dict[str, Any]:
        """What later exchanges should know of this one."""
        classification: dict[str, Any] = self._read("classification", None) or {}
        return {
            "stop_reason": self._stop_reason,
            "usage": self._read("usage", {}),
            "failed": self._read("failed", False),
            "places_found": len(self._read("evidence", [])),
            "places": places_to_remember(self._read("evidence", [])),
            "sources_tried": self._read("sources_tried", []),
            "query_type": classification.get("query_type"),
            "signals": [self._signal_data(event) for event in self._signals],
        }

    def _signal_data(self, event: Event) -> dict[str, Any]:
        """A signal of the run, and its place in the answer if it was there."""
        assert self.tree is not None
        place: int | None = None
        at = event.payload["at"]
        if event.turn == self.tree.tree_run.context.turn and at is not None:
            response: dict[str, Any] = self._read("response", None) or {}
            place = place_in_answer(at, response.get("text", ""), self._answer)
        data = {"event": event.type, "turn": event.turn, **event.payload}
        return {**data, "in_answer": place}

    def _say_broken(self, problem: Exception) -> None:
        """There is an answer even now: what the run has, or at least why it has nothing."""
        is_ours = isinstance(problem, OracleError)
        if not is_ours:
            log.error("run %s broke", self._done()["run_id"], exc_info=problem)
        told = str(problem) if is_ours else f"{type(problem).__name__}: {problem}"
        self._say(ChunkType.ERROR, content=told)
        stop = next((stop for kind, stop in STOPS if isinstance(problem, kind)), "internal_error")
        kind = type(problem).__name__
        done = self._done() | {"stop_reason": stop, "error_kind": kind, "detail": told}
        done["answer"] = done["answer"] or self._what_there_is(stop, told)
        self._say(ChunkType.DONE, **done, context_id=None)

    def _answer_for_the_tree(self, outcome: Outcome) -> None:
        """For a tree whose finish branch is missing or broken: it has given no answer."""
        self._last_words = self._what_there_is(self._stop_reason, outcome.detail)
        self._say(ChunkType.CONTENT, content=self._last_words)
        self._say(ChunkType.TURN_END, outcome="answer", usage=self._read("usage", {}))

    def _what_there_is(self, stop: str, detail: str) -> str:
        response: dict[str, Any] = self._read("response", None) or {}
        return unfinished_answer(
            UnfinishedRun(
                stop_reason=stop,
                detail=detail,
                text=self._read("answer_so_far", "") or response.get("text", ""),
                is_cut=False,
                places=self._read("evidence", []),
                tried=self._read("tried", []),
                missing=self._read("missing", []),
            )
        )

    @property
    def _answer(self) -> str:
        return self._read("answer", "") or self._last_words

    @property
    def _stop_reason(self) -> str:
        if self.tree is None or self.tree.outcome is None:
            return "internal_error"
        return self.tree.ending(self.tree.outcome)[0]

    @property
    def _error_kind(self) -> str | None:
        """The class of the error that ended the tree, if an error did."""
        if self.tree is None or self.tree.outcome is None:
            return None
        error: Exception | None = self.tree.outcome.error
        if error is None and self._stop_reason == "model_unavailable":
            error = self.tree.tree_run.context.failure
        return None if error is None else type(error).__name__

    def _read(self, key: str, default: Any) -> Any:
        return default if self.tree is None else self.tree.read(key, default)

    def _say(self, type_: ChunkType, **data: Any) -> None:
        turn = 0 if self.tree is None else self.tree.tree_run.context.turn
        self._said.put(OracleStreamChunk(type=type_, turn=turn, data=data))

    def _say_node(
        self, time: float, path: str, old: RunStatus | None, new: RunStatus | None
    ) -> None:
        assert self.tree is not None
        status = "halted" if new is None else new.value
        tick = self.tree.tree_run.context.ticks
        self._say(ChunkType.NODE, path=path, status=status, tick=tick)


class Chunks:
    """From the run to its listener, without a limit: a slow listener must not stop the tree.

    `asyncio.Queue` does the same for ten times the calls, and a run says a dozen chunks a turn.
    """

    __slots__ = ("_arrival", "_waiting")

    def __init__(self) -> None:
        self._waiting: deque[OracleStreamChunk | None] = deque()
        self._arrival: asyncio.Future[None] | None = None

    def put(self, chunk: OracleStreamChunk | None) -> None:
        """None means that no chunk follows."""
        self._waiting.append(chunk)
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)

    async def get(self) -> OracleStreamChunk | None:
        while not self._waiting:
            self._arrival = asyncio.get_running_loop().create_future()
            await self._arrival
        return self._waiting.popleft()

"""Ask the agent, and hear it work: the way in for every door.

    async for chunk in OracleBTWrapper(model=model, tools=tools).process_query("How does …?"):
        …

`done` is always the last chunk, whatever happens.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from oracle.bt.wrappers.agent_recipe import AgentSetup, Question, services_from
from oracle.bt.wrappers.conversation_store import ConversationStore, Place
from oracle.bt.wrappers.recorded_run import RecordedRun
from oracle.errors import InputError, OracleError
from oracle.models.prompt_segment import PromptSegment
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.agent_services import AgentServices, Approve
from oracle.services.fallback_classifier import FallbackClassifier, heuristic_classify
from oracle.services.ledger import Limits
from oracle.services.llm.protocol import Model
from oracle.services.sufficiency import Sufficiency, heuristic_sufficiency
from oracle.services.tools.protocol import Tools

__all__ = ["OracleBTWrapper", "OracleStreamChunk"]

log = logging.getLogger(__name__)

Watcher: TypeAlias = Callable[[RecordedRun], object]


class OracleBTWrapper:
    """Answers the questions of one user about one project; several at a time if need be.

    With a `store` runs and exchanges are kept, and `context_id` names the exchange to go on from;
    without one, a run leaves nothing behind. `approve` asks a person. `watch` is shown each run
    before its first tick, to look at its board or to subscribe to its statuses.
    """

    def __init__(
        self,
        *,
        user_id: str = "local",
        project_id: str = "",
        model: Model | None = None,
        tools: Tools | None = None,
        limits: Limits | None = None,
        trees: Mapping[str, str] | None = None,
        segments: tuple[PromptSegment, ...] | None = None,
        store: ConversationStore | None = None,
        session_id: str | None = None,
        approve: Approve | None = None,
        watch: Watcher | None = None,
        known_terms: Callable[[str], bool] | None = None,
        classify_fallback: FallbackClassifier = heuristic_classify,
        is_sufficient: Sufficiency = heuristic_sufficiency,
    ) -> None:
        self.user_id = user_id
        self.project_id = project_id
        self._setup = AgentSetup(
            model=model, tools=tools, limits=limits or Limits(), trees=trees, segments=segments
        )
        self._services = AgentServices(
            model=model,
            tools=tools,
            approve=approve,
            classify_fallback=classify_fallback,
            is_sufficient=is_sufficient,
        )
        self._store = store
        self._session_id = session_id
        self._known_terms = known_terms
        self._watch = watch
        self._at_work: set[_Asking] = set()

    def process_query(
        self, query: str, context_id: str | None = None, *, attachment: str = ""
    ) -> AsyncGenerator[OracleStreamChunk]:
        """Answer in chunks. Who stops listening cancels the run."""
        return self._chunks(lambda asking: self._answer(asking, query, context_id, attachment))

    def resume(self, run_id: str) -> AsyncGenerator[OracleStreamChunk]:
        """Go on with a run whose process died; what was said before is said again."""
        return self._chunks(lambda asking: self._go_on(asking, run_id))

    def cancel(self, reason: str = "cancelled") -> None:
        """End what is at work, at any moment: each run still ends with what it has."""
        for asking in self._at_work:
            asking.cancel(reason)

    async def _chunks(
        self, work: Callable[[_Asking], Awaitable[None]]
    ) -> AsyncGenerator[OracleStreamChunk]:
        asking = _Asking(self._services, self._watch)
        self._at_work.add(asking)
        task = asyncio.ensure_future(work(asking))
        task.add_done_callback(lambda _: asking.chunks.close())
        try:
            while (chunk := await asking.chunks.get()) is not None:
                yield chunk
        finally:
            asking.cancel("nobody listens any more")
            self._at_work.discard(asking)
            await task

    async def _answer(
        self, asking: _Asking, query: str, context_id: str | None, attachment: str
    ) -> None:
        try:
            if not query.strip():
                raise InputError("the question is empty; ask something")
            place = await self._place(query, context_id)
            recipe = self._setup.recipe(
                Question(
                    text=query,
                    attachment=attachment,
                    history=() if place is None else place.history,
                    known_terms=self._known_terms,
                )
            )
            asking.run_id = recipe.run_id
            if self._store is None or place is None:
                run = RecordedRun(recipe, services=asking.services)
                await asking.settle(run, run.settle)
                asking.say_done(None)
            else:
                stored = await self._store.begin(recipe, place, asking.services)
                await asking.settle(stored.recorded, stored.settle)
                await self._remember(asking)
        except Exception as problem:
            asking.say_broken(problem)

    async def _go_on(self, asking: _Asking, run_id: str) -> None:
        try:
            if self._store is None:
                raise InputError(f"run {run_id} cannot be resumed without a store")
            stored = await self._store.runs.resume(run_id, services=asking.services)
            asking.run_id = stored.id
            await asking.settle(stored.recorded, stored.settle)
            await self._remember(asking)
        except Exception as problem:
            asking.say_broken(problem)

    async def _place(self, query: str, context_id: str | None) -> Place | None:
        if self._store is None:
            if context_id is not None:
                raise InputError(f"there is no store to look for exchange {context_id!r} in")
            return None
        return await self._store.place(query, context_id, self._session_id)

    async def _remember(self, asking: _Asking) -> None:
        """What the user is shown is on disk before `done`."""
        assert self._store is not None
        done, metadata = asking.ending()
        await self._store.remember(asking.run_id, done, metadata)
        asking.say_done(asking.run_id)


class _Asking:
    """One question at work."""

    def __init__(self, services: AgentServices, watch: Watcher | None = None) -> None:
        self.chunks = _Chunks()
        self.run_id = ""
        self._services = services
        self._watch = watch
        self._run: RecordedRun | None = None
        self._cancelled: str | None = None
        self._is_over = False

    def services(self, recipe: Any) -> AgentServices:
        return services_from(recipe, replace(self._services, say=self.chunks.put))

    async def settle(self, run: RecordedRun, settle: Callable[[], Awaitable[Any]]) -> None:
        self._run = run
        if self._watch is not None:
            self._watch(run)
        if self._cancelled is not None:
            run.cancel(self._cancelled)
        try:
            await settle()
        finally:
            self._is_over = True

    def cancel(self, reason: str) -> None:
        self._cancelled = self._cancelled or reason
        if self._run is not None and not self._is_over:
            self._run.cancel(reason)

    def ending(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The data of `done` but for the exchange, and what later exchanges should know."""
        assert self._run is not None
        board = self._run.board.get
        done = {
            "answer": board("answer"),
            "stop_reason": board("stop_reason"),
            "detail": board("stop_detail"),
            "caveat": board("caveat"),
            "tried": board("tried"),
            "missing": board("missing"),
            "usage": board("usage"),
        }
        classification: dict[str, Any] = board("classification") or {}
        metadata = {
            "stop_reason": done["stop_reason"],
            "usage": done["usage"],
            "failed": board("failed"),
            "places_found": len(board("evidence")),
            "sources_tried": board("sources_tried"),
            "query_type": classification.get("query_type"),
        }
        return done, metadata

    def say_done(self, context_id: str | None) -> None:
        assert self._run is not None
        done, _ = self.ending()
        self._say(ChunkType.DONE, **done, run_id=self.run_id, context_id=context_id)

    def say_broken(self, problem: Exception) -> None:
        """Even here there is an answer: what the run has, or at least why it has nothing."""
        is_ours = isinstance(problem, OracleError)
        if not is_ours:
            log.exception("run %s broke", self.run_id)
        told = str(problem) if is_ours else f"{type(problem).__name__}: {problem}"
        self._say(ChunkType.ERROR, content=told)
        stop = "invalid_input" if isinstance(problem, InputError) else "internal_error"
        done: dict[str, Any] = {"caveat": None, "tried": [], "missing": [], "usage": {}}
        if self._run is not None:
            done, _ = self.ending()
        done |= {"stop_reason": stop, "detail": told}
        done["answer"] = done.get("answer") or f"*There is no answer: {told}*"
        self._say(ChunkType.DONE, **done, run_id=self.run_id, context_id=None)

    def _say(self, type_: ChunkType, **data: Any) -> None:
        turn = 0 if self._run is None else self._run.tree_run.context.turn
        self.chunks.put(OracleStreamChunk(type=type_, turn=turn, data=data))


class _Chunks:
    """From the run to whoever listens, without a limit: a slow reader must not stop the tree."""

    def __init__(self) -> None:
        self._waiting: deque[OracleStreamChunk] = deque()
        self._news: asyncio.Future[None] | None = None
        self._is_closed = False

    def put(self, chunk: OracleStreamChunk) -> None:
        self._waiting.append(chunk)
        self._tell()

    def close(self) -> None:
        self._is_closed = True
        self._tell()

    async def get(self) -> OracleStreamChunk | None:
        while not self._waiting and not self._is_closed:
            self._news = asyncio.get_running_loop().create_future()
            await self._news
        return self._waiting.popleft() if self._waiting else None

    def _tell(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

"""Ask the agent, and hear it work: the way in for every door.

    async for chunk in OracleBTWrapper(model=model, tools=tools).process_query("How does …?"):
        …

`done` is always the last chunk, whatever happens.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from dataclasses import replace
from typing import Any, TypeAlias
from weakref import WeakSet

from oracle.bt.core.runtime import Outcome
from oracle.bt.wrappers.agent_recipe import AgentSetup, Question
from oracle.bt.wrappers.asking import Asking, Watcher
from oracle.bt.wrappers.conversation_store import ConversationStore
from oracle.bt.wrappers.recorded_run import Recipe, RecordedRun
from oracle.bt.wrappers.stored_run import StoredRun
from oracle.errors import InputError
from oracle.models.prompt_segment import PromptSegment
from oracle.models.stream_chunk import OracleStreamChunk
from oracle.services.agent_services import AgentServices, Approve
from oracle.services.control.ledger import Limits
from oracle.services.control.sufficiency import Sufficiency, heuristic_sufficiency
from oracle.services.fallback_classifier import FallbackClassifier, heuristic_classify
from oracle.services.llm.protocol import Model
from oracle.services.sources import Sources
from oracle.services.tools.protocol import Tools

__all__ = ["OpenStore", "OracleBTWrapper", "OracleStreamChunk", "Watcher"]

OpenStore: TypeAlias = Callable[[], AbstractAsyncContextManager[ConversationStore]]


class OracleBTWrapper:
    """Answers the questions of one user about one project; several at a time if need be.

    With a `store` runs and exchanges are kept, and `context_id` names the exchange to go on from;
    without one, a run leaves nothing behind. A store that is given as a function is opened for each
    question. `sources` are brought up to date before each question, and say which of its terms are
    the project's own. `approve` asks a person. `watch` is shown each run before its first tick, to
    look at its board or to subscribe to its statuses.
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
        store: ConversationStore | OpenStore | None = None,
        session_id: str | None = None,
        approve: Approve | None = None,
        watch: Watcher | None = None,
        sources: Sources | None = None,
        classify_fallback: FallbackClassifier = heuristic_classify,
        is_sufficient: Sufficiency = heuristic_sufficiency,
    ) -> None:
        self.user_id = user_id
        self.project_id = project_id
        self._setup = AgentSetup(
            model=model,
            tools=tools,
            limits=(limits or Limits()).check(),
            can_ask=approve is not None,
            trees=trees,
            segments=segments,
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
        self._sources = sources
        self._watch = watch
        self._at_work: WeakSet[Asking] = WeakSet()

    def process_query(
        self, query: str, context_id: str | None = None, *, attachment: str = ""
    ) -> AsyncGenerator[OracleStreamChunk]:
        """Answer in chunks. Who stops listening cancels the run."""
        asking = self._asking()
        return self._chunks(asking, lambda: self._answer(asking, query, context_id, attachment))

    def resume(self, run_id: str) -> AsyncGenerator[OracleStreamChunk]:
        """Go on with a run whose process died; what was said before is said again."""
        asking = self._asking()
        return self._chunks(asking, lambda: self._go_on(asking, run_id))

    def cancel(self, reason: str = "cancelled") -> None:
        """End what was asked, at any moment: each run still ends with what it has."""
        for asking in list(self._at_work):
            asking.cancel(reason)

    def _asking(self) -> Asking:
        asking = Asking(self._services, self._watch)
        self._at_work.add(asking)
        return asking

    async def _chunks(
        self, asking: Asking, work: Callable[[], Coroutine[Any, Any, str | None]]
    ) -> AsyncGenerator[OracleStreamChunk]:
        task = asyncio.create_task(self._to_the_end(asking, work))
        task.add_done_callback(lambda _: asking.chunks.close())
        try:
            while (chunk := await asking.chunks.get()) is not None:
                yield chunk
        finally:
            asking.leave()
            self._at_work.discard(asking)
            await task

    async def _to_the_end(
        self, asking: Asking, work: Callable[[], Coroutine[Any, Any, str | None]]
    ) -> None:
        try:
            context_id = await work()
        except Exception as problem:
            asking.say_broken(problem)
        else:
            asking.say_done(context_id)

    async def _answer(
        self, asking: Asking, query: str, context_id: str | None, attachment: str
    ) -> str | None:
        if not query.strip():
            raise InputError("the question is empty; ask something")
        question = Question(text=query, attachment=attachment)
        if self._store is None and context_id is not None:
            raise InputError(f"there is no store to look for exchange {context_id!r} in")
        async with AsyncExitStack() as leaving:
            if self._store is None:
                recipe = await self._recipe(asking, question, leaving)
                run = RecordedRun(recipe, services=asking.services)
                await asking.settle(run, run.settle)
                return None
            store = await leaving.enter_async_context(self._opened())
            place = await store.place(context_id, self._session_id)
            question = replace(question, history=place.history)
            recipe = await self._recipe(asking, question, leaving)
            return await self._kept(
                asking, store, await store.begin(recipe, place, asking.services)
            )

    async def _recipe(self, asking: Asking, question: Question, leaving: AsyncExitStack) -> Recipe:
        known = await self._prepared(asking, leaving, question)
        return self._setup.recipe(replace(question, known_terms=known))

    async def _prepared(
        self, asking: Asking, leaving: AsyncExitStack, question: Question | None = None
    ) -> Sequence[str] | None:
        """The sources at hand, and what they know of the question. All of it takes no longer than
        the question itself may take: files can be read without them.
        """
        sources = self._sources
        if sources is None:
            return None

        async def prepare() -> Sequence[str] | None:
            await leaving.enter_async_context(sources.at_hand())
            return None if question is None else await sources.known(question.terms())

        return await asking.prepare(prepare(), self._setup.limits.seconds)

    async def _go_on(self, asking: Asking, run_id: str) -> str | None:
        if self._store is None:
            raise InputError(f"run {run_id} cannot be resumed without a store")
        async with AsyncExitStack() as leaving:
            store = await leaving.enter_async_context(self._opened())
            await self._prepared(asking, leaving)
            stored = await store.runs.resume(run_id, services=asking.services)
            return await self._kept(asking, store, stored)

    async def _kept(
        self, asking: Asking, store: ConversationStore, stored: StoredRun
    ) -> str | None:
        """What the user is shown is on disk before `done`, and before the run counts as done."""
        context_id: str | None = None

        async def keep(outcome: Outcome) -> None:
            nonlocal context_id
            asking.note(outcome)
            context_id = await store.remember(stored.id, asking.answer, asking.metadata())

        await asking.settle(stored.recorded, lambda: stored.settle(keep))
        return context_id

    def _opened(self) -> AbstractAsyncContextManager[ConversationStore]:
        store = self._store
        assert store is not None
        return nullcontext(store) if isinstance(store, ConversationStore) else store()

"""Ask the agent, and hear it work: the way in for every door.

    async for chunk in OracleBTWrapper(model=model, tools=tools).process_query("How does …?"):
        …

`done` is always the last chunk, whatever happens.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from threading import Lock
from typing import Final, Literal, TypeAlias
from weakref import WeakSet

from oracle.bt.wrappers.recipe import LOOPS, AgentSetup, Definitions, GatherFacts
from oracle.bt.wrappers.run import OpenStore, Run
from oracle.bt.wrappers.run_store import RunStore
from oracle.models.prompt_segment import PromptSegment
from oracle.models.session import LOCAL, Exchange
from oracle.models.source import NOTHING_GIVEN, Given
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.agent_services import AgentServices, Approve, Sources
from oracle.services.bert.bert import Bert
from oracle.services.control.ledger import Limits
from oracle.services.control.sufficiency import Sufficiency, heuristic_sufficiency
from oracle.services.fallback_classifier import FallbackClassifier, heuristic_classify
from oracle.services.llm.protocol import Model
from oracle.services.storage.budgets import Budget
from oracle.services.tools.protocol import Tools

__all__ = ["OpenStore", "OracleBTWrapper", "OracleStreamChunk"]

Follow: TypeAlias = Callable[[str, str], None]
"""Called with the id of a run and its stop reason when the user has the answer. It must not raise
or wait.
"""

log = logging.getLogger(__name__)

SECONDS_TO_END: Final = 15.0
"""How long closing waits for questions. A tool or a connection may take five seconds to close."""


class OracleBTWrapper:
    """Answers questions about one project, several at a time if need be: those of the user, and of
    others where a door names them.

    With a `store`, runs and exchanges are kept, and `context_id` names the exchange to go on from;
    without one, a run leaves nothing behind. A store that is given as a function is opened when a
    question needs it, and shared by those that are under way. `sources` are brought up to date
    before each question, and say which of its terms are the project's own. `definitions` are trees
    and prompts that may change between two questions. `facts` are gathered for the first message.
    `approve` asks a person. The `loop` is the tree, or the plain one that it is compared with.
    `follow` is called with the id and the stop reason of each run that has answered a question.
    `bert` gives a second opinion where the heuristics are unsure. `budgets` are kept by all runs of
    the user and of the project together.
    """

    def __init__(
        self,
        *,
        user_id: str = LOCAL,
        project_id: str = "",
        model: Model | None = None,
        tools: Tools | None = None,
        limits: Limits | None = None,
        trees: Mapping[str, str] | None = None,
        segments: tuple[PromptSegment, ...] | None = None,
        definitions: Definitions | None = None,
        store: RunStore | OpenStore | None = None,
        session_id: str | None = None,
        approve: Approve | None = None,
        sources: Sources | None = None,
        facts: GatherFacts | None = None,
        folder: str = "",
        roots: Sequence[tuple[str, str]] = (),
        loop: Literal["tree", "baseline"] = "tree",
        follow: Follow | None = None,
        classify_fallback: FallbackClassifier = heuristic_classify,
        is_sufficient: Sufficiency = heuristic_sufficiency,
        bert: Bert | None = None,
        budgets: Sequence[Budget] = (),
    ) -> None:
        self.user_id = user_id
        self.project_id = project_id
        live = AgentServices(
            model=model,
            tools=tools,
            approve=approve,
            classify_fallback=classify_fallback,
            is_sufficient=is_sufficient,
            bert=bert,
        )
        self.setup = AgentSetup(
            live=live,
            limits=(limits or Limits()).check(),
            trees=trees,
            segments=segments,
            definitions=definitions,
            sources=sources,
            facts=facts,
            folder=folder,
            roots=tuple(roots),
            budgets=tuple(budgets),
            project=project_id or None,
            user=user_id,
            tree=LOOPS[loop],
        )
        self._store = store
        self.follow = follow
        self._session_id = session_id
        self._runs: WeakSet[Run] = WeakSet()
        # Questions may be asked in several threads.
        self._adding = Lock()

    def process_query(
        self,
        query: str,
        context_id: str | None = None,
        *,
        given: Given = NOTHING_GIVEN,
        nodes: bool = False,
    ) -> AsyncGenerator[OracleStreamChunk]:
        """Answer in chunks; with `nodes` also one for each change of a status in the tree.

        A listener who stops listening cancels the run.
        """
        return self._followed(self.new_run(query, context_id, given=given, nodes=nodes))

    def resume(self, run_id: str, *, nodes: bool = False) -> AsyncGenerator[OracleStreamChunk]:
        """Go on with a run whose process died; its chunks come again from the first one."""
        return self._followed(self.resumed_run(run_id, nodes=nodes))

    def new_run(
        self,
        query: str,
        context_id: str | None = None,
        *,
        session_id: str | None = None,
        given: Given = NOTHING_GIVEN,
        history: Sequence[Exchange] | None = None,
        limits: Limits | None = None,
        run_id: str | None = None,
        nodes: bool = False,
        user_id: str | None = None,
        approve: Approve | Literal["as usual"] | None = "as usual",
        may_write: bool = True,
        store: RunStore | None = None,
    ) -> Run:
        """For a door that handles each run by itself. Nothing happens before its chunks are read.

        A `history`, even an empty one, is a conversation that the caller keeps. `approve` is for
        this run alone; with None there is no person to ask. If the user may not write, an order to
        do so needs the yes of somebody who may. A `store` is for this run alone.
        """
        setup = replace(self._setup_with(approve, user_id), may_write=may_write)
        run = Run.start(
            setup if limits is None else replace(setup, limits=limits.check()),
            query,
            context_id=context_id,
            session_id=session_id or self._session_id,
            given=given,
            history=history,
            run_id=run_id,
            store=store or self._store,
            nodes=nodes,
        )
        return self._known(run)

    def resumed_run(
        self,
        run_id: str,
        *,
        nodes: bool = False,
        user_id: str | None = None,
        approve: Approve | Literal["as usual"] | None = "as usual",
    ) -> Run:
        setup = self._setup_with(approve, user_id)
        return self._known(Run.resume(setup, run_id, store=self._store, nodes=nodes))

    def cancel(self, reason: str = "cancelled") -> None:
        """End what was asked, at any moment: each run still ends with what it has."""
        for run in self._all_runs():
            run.cancel(reason)

    async def close(self, reason: str = "closed") -> None:
        """Cancel what was asked, and wait until it has ended. Runs of other threads are included.

        A run that does not end in time is reported in the log. It ends with its process and can be
        resumed.
        """
        self.cancel(reason)
        ends = {asyncio.wrap_future(run.ended()) for run in self._all_runs()}
        if not ends:
            return
        _, late = await asyncio.wait(ends, timeout=SECONDS_TO_END)
        if late:
            log.warning(
                "%d questions did not end within %g seconds; `oracle runs` lists them, and "
                "`oracle run resume` continues them",
                len(late),
                SECONDS_TO_END,
            )

    def _setup_with(
        self, approve: Approve | Literal["as usual"] | None, user_id: str | None
    ) -> AgentSetup:
        setup = self.setup if user_id is None else replace(self.setup, user=user_id)
        if approve == "as usual":
            return setup
        return replace(setup, live=replace(setup.live, approve=approve))

    def _known(self, run: Run) -> Run:
        with self._adding:
            self._runs.add(run)
        return run

    def _followed(self, run: Run) -> AsyncGenerator[OracleStreamChunk]:
        return run.chunks() if self.follow is None else _followed(run.chunks(), self.follow)

    def _all_runs(self) -> list[Run]:
        with self._adding:
            return list(self._runs)


async def _followed(
    chunks: AsyncGenerator[OracleStreamChunk], follow: Follow
) -> AsyncGenerator[OracleStreamChunk]:
    done: OracleStreamChunk | None = None
    async with aclosing(chunks):
        try:
            async for chunk in chunks:
                done = chunk if chunk.type == ChunkType.DONE else None
                yield chunk
        finally:
            # Also if the listener leaves with the last chunk. By then all of the run is on disk.
            if done is not None and done["context_id"] is not None:
                follow(done["run_id"], done["stop_reason"])

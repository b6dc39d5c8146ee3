"""Ask the agent, and hear it work: the way in for every door.

    async for chunk in OracleBTWrapper(model=model, tools=tools).process_query("How does …?"):
        …

`done` is always the last chunk, whatever happens.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from weakref import WeakSet

from oracle.bt.wrappers.recipe import AgentSetup, GatherFacts
from oracle.bt.wrappers.run import OpenStore, Run
from oracle.bt.wrappers.run_store import RunStore
from oracle.models.prompt_segment import PromptSegment
from oracle.models.stream_chunk import OracleStreamChunk
from oracle.services.agent_services import AgentServices, Approve, Sources
from oracle.services.control.ledger import Limits
from oracle.services.control.sufficiency import Sufficiency, heuristic_sufficiency
from oracle.services.fallback_classifier import FallbackClassifier, heuristic_classify
from oracle.services.llm.protocol import Model
from oracle.services.tools.protocol import Tools

__all__ = ["OpenStore", "OracleBTWrapper", "OracleStreamChunk"]


class OracleBTWrapper:
    """Answers the questions of one user about one project, several at a time if need be.

    With a `store`, runs and exchanges are kept, and `context_id` names the exchange to go on from;
    without one, a run leaves nothing behind. A store that is given as a function is opened for each
    question. `sources` are brought up to date before each question, and say which of its terms are
    the project's own. `facts` are gathered for the first message. `approve` asks a person.
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
        store: RunStore | OpenStore | None = None,
        session_id: str | None = None,
        approve: Approve | None = None,
        sources: Sources | None = None,
        facts: GatherFacts | None = None,
        folder: str = "",
        classify_fallback: FallbackClassifier = heuristic_classify,
        is_sufficient: Sufficiency = heuristic_sufficiency,
    ) -> None:
        self.user_id = user_id
        self.project_id = project_id
        live = AgentServices(
            model=model,
            tools=tools,
            approve=approve,
            classify_fallback=classify_fallback,
            is_sufficient=is_sufficient,
        )
        self._agent = AgentSetup(
            live=live,
            limits=(limits or Limits()).check(),
            trees=trees,
            segments=segments,
            sources=sources,
            facts=facts,
            folder=folder,
        )
        self._store = store
        self._session_id = session_id
        self._runs: WeakSet[Run] = WeakSet()

    def process_query(
        self,
        query: str,
        context_id: str | None = None,
        *,
        attachment: str = "",
        nodes: bool = False,
    ) -> AsyncGenerator[OracleStreamChunk]:
        """Answer in chunks; with `nodes` also one for each change of a status in the tree.

        A listener who stops listening cancels the run.
        """
        run = Run.start(
            self._agent,
            query,
            context_id=context_id,
            session_id=self._session_id,
            attachment=attachment,
            store=self._store,
            nodes=nodes,
        )
        self._runs.add(run)
        return run.chunks()

    def resume(self, run_id: str, *, nodes: bool = False) -> AsyncGenerator[OracleStreamChunk]:
        """Go on with a run whose process died; its chunks come again from the first one."""
        run = Run.resume(self._agent, run_id, store=self._store, nodes=nodes)
        self._runs.add(run)
        return run.chunks()

    def cancel(self, reason: str = "cancelled") -> None:
        """End what was asked, at any moment: each run still ends with what it has."""
        for run in list(self._runs):
            run.cancel(reason)

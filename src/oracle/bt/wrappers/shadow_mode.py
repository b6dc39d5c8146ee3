"""Answers a recorded question again, with the other loop, and compares the two.

The loop in the shadow gets the question, the history, the prompts and the facts from the record of
the first run, and the results of its tool calls as well. A call that only reads and was not made
before is run. A call that writes never is. The shadow begins when the user has the answer, has
limits of its own, and whatever happens to it, the user is not told.

    comparison = await ShadowMode(agent, store, money=0.25).compare(run_id)
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence, Set
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any, Final

from oracle.bt.wrappers.recipe import BASELINE, TREE, AgentSetup, Recipe, built_in_trees
from oracle.bt.wrappers.recipe import services_from as services_of_recipe
from oracle.bt.wrappers.retelling import chunks_of
from oracle.bt.wrappers.run import OpenStore
from oracle.bt.wrappers.run_end import RunEnd
from oracle.bt.wrappers.run_store import RunStore
from oracle.errors import InputError, OracleError
from oracle.logs import logger_of
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.models.tool_spec import ToolSpec
from oracle.services.ans.bus import get_event_bus
from oracle.services.ans.event import Event
from oracle.services.background import within
from oracle.services.comparison.choosing import SHADOW_LIMIT
from oracle.services.comparison.comparing import Comparison, Loop
from oracle.services.comparison.facts import TAKEN, LoopFacts, facts_of
from oracle.services.control.repetition import name_of_call
from oracle.services.journal import Record
from oracle.services.project.redaction import redact
from oracle.services.tools.protocol import ToolResult, Tools

log = logger_of(__name__)

WAITING: Final = 32
"""How many questions may wait for their shadow. More are left out: a busy server must not fall
behind.
"""
SECONDS_BEYOND: Final = 10.0
"""How long a shadow may take beyond its time limit until it is given up."""
NOT_AVAILABLE: Final = "Not available: nothing is written in this run."
_NOT_COMPARED: Final = (
    "cancelled",
    "invalid_input",
    "held_elsewhere",
    "spend_limit",
    "store_failed",
)
_OTHER: Final[Mapping[str, str]] = {TREE: BASELINE, BASELINE: TREE}


class SharedTools:
    """Answers with what the first run recorded, else by running the tool, and never by writing."""

    def __init__(self, records: Sequence[Record], live: Tools | None) -> None:
        self._live = live
        self.specs: Sequence[ToolSpec] = () if live is None else live.specs
        self._writing = {spec.name for spec in self.specs if spec.writes}
        self._recorded: dict[str, ToolResult] = {}
        for record in records:
            asked: dict[str, Any] = record.body["request"] if record.kind == "answer" else {}
            if "tool" in asked:
                name = name_of_call(asked["tool"], asked["arguments"])
                self._recorded.setdefault(name, record.body["value"])

    async def run(self, name: str, arguments: Mapping[str, object] | str) -> ToolResult:
        if name in self._writing:
            return _not_available()
        known = self._recorded.get(name_of_call(name, arguments))
        if known is not None:
            return known
        return _not_available() if self._live is None else await self._live.run(name, arguments)

    async def was_done(self, name: str, arguments: Mapping[str, object] | str) -> ToolResult | None:
        return _not_available()


def _not_available() -> ToolResult:
    return {"success": False, "content": NOT_AVAILABLE, "sources": []}


class ShadowMode:
    """`share` of the questions are compared, chosen by the id of their run, each for at most
    `money`. One at a time, so that shadows take little from the questions of users.
    """

    def __init__(
        self,
        agent: AgentSetup,
        store: RunStore | OpenStore,
        *,
        share: float = 1.0,
        money: float | None = None,
    ) -> None:
        self._agent = agent
        self._store = store
        self._share = share
        self._money = money
        self._following: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()

    def follow(self, run_id: str, stop_reason: str) -> None:
        """Compare in the background. It never raises and never waits."""
        if not is_chosen(run_id, stop_reason, self._share):
            return
        if len(self._following) >= WAITING:
            log.info("run %s is not compared: %d are waiting", run_id, WAITING)
            return
        task = asyncio.get_running_loop().create_task(self._follow(run_id))
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    async def wait(self) -> None:
        """Wait for the comparisons that are under way."""
        while self._following:
            await asyncio.wait(self._following)

    async def close(self) -> None:
        """Give up what is under way. A comparison is made whole or not at all."""
        for task in self._following:
            task.cancel()
        if self._following:
            await asyncio.wait(self._following, timeout=SECONDS_BEYOND)

    async def _follow(self, run_id: str) -> None:
        try:
            async with self._turn:
                await self.compare(run_id)
        except Exception as problem:
            # Nobody waits for it, and the user must not notice it.
            log.info("run %s could not be compared: %s", run_id, redact(repr(problem)))

    async def compare(self, run_id: str) -> Comparison:
        """Answer the question of a recorded run with the other loop, and store the comparison."""
        async with AsyncExitStack() as leaving:
            store = self._store
            if not isinstance(store, RunStore):
                store = await leaving.enter_async_context(store())
            store = store.seen_by(self._agent.user)
            run = await store.runs.get(run_id)
            if run.tree not in _OTHER or run.status != "done" or run.shadow_of is not None:
                raise InputError(
                    f"run {run.id} cannot be compared; that needs a run of `oracle ask` that has "
                    "ended (`oracle runs`) and is not a shadow itself"
                )
            if self._agent.sources is not None:
                await leaving.enter_async_context(self._agent.sources.at_hand())
            records, contents = await store.record_of(run.id)
            first = Recipe.from_records(records, contents)
            self._check_model(first)
            shadow_id, facts = await self._shadow(store, first, records, run.session_id)
            served_chunks = await chunks_of(store, run.id)
            loops = {
                run.tree: facts_of(served_chunks, self._writing),
                _OTHER[run.tree]: facts,
            }
            served: Loop = "tree" if run.tree == TREE else "baseline"
            comparison = Comparison(
                run_id=run.id,
                shadow_run_id=shadow_id,
                question=run.question,
                model=first.model,
                served=served,
                tree=loops[TREE],
                baseline=loops[BASELINE],
            )
            await store.shadow_reports.add(comparison, time.time())
            _report(comparison)
            return comparison

    @property
    def _writing(self) -> Set[str]:
        """What is not compared: the shadow's writes were not done, and those of the user were."""
        tools = self._agent.live.tools
        return frozenset() if tools is None else {spec.name for spec in tools.specs if spec.writes}

    def _check_model(self, first: Recipe) -> None:
        """Two loops with two models say nothing about the loops."""
        model = self._agent.live.model
        name = "none" if model is None else model.name
        if name != first.model:
            raise InputError(
                f"run {first.run_id} was answered by {first.model}, and the model here is {name}; "
                f"`oracle shadow run {first.run_id} --model {first.model}` asks the same one"
            )

    async def _shadow(
        self, store: RunStore, first: Recipe, records: Sequence[Record], session_id: str | None
    ) -> tuple[str, LoopFacts]:
        heard: list[OracleStreamChunk] = []
        recipe = self._recipe(first)
        live = replace(
            self._agent.live,
            tools=SharedTools(records, self._agent.live.tools),
            say=partial(_keep, heard),
            approve=None,
        )
        tree = await store.begin(
            recipe,
            services=partial(services_of_recipe, live=live),
            session_id=session_id,
            project=self._agent.project,
            shadow_of=first.run_id,
            budgets=self._agent.budgets,
        )
        end = RunEnd()
        end.of(tree)
        seconds = self._agent.limits.seconds + SECONDS_BEYOND
        try:
            await within(seconds, tree.settle())
        except TimeoutError:
            raise OracleError(f"the shadow did not end within {seconds:g} s") from None
        done = {**end.done(), "context_id": None}
        heard.append(OracleStreamChunk(type=ChunkType.DONE, data=done))
        facts = facts_of(heard, self._writing)
        if facts.stop_reason == "money_limit" and _money_of(recipe) != _money_of(first):
            # Its limit was the lower one. What it would have done with the other is not known.
            facts = replace(facts, stop_reason=SHADOW_LIMIT)
        return tree.id, facts

    def _recipe(self, first: Recipe) -> Recipe:
        """The first run's, but for the loop, the limit of money, and a person to ask."""
        tree = _OTHER[first.tree]
        definitions = self._agent.definitions or self._agent
        own = None if tree == BASELINE else definitions.trees
        board = {name: value for name, value in first.board.items() if name != "can_ask"}
        limits = {**board["limits"], "money": _lower(board["limits"]["money"], self._money)}
        board |= {"limits": limits, "seconds_before": 0.0}
        return Recipe(
            tree=tree,
            sources=built_in_trees() if own is None else dict(own),
            prompts=first.prompts,
            question=first.question,
            model=first.model,
            board=board,
            folder=first.folder,
        )


def is_chosen(run_id: str, stop_reason: str, share: float) -> bool:
    """By the id, so that the same run is always chosen, or never."""
    if stop_reason in _NOT_COMPARED:
        return False
    return int(sha256(run_id.encode()).hexdigest()[:8], 16) < share * 2**32


def _keep(heard: list[OracleStreamChunk], chunk: OracleStreamChunk) -> None:
    """A model that floods its shadow with text must not fill the memory."""
    if chunk.type in TAKEN:
        heard.append(chunk)


def _money_of(recipe: Recipe) -> float | None:
    return recipe.board["limits"]["money"]


def _lower(one: float | None, other: float | None) -> float | None:
    given = [limit for limit in (one, other) if limit is not None]
    return min(given) if given else None


def _report(comparison: Comparison) -> None:
    data = comparison.as_data()
    loops = {
        loop: {k: v for k, v in data[loop].items() if k not in ("answer", "missing")}
        for loop in ("tree", "baseline")
    }
    payload = {**loops, "shared": data["shared"], "shadow_run_id": comparison.shadow_run_id}
    run_id = comparison.run_id
    get_event_bus().emit(
        Event(type="shadow.compared", source="shadow", payload=payload, run_id=run_id, turn=None)
    )

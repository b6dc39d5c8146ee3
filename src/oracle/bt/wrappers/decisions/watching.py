"""Watches a run: which effects it asks for, how its nodes end, and what it does."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from hashlib import sha256
from typing import Any, Final, cast

from oracle.bt.board import tokens_of_tools
from oracle.bt.core.effects import Effect as Perform
from oracle.bt.core.effects import EffectKey, Effects, Writing
from oracle.bt.state.base import RUNNING, RunStatus
from oracle.bt.wrappers.decisions.recording import (
    Decisions,
    Effect,
    Fact,
    Identity,
    NodeEnd,
    Totals,
)
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.control.conversation import Weight
from oracle.services.control.ledger import RESOURCES
from oracle.services.control.repetition import name_of_call
from oracle.services.journal.failures import as_body
from oracle.services.journal.record import as_json
from oracle.services.story.words import (
    call_words,
    result_words,
)


class Watch:
    """What one run does. `is_over` says that what follows does not count any more."""

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self.is_over: Callable[[], bool] = lambda: False
        self._nodes: list[NodeEnd] = []
        self._facts: list[Fact] = []
        self._tokens, self._money, self._turn, self._seconds = 0, 0.0, 0, 0.0
        self._tree: RecordedTree | None = None
        self._began_at: float | None = None
        self._calls: dict[tuple[int, str], int] = {}
        self._closed: int | None = None
        self._closer: str | None = None
        self._between_nodes: list[int] = []
        self._between_facts: list[int] = []

    def of(self, tree: RecordedTree) -> None:
        self._tree = tree
        tree.tree_run.subscribe(self._note_node)

    def hear(self, chunk: OracleStreamChunk) -> None:
        if self.is_over():
            return
        self._turn = max(self._turn, chunk.turn)
        if chunk.type == ChunkType.COST:
            self._tokens += chunk["tokens"]
            self._money += chunk["money"]
        elif (words := _FACTS.get(chunk.type)) is not None:
            node = str(chunk.data.get("node", ""))
            self._begin(chunk.turn)
            for text in words(chunk):
                if chunk.turn == self._closed:
                    self._between_facts.append(len(self._facts))
                self._facts.append(Fact(chunk.turn, text, node))
        if chunk.type == ChunkType.TOOL_CALL:
            self._calls[chunk.turn, chunk["id"]] = len(self._facts) - 1
        elif chunk.type == ChunkType.TOOL_RESULT and not chunk["was_run"]:
            self._was_refused(chunk.turn, chunk["id"])
        if chunk.type == ChunkType.TURN_END:
            self._closed, self._closer = chunk.turn, None

    def _was_refused(self, turn: int, call: str) -> None:
        """It was announced as a call before anybody looked at it."""
        if (place := self._calls.get((turn, call))) is not None:
            fact = self._facts[place]
            self._facts[place] = fact._replace(text=fact.text.replace("calls ", "asks for ", 1))

    def decisions(self, stop_reason: str, answer: str) -> Decisions:
        assert self._tree is not None
        return Decisions(
            paths=[node.path for node in self._tree.tree_run.definition.nodes],
            nodes=self._nodes,
            facts=self._facts,
            totals=self._totals(),
            stop_reason=stop_reason,
            answer=answer,
        )

    def _totals(self) -> Totals:
        assert self._tree is not None
        # One that the recording has no answer to was asked for, but not made.
        made = [e for e in self.effects if e.parts or e.ended is not None or not self.is_over()]
        kinds = [effect.identity.kind for effect in made]
        model: Mapping[str, Any] = self._tree.read("model") or {}
        return Totals(
            turns=self._turn,
            model_calls=kinds.count("model") + kinds.count("part"),
            tool_calls=kinds.count("tool"),
            tokens=self._tokens,
            money=None if model.get("prices") is None else round(self._money, 6),
            seconds=round(self._seconds, 3),
        )

    def _note_node(
        self, time: float, path: str, old: RunStatus | None, new: RunStatus | None
    ) -> None:
        # How often a node was still running depends on how long the effects took.
        if self.is_over() or new is RUNNING:
            return
        assert self._tree is not None
        status = "halted" if new is None else new.value
        turn = self._tree.tree_run.context.turn
        self._begin(turn)
        if turn == self._closed:
            # The leaf that closed the turn ends first, then what it is in.
            self._closer = self._closer or path
            if not f"{self._closer}/".startswith(f"{path}/"):
                self._between_nodes.append(len(self._nodes))
        self._nodes.append(NodeEnd(turn, path, status))
        self.now()

    def _begin(self, turn: int) -> None:
        """What was decided between two turns belongs to the later one, which it prepares: a tree
        weighs the budget before it begins a turn. After the last turn it stays where it is.
        """
        if turn == self._closed or not (self._between_nodes or self._between_facts):
            return
        for number in self._between_nodes:
            self._nodes[number] = self._nodes[number]._replace(turn=turn)
        for number in self._between_facts:
            self._facts[number] = self._facts[number]._replace(turn=turn)
        self._between_nodes, self._between_facts = [], []

    def now(self) -> float:
        """Seconds since the first thing that happened to the run."""
        assert self._tree is not None
        time = self._tree.journal.time
        self._began_at = time if self._began_at is None else self._began_at
        self._seconds = max(self._seconds, time - self._began_at)
        return time - self._began_at

    def identified(self, request: Any) -> Identity:
        assert self._tree is not None
        return identity_of(request, self._tree)


class WatchedEffects:
    """Notes each effect on its way through another port."""

    def __init__(self, watch: Watch, inner: Effects) -> None:
        self._watch = watch
        self._inner = inner

    async def perform(
        self, key: EffectKey, request: Any, effect: Perform, *, writes: bool | Writing = False
    ) -> Any:
        noted = self._noted(key, request)
        try:
            noted.value = await self._inner.perform(key, request, effect, writes=writes)
        except BaseException as problem:
            self._fail(noted, problem)
            raise
        self._end(noted)
        return noted.value

    async def stream(
        self, key: EffectKey, request: Any, source: Callable[[], AsyncIterator[Any]]
    ) -> AsyncGenerator[Any]:
        noted = self._noted(key, request)
        inner = self._inner.stream(key, request, source)
        try:
            async with aclosing(cast("AsyncGenerator[Any]", inner)) as parts:
                async for part in parts:
                    noted.parts.append((self._since(noted), part))
                    yield part
        except BaseException as problem:
            self._fail(noted, problem)
            raise
        self._end(noted)

    def _noted(self, key: EffectKey, request: Any) -> Effect:
        watch = self._watch
        began, identity = watch.now(), watch.identified(request)
        noted = Effect(identity=identity, node=key.node_path, turn=key.turn, began=began)
        if not watch.is_over():
            watch.effects.append(noted)
        return noted

    def _since(self, noted: Effect) -> float:
        return round(self._watch.now() - noted.began, 6)

    def _end(self, noted: Effect) -> None:
        noted.ended = self._since(noted)

    def _fail(self, noted: Effect, problem: BaseException) -> None:
        if self._watch.is_over():
            return
        if isinstance(problem, Exception):
            noted.failure = as_body(None, problem)
            self._end(noted)
        else:
            # Cancelled, or left by its leaf.
            noted.halted = self._since(noted)


# -- what is asked ---------------------------------------------------------------------------------


def identity_of(request: Any, tree: RecordedTree) -> Identity:
    match request:
        case {"tool": str(name), "arguments": arguments}:
            words = call_words(name, arguments)
            return Identity("tool", name_of_call(name, arguments), words)
        case {"approval": {"content": content, "tools": tools, "calls": calls}}:
            return Identity("person", as_json([content, tools, calls]), f"a yes to: {content}")
        case {"part": str(part), "messages": str(digest)}:
            words = f"the model's reply about {part}"
            prompt = _digest(_model_name(tree))
            return Identity("part", f"{part}:{digest}", words, loose=part, prompt=prompt)
        case {"bert": str(use), "asked": _}:
            return Identity("bert", as_json(request), f"BERT's opinion on the {use}")
        case {"messages": str(), "tools": [*tools]}:
            return _model_request(list(map(str, tools)), tree)
        case _:
            return Identity("other", as_json(request), as_json(request)[:80])


def _model_request(tools: Sequence[str], tree: RecordedTree) -> Identity:
    """Known by the conversation after the system prompt, and by the tools on offer. The prompt and
    the model are kept apart, so that a change of them finds the answers too.
    """
    messages: Sequence[Mapping[str, Any]] = tree.read("messages") or []
    has_prompt = bool(messages) and messages[0]["role"] == "system"
    said = Weight().with_all(messages[1:] if has_prompt else messages)
    size = int(tree.read("weight")["tokens"]) + tokens_of_tools(tree.board)
    key = json.dumps([said.digest, sorted(tools)])
    prompt = _digest(_model_name(tree), messages[0]["content"] if has_prompt else "")
    return Identity("model", key, "the model's response", size=size, prompt=prompt)


def _model_name(tree: RecordedTree) -> str:
    model: Mapping[str, Any] = tree.read("model") or {}
    return str(model.get("name", ""))


def _digest(*texts: str) -> str:
    return sha256(json.dumps(texts).encode(errors="surrogatepass")).hexdigest()[:16]


# -- what is done ----------------------------------------------------------------------------------


def _question(chunk: OracleStreamChunk) -> list[str]:
    tools = ", ".join(chunk["tools"]) or "none"
    return [f"takes it for a question of type {chunk['query_type']}", f"grants the tools: {tools}"]


def _turn_start(chunk: OracleStreamChunk) -> list[str]:
    names = [str(tool["name"]) for tool in chunk["offered"]]
    return [f"offers the tools: {', '.join(names) or 'none'}"]


def _verdict(chunk: OracleStreamChunk) -> list[str]:
    # The code, not the words for it: facts are compared, and words may be improved.
    verdict = str(chunk["verdict"]).replace("_", " ")
    return [f"decides: {verdict}: {chunk['reason']}" if chunk["reason"] else f"decides: {verdict}"]


def _tool_result(chunk: OracleStreamChunk) -> list[str]:
    if chunk["success"]:
        return []
    return [f"{chunk['name']}: {result_words(str(chunk['content']), places=0)}"]


def _budget(chunk: OracleStreamChunk) -> list[str]:
    """Without numbers: seconds are never the same twice."""
    budget = str(chunk["budget"])
    if budget not in RESOURCES:
        return [f"takes {budget} away, which was used as often as it may be"]
    if chunk["at"] == "warning":
        return [f"warns that little of its budget of {budget} is left"]
    return [f"keeps the rest of its budget of {budget} for the last answer"]


def _turn_end(chunk: OracleStreamChunk) -> list[str]:
    return [f"ends the turn: {chunk['outcome']}"]


_FACTS: Final[Mapping[ChunkType, Callable[[OracleStreamChunk], list[str]]]] = {
    ChunkType.QUESTION: _question,
    ChunkType.TURN_START: _turn_start,
    ChunkType.VERDICT: _verdict,
    ChunkType.TOOL_CALL: lambda chunk: [f"calls {call_words(chunk['name'], chunk['arguments'])}"],
    ChunkType.TOOL_RESULT: _tool_result,
    ChunkType.APPROVAL: lambda chunk: [f"asks a person: {chunk['content']}"],
    ChunkType.BUDGET: _budget,
    ChunkType.TURN_END: _turn_end,
}

"""Watches one run and says what can be seen of it, in frames.

It is a subscriber: of the tree for the statuses of nodes, of the run for its chunks, of the bus for
its events. The same watcher looks at a live run and at the replay of a recorded one, so both have
the same frames in the same order. The engine does not know of it, and a run without one pays
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, TypeAlias

from oracle.bt.state.base import FAILURE, RUNNING, RunStatus
from oracle.bt.wrappers.mind.frame import Frame
from oracle.bt.wrappers.mind.panels import (
    PromptPanel,
    budgets_of,
    sources_data,
    tools_of,
    with_uses,
)
from oracle.bt.wrappers.mind.shape import tree_data
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.ans.event import Event
from oracle.services.project.redaction import redact

Put: TypeAlias = Callable[[Frame], None]

_ASK_THE_MODEL: Final[Mapping[str, str]] = {
    "oracle.bt.actions.model_call.call_model": "turn",
    "oracle.bt.actions.extracts.ask_about_parts": "parts",
}
"""The leaves that ask a model, and what for."""
_EVENTS: Final = ("signal.malformed", "signal.missing", "node.failed")
_LONGEST_NOTE: Final = 300
_LONGEST_ERROR: Final = 500


class MindWatcher:
    """`put` takes the frames. `is_over` says that what follows never happened: a replay has come to
    the end of its record.
    """

    def __init__(
        self,
        tree: RecordedTree,
        put: Put,
        *,
        is_current: bool = True,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self._tree = tree
        self._put = put
        self._is_over = is_over
        self._is_current = is_current
        self._nodes = tree.tree_run.definition.by_path
        self._said: dict[str, tuple[str, int]] = {}
        self._asking: dict[str, str] = {}
        self._prompt = PromptPanel()
        self._tools: list[dict[str, Any]] = []
        self._signal: dict[str, Any] | None = None
        self._spent = _nothing_spent()
        self._length = 0
        self._calls: dict[str, float] = {}
        self._read_by: dict[str, tuple[str, int]] = {}

    def begin(self) -> None:
        """Subscribe. What was told to the model before that is no news."""
        for node in self._nodes.values():
            leaf = node.options().get("fn")
            if leaf in _ASK_THE_MODEL:
                self._asking[node.path] = _ASK_THE_MODEL[str(leaf)]
        self._prompt.skip(self._tree)
        self._tree.tree_run.subscribe(self._note_node)
        self._tree.bus.subscribe(self._note_event, _EVENTS)

    def say_tree(self) -> None:
        """The first frame of a run."""
        recipe = self._tree.recipe
        run = {"id": recipe.run_id, "question": recipe.question, "model": recipe.model}
        definition = self._tree.tree_run.definition
        tree = tree_data(definition, recipe.sources, is_current=self._is_current)
        self.put("tree", **tree, run={**run, "began_at": recipe.began_at})

    def go_on_from(self, earlier: MindWatcher) -> None:
        """Know what another one has seen of the same run, up to where this one began."""
        self._said = {**earlier._said, **self._said}
        self._read_by = {**self._read_by, **earlier._read_by}
        self._calls = {**earlier._calls, **self._calls}
        self._tools = self._tools or earlier._tools
        self._length = self._length or earlier._length

    def put(self, type_: str, **data: Any) -> None:
        if not self._is_over():
            self._put(Frame(type_, data))

    def now(self) -> dict[str, Any]:
        """When it is, for a frame: seconds since the run began, and the turn."""
        return {"at": self._tree.seconds, "turn": self._tree.tree_run.context.turn}

    # -- nodes -------------------------------------------------------------------------------------

    def _note_node(
        self, time: float, path: str, old: RunStatus | None, new: RunStatus | None
    ) -> None:
        status = "halted" if new is None else new.value
        turn = self._tree.tree_run.context.turn
        # A reactive node asks the same again at each tick. Only a change is news.
        if self._said.get(path) == (status, turn) or self._is_over():
            return
        self._said[path] = (status, turn)
        self._say_node(path, status, self._note_of(path, new))
        if about := self._asking.get(path):
            phase = "start" if new is RUNNING else "end"
            self.put("model", **self.now(), path=path, about=about, phase=phase)

    def _say_node(self, path: str, status: str, note: str | None) -> None:
        data = {**self.now(), "tick": self._tree.tree_run.context.ticks}
        data |= {"path": path, "status": status}
        self.put("node", **data, **({"note": note} if note else {}))

    def _note_of(self, path: str, status: RunStatus | None) -> str | None:
        """Why it failed. Other nodes hand on the failure of a leaf, which has said it already."""
        failure = self._tree.tree_run.context.failure
        if status is not FAILURE or failure is None:
            return None
        is_cause = self._nodes[path].kind in ("action", "timeout")
        return redact(str(failure))[:_LONGEST_NOTE] if is_cause else None

    def _note_event(self, event: Event) -> None:
        payload = event.payload
        if event.type == "node.failed":
            if payload["node_path"] in self._nodes:
                error = redact(str(payload["error"]))[:_LONGEST_NOTE]
                self._say_node(payload["node_path"], "error", error)
            return
        type_ = event.type.removeprefix("signal.").replace("missing", "none")
        why = payload.get("problem") or None
        self._say_signal(type=type_, confidence=None, fields={}, why=why)

    # -- chunks ------------------------------------------------------------------------------------

    def hear(self, chunk: OracleStreamChunk) -> None:
        if (hear := self.heard.get(chunk.type)) is not None:
            hear(self, chunk)

    def _asked(self, chunk: OracleStreamChunk) -> None:
        self.put("question", **self.now(), **chunk.data)

    def _wrote(self, chunk: OracleStreamChunk) -> None:
        self._length += len(chunk.content)
        self.put("text", **self.now(), length=self._length)

    def _prompted(self, chunk: OracleStreamChunk) -> None:
        self._prompt.announced(chunk)

    def _turn_start(self, chunk: OracleStreamChunk) -> None:
        self._signal, self._spent, self._length = None, _nothing_spent(), 0
        self._tools = tools_of(chunk, self._tree)
        self._say_prompt()
        context = self._tree.tree_run.context
        budgets = budgets_of(context, is_open=True)
        self._say_turn("start", budgets=budgets, outcome=None, usage=None)

    def _turn_end(self, chunk: OracleStreamChunk) -> None:
        self._tools = with_uses(self._tools, self._tree)
        context = self._tree.tree_run.context
        # The tree may write an answer before there was any turn.
        budgets = budgets_of(context, is_open=False) if self._tree.read("ledger") else []
        usage = {**self._spent, "total": chunk["usage"]}
        self._say_turn("end", budgets=budgets, outcome=chunk["outcome"], usage=usage)

    def _say_turn(self, phase: str, **data: Any) -> None:
        self.put("turn", **self.now(), phase=phase, tools=self._tools, **data)

    def _say_prompt(self) -> None:
        news = self._prompt.news(self._tree, self._tree.tree_run.context.turn)
        if news is not None:
            self.put("prompt", **self.now(), **news)

    def _cost(self, chunk: OracleStreamChunk) -> None:
        counted = self._counted(chunk)
        cost = chunk["money"] if self._is_priced else None
        self.put(
            "cost",
            **self.now(),
            path=chunk["node"],
            tokens=chunk["tokens"],
            **counted,
            cost=cost,
            seconds=chunk["seconds"],
            is_estimate=chunk["is_estimate"],
        )
        for name, amount in (*counted.items(), ("cost", cost)):
            so_far = self._spent[name]
            self._spent[name] = None if None in (amount, so_far) else so_far + amount
        self._spent["tokens"] += chunk["tokens"]
        self._spent["seconds"] = round(self._spent["seconds"] + chunk["seconds"], 4)

    @property
    def _is_priced(self) -> bool:
        model: Mapping[str, Any] = self._tree.read("model") or {}
        return model.get("prices") is not None

    def _counted(self, chunk: OracleStreamChunk) -> dict[str, int | None]:
        """Input and output, where the provider has counted them."""
        response: Mapping[str, Any] = self._tree.read("response") or {}
        usage: Mapping[str, int] = response.get("usage") or {}
        read, written = usage.get("input_tokens"), usage.get("output_tokens")
        is_its = None not in (read, written) and (read or 0) + (written or 0) == chunk["tokens"]
        return {"input": read, "output": written} if is_its else {"input": None, "output": None}

    def _signalled(self, chunk: OracleStreamChunk) -> None:
        fields = dict(chunk["signal"])
        type_, confidence = fields.pop("type"), fields.pop("confidence")
        self._say_signal(type=type_, confidence=confidence, fields=fields, why=None)

    def _say_signal(self, **data: Any) -> None:
        self._signal = {**data, "verdict": None}
        self.put("signal", **self.now(), **self._signal)

    def _verdict(self, chunk: OracleStreamChunk) -> None:
        verdict, reason = verdict_words(chunk["verdict"]), redact(str(chunk["reason"])) or None
        self.put("decision", **self.now(), path=chunk["node"], verdict=verdict, reason=reason)
        # The first one is what the tree made of the signal. What follows, follows from that.
        if self._signal is not None and self._signal["verdict"] is None:
            self._signal |= {"verdict": verdict, "why": reason or self._signal["why"]}
            self.put("signal", **self.now(), **self._signal)

    def _called(self, chunk: OracleStreamChunk) -> None:
        self._calls[chunk["id"]] = self._tree.seconds
        self._say_call(chunk, "start", arguments=chunk["arguments"])

    def _answered(self, chunk: OracleStreamChunk) -> None:
        began = self._calls.pop(chunk["id"], None)
        seconds = None if began is None else round(self._tree.seconds - began, 4)
        success = bool(chunk["success"])
        for source in chunk["sources"]:
            place = (str(chunk["name"]), self._tree.tree_run.context.turn)
            self._read_by.setdefault(str(source.get("where")), place)
        self._say_call(
            chunk,
            "end",
            success=success,
            was_run=chunk["was_run"],
            seconds=seconds,
            places=len(chunk["sources"]),
            error=None if success else str(chunk["content"])[:_LONGEST_ERROR],
        )

    def _say_call(self, chunk: OracleStreamChunk, phase: str, **data: Any) -> None:
        self.put("call", **self.now(), id=chunk["id"], tool=chunk["name"], phase=phase, **data)

    def _budgeted(self, chunk: OracleStreamChunk) -> None:
        data = {"name": chunk["budget"], "used": chunk["used"], "limit": chunk["limit"]}
        self.put("budget", **self.now(), **data, level=chunk["at"])

    def _sourced(self, chunk: OracleStreamChunk) -> None:
        self.put("sources", **self.now(), **sources_data(chunk, self._read_by))

    def _done(self, chunk: OracleStreamChunk) -> None:
        self._say_prompt()
        names = ("stop_reason", "detail", "caveat", "missing", "tried", "usage", "error_kind")
        data = {name: chunk[name] for name in names}
        now = self.now()
        self.put("end", at=now["at"], turns=now["turn"], **data)

    heard: ClassVar[Mapping[ChunkType, Callable[[Any, OracleStreamChunk], None]]] = {
        ChunkType.QUESTION: _asked,
        ChunkType.PROMPT: _prompted,
        ChunkType.CONTENT: _wrote,
        ChunkType.TURN_START: _turn_start,
        ChunkType.TURN_END: _turn_end,
        ChunkType.COST: _cost,
        ChunkType.SIGNAL: _signalled,
        ChunkType.VERDICT: _verdict,
        ChunkType.TOOL_CALL: _called,
        ChunkType.TOOL_RESULT: _answered,
        ChunkType.BUDGET: _budgeted,
        ChunkType.SOURCES: _sourced,
        ChunkType.DONE: _done,
    }
    """The chunks that make frames, and how."""


def makes_frames(chunk: OracleStreamChunk) -> bool:
    return chunk.type in MindWatcher.heard


def verdict_words(verdict: str) -> str:
    """>>> verdict_words("not_believed"), verdict_words("fallback_force_response")
    ('not believed', 'fallback: force_response')
    """
    if verdict.startswith("fallback_"):
        return f"fallback: {verdict.removeprefix('fallback_')}"
    return verdict.replace("_", " ")


def _nothing_spent() -> dict[str, Any]:
    return {"tokens": 0, "input": 0, "output": 0, "cost": 0.0, "seconds": 0.0}

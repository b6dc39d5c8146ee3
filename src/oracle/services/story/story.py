"""The story of a run: a pure function of the chunks that the run says, live or in a replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Literal

from oracle.lazy_dataclass import dataclass
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.story.words import (
    budget_words,
    call_words,
    confidence_words,
    decision_words,
    result_words,
    signal_words,
)

Source = Mapping[str, Any]
"""Where a source is, without its text."""
_OF_A_SOURCE: Final = ("where", "path", "start", "end", "entry", "url", "cited")

StepKind = Literal["text", "signal", "call", "decision", "note", "warning", "error"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One thing that happened. `result` says what came of a call, `found` at which places, `node`
    who decided.

    `ok` is False for a call that failed, and for one whose result never came.
    """

    kind: StepKind
    text: str
    result: str = ""
    found: tuple[Source, ...] = ()
    node: str = ""
    ok: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """A request to the model and what followed. Number 0 is what was done before the first."""

    number: int
    steps: tuple[Step, ...] = ()
    outcome: str = ""
    tokens: int = 0
    money: float = 0.0
    seconds: float = 0.0
    is_estimate: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Story:
    """`stop_reason` is a code, empty for a run that has not ended. `sources` are all that were
    found or read; `cited` marks those that the answer cites.
    """

    turns: tuple[Turn, ...] = ()
    answer: str = ""
    stop_reason: str = ""
    detail: str = ""
    caveat: str = ""
    missing: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict[str, Any])


def tell(chunks: Iterable[OracleStreamChunk]) -> Story:
    turns: dict[int, _TurnSoFar] = {}
    sources: Sequence[Mapping[str, Any]] = ()
    done: Mapping[str, Any] = {}
    for chunk in chunks:
        if chunk.type == ChunkType.SOURCES:
            sources = chunk["sources"]
        elif chunk.type == ChunkType.DONE:
            done = chunk.data
        else:
            turns.setdefault(chunk.turn, _TurnSoFar(chunk.turn)).take(chunk)
    told = [turns[number].told() for number in sorted(turns)]
    return Story(
        turns=tuple(turn for turn in told if turn.steps or turn.number),
        answer=done.get("answer") or "",
        stop_reason=done.get("stop_reason") or "",
        detail=done.get("detail") or "",
        caveat=done.get("caveat") or "",
        missing=tuple(done.get("missing") or ()),
        sources=without_texts(sources),
        usage=done.get("usage") or {},
    )


def without_texts(sources: Iterable[Source]) -> tuple[Source, ...]:
    return tuple(
        {name: source[name] for name in _OF_A_SOURCE if name in source} for source in sources
    )


class _TurnSoFar:
    def __init__(self, number: int) -> None:
        self._number = number
        self._steps: list[Step] = []
        self._calls: dict[str, int] = {}
        self._text = ""
        self._needs = ""
        self._outcome = ""
        self._tokens, self._money, self._seconds = 0, 0.0, 0.0
        self._is_estimate = False

    def take(self, chunk: OracleStreamChunk) -> None:
        if (take := _TAKES.get(chunk.type)) is not None:
            take(self, chunk)

    def told(self) -> Turn:
        # The text of the last turn is told as the answer.
        if self._outcome != "answer":
            self._tell_text()
        return Turn(
            number=self._number,
            steps=tuple(self._steps),
            outcome=self._outcome,
            tokens=self._tokens,
            money=self._money,
            seconds=round(self._seconds, 4),
            is_estimate=self._is_estimate,
        )

    def _tell_text(self) -> None:
        if text := self._text.strip():
            self._steps.insert(self._first_said, Step(kind="text", text=text))
        self._text = ""

    @property
    def _first_said(self) -> int:
        """The model wrote its text before the tree could do anything about it."""
        kinds = [step.kind for step in self._steps]
        return next((at for at, kind in enumerate(kinds) if kind in ("signal", "decision")), 0)

    def _add(self, kind: StepKind, text: str, **rest: Any) -> None:
        self._steps.append(Step(kind=kind, text=text, **rest))

    def question(self, chunk: OracleStreamChunk) -> None:
        sure = confidence_words(chunk["confidence"])
        tools = ", ".join(chunk["tools"]) or "none"
        shift = "; it leaves the topic of the conversation" if chunk["topic_shift"] else ""
        self._add("note", f"the question was classified as {chunk['query_type']} ({sure}){shift}")
        self._add("note", f"the model may use: {tools}")

    def content(self, chunk: OracleStreamChunk) -> None:
        self._text += chunk.content

    def signal(self, chunk: OracleStreamChunk) -> None:
        signal: Mapping[str, Any] = chunk["signal"]
        self._needs = str(signal.get("reason", ""))
        sure = confidence_words(signal.get("confidence"))
        self._add("signal", signal_words(signal), result=sure)

    def verdict(self, chunk: OracleStreamChunk) -> None:
        # A wish that is granted for the reason that the model gave needs no second mention of it.
        reason = "" if chunk["reason"] == self._needs else chunk["reason"]
        verdict: str = chunk["verdict"]
        self._add("decision", decision_words(verdict, reason), node=chunk["node"])

    def tool_call(self, chunk: OracleStreamChunk) -> None:
        self._calls[chunk["id"]] = len(self._steps)
        text = call_words(chunk["name"], chunk["arguments"])
        self._add("call", text, result="no result", ok=False)

    def tool_result(self, chunk: OracleStreamChunk) -> None:
        result = result_words(chunk["content"], places=len(chunk["sources"]))
        at = self._calls.pop(chunk["id"], None)
        text = chunk["name"] if at is None else self._steps[at].text
        found = without_texts(chunk["sources"])
        step = Step(kind="call", text=text, result=result, found=found, ok=bool(chunk["success"]))
        # Results arrive in any order; each is told with its call.
        if at is None:
            self._steps.append(step)
        else:
            self._steps[at] = step

    def system(self, chunk: OracleStreamChunk) -> None:
        self._add("warning" if chunk["severity"] == "warning" else "note", chunk.content)

    def approval(self, chunk: OracleStreamChunk) -> None:
        self._add("note", f"asked the user: {chunk.content}")

    def budget(self, chunk: OracleStreamChunk) -> None:
        kept = "; the rest is kept for the answer" if chunk["at"] == "reserve" else ""
        self._add("warning", budget_words(chunk["budget"], chunk["used"], chunk["limit"]) + kept)

    def error(self, chunk: OracleStreamChunk) -> None:
        self._add("error", chunk.content)

    def cost(self, chunk: OracleStreamChunk) -> None:
        self._tokens += chunk["tokens"]
        self._money += chunk["money"]
        self._seconds += chunk["seconds"]
        self._is_estimate = self._is_estimate or chunk["is_estimate"]

    def turn_end(self, chunk: OracleStreamChunk) -> None:
        if self._outcome:
            # The tree has written the answer in the model's place. That says nothing of the turn.
            self._text = ""
            return
        self._outcome = chunk["outcome"]
        if self._outcome != "answer":
            self._tell_text()


_TAKES: Final[Mapping[ChunkType, Callable[[_TurnSoFar, OracleStreamChunk], None]]] = {
    ChunkType.QUESTION: _TurnSoFar.question,
    ChunkType.CONTENT: _TurnSoFar.content,
    ChunkType.SIGNAL: _TurnSoFar.signal,
    ChunkType.VERDICT: _TurnSoFar.verdict,
    ChunkType.TOOL_CALL: _TurnSoFar.tool_call,
    ChunkType.TOOL_RESULT: _TurnSoFar.tool_result,
    ChunkType.SYSTEM: _TurnSoFar.system,
    ChunkType.APPROVAL: _TurnSoFar.approval,
    ChunkType.BUDGET: _TurnSoFar.budget,
    ChunkType.ERROR: _TurnSoFar.error,
    ChunkType.COST: _TurnSoFar.cost,
    ChunkType.TURN_END: _TurnSoFar.turn_end,
}

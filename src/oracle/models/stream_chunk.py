"""The chunks that a run streams while it works. `CHUNKS` is the contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Self

from oracle.lazy_dataclass import dataclass


class ChunkType(StrEnum):
    QUESTION = "question"
    PROMPT = "prompt"
    TURN_START = "turn_start"
    NODE = "node"
    CONTENT = "content"
    REASONING = "reasoning"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    SIGNAL = "signal"
    VERDICT = "verdict"
    COST = "cost"
    SYSTEM = "system"
    APPROVAL = "approval"
    BUDGET = "budget"
    TURN_END = "turn_end"
    SOURCES = "sources"
    ERROR = "error"
    DONE = "done"


CHUNKS: Mapping[ChunkType, Mapping[str, str]] = MappingProxyType(
    {
        ChunkType.QUESTION: {
            "query_type": "the type of the question",
            "confidence": "how sure the classifier is, 0 to 1",
            "breadth": "how much of the project it covers, 0 to 1",
            "topic_shift": "whether it leaves the topic of the conversation",
            "sources": "the kinds of source that its tools look into: code, vault, threads, web",
            "tools": "the names of the tools granted to it",
        },
        ChunkType.PROMPT: {
            "segments": "the segments of the composed prompt in order, each with `id` and `tokens`",
            "tokens": "the estimated size of the composed prompt",
        },
        ChunkType.TURN_START: {
            "offered": "the tools in the request, each with `name` and `reason`",
            "withheld": "the other tools, each with `name` and `reason`",
            "budgets": "for each budget: `used`, `limit` (null if off) and `reserve`",
        },
        ChunkType.NODE: {
            "path": "the node whose status changed",
            "status": "running, success, failure, skipped or halted",
            "tick": "the number of the tick",
        },
        ChunkType.CONTENT: {"content": "text of the answer or of a draft; `turn_end` says which"},
        ChunkType.REASONING: {"content": "the reasoning of the model, if it streams any"},
        ChunkType.TOOL_CALL: {
            "id": "the id of the call",
            "name": "the name of the tool",
            "arguments": "the arguments of the call",
        },
        ChunkType.TOOL_RESULT: {
            "id": "the id of the call",
            "name": "the name of the tool",
            "success": "whether the tool succeeded",
            "content": "the result as the model reads it",
            "sources": "the sources that it quotes",
            "was_run": "false if the call was refused, so that nothing was done",
        },
        ChunkType.SIGNAL: {"signal": "the signal: its type, confidence and fields"},
        ChunkType.VERDICT: {
            "signal": "the type of the signal; null if there was none",
            "verdict": "granted, refused, believed, not_believed, …",
            "reason": "why, as a text for people",
            "node": "the path of the node that decided",
        },
        ChunkType.COST: {
            "node": "the path of the node that spent it",
            "tokens": "tokens of this request",
            "money": "its price; 0 where no price is known",
            "seconds": "how long it took",
            "is_estimate": "whether the provider did not count the tokens",
        },
        ChunkType.SYSTEM: {
            "content": "a message from the tree to the user",
            "severity": "info, notice (what was written) or warning",
        },
        ChunkType.APPROVAL: {
            "id": "the id of the request; the reply refers to it",
            "content": "what a person is asked to approve",
            "tools": "the tools that a yes grants; with `calls`, the tool of the call",
            "calls": "the calls that a yes allows, each with `name` and `arguments`",
        },
        ChunkType.BUDGET: {
            "budget": "turns, tokens, money, seconds, or a tool's name",
            "used": "the amount used",
            "limit": "the limit",
            "at": "warning, or reserve: the rest is kept for the last answer",
        },
        ChunkType.TURN_END: {
            "outcome": "answer, draft, tools, empty or cut",
            "usage": "what the run has used so far",
        },
        ChunkType.SOURCES: {
            "sources": "the sources found or read; `cited` marks those that the answer cites",
            "citations": "each citation of the answer with its status; null if not checked",
        },
        ChunkType.ERROR: {"content": "what went wrong, and what to do"},
        ChunkType.DONE: {
            "answer": "the whole answer, with marks after citations that do not hold",
            "stop_reason": "why the run ended, as a word for programs",
            "error_kind": "the class of the error that ended it, such as ModelRefused, or null",
            "detail": "why the run ended, as a text for people; may be empty",
            "caveat": "what the reader must keep in mind, or null",
            "tried": "what was tried",
            "missing": "what is missing",
            "usage": "what the run used of each budget",
            "run_id": "the id of the run",
            "context_id": "the id of the exchange, to continue from; null if nothing is stored",
        },
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class OracleStreamChunk:
    """Valid by construction: `data` has exactly the fields that `CHUNKS` lists for its type.

    `turn` is the number of the model request it belongs to; 0 before the first.
    """

    type: ChunkType
    turn: int = 0
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        expected = CHUNKS[self.type].keys()
        if self.data.keys() != expected:
            raise ValueError(f"{self.type} has {sorted(self.data)}, not {sorted(expected)}")

    @property
    def content(self) -> str:
        """The text of the chunk; the whole answer for `done`, empty if the type has no text."""
        return str(self.data.get("answer" if self.type == ChunkType.DONE else "content", ""))

    def __getitem__(self, name: str) -> Any:
        return self.data[name]

    def to_dict(self) -> dict[str, Any]:
        """One flat JSON object, the form that is sent to clients."""
        return {"type": self.type.value, "turn": self.turn, **self.data}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        rest = {name: value for name, value in data.items() if name not in ("type", "turn")}
        return cls(type=ChunkType(data["type"]), turn=data.get("turn", 0), data=rest)

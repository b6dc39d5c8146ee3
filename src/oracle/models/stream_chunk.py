"""The chunks that a run streams while it works. `CHUNKS` is the contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Self


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
            "query_type": "the class of the question",
            "confidence": "how sure the classifier is, 0 to 1",
            "breadth": "how much of the project it spans, 0 to 1",
            "topic_shift": "whether it leaves the topic of the conversation",
            "sources": "the kinds of source it needs: code, vault, threads, web",
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
        ChunkType.CONTENT: {"content": "text of the answer, or of a draft: `turn_end` tells"},
        ChunkType.REASONING: {"content": "what the model thinks aloud"},
        ChunkType.TOOL_CALL: {
            "id": "names the call",
            "name": "the tool",
            "arguments": "what it is given",
        },
        ChunkType.TOOL_RESULT: {
            "id": "names the call",
            "name": "the tool",
            "success": "whether it brought a result",
            "content": "the result as the model reads it",
            "sources": "the places that it quotes",
        },
        ChunkType.SIGNAL: {"signal": "the signal: its type, confidence and fields"},
        ChunkType.VERDICT: {
            "signal": "the type of the signal it is about; null if there was none",
            "verdict": "granted, refused, believed, not_believed, …",
            "reason": "why, for people",
            "node": "the path of the node that decided",
        },
        ChunkType.COST: {
            "node": "the path of the node that spent it",
            "tokens": "tokens of this request",
            "money": "its price; 0 where no price is known",
            "seconds": "how long it took",
        },
        ChunkType.SYSTEM: {"content": "what the tree tells the user", "severity": "info, warning"},
        ChunkType.APPROVAL: {
            "id": "names the question; answer it by this id",
            "content": "what a person is asked to allow",
            "tools": "the tools that a yes grants",
        },
        ChunkType.BUDGET: {
            "budget": "turns, tokens, money, seconds, or a tool's name",
            "used": "how much",
            "limit": "of how much",
            "at": "warning, or reserve: what is left is kept for the last answer",
        },
        ChunkType.TURN_END: {
            "outcome": "answer, draft, tools, empty, cut",
            "usage": "what the run has used so far",
        },
        ChunkType.SOURCES: {
            "sources": "the places that the run found or read; `cited` says which the answer cites",
            "citations": "each citation of the answer with its status; null if nobody has checked",
        },
        ChunkType.ERROR: {"content": "what went wrong, and what to do"},
        ChunkType.DONE: {
            "answer": "the whole answer, with marks behind citations that do not hold",
            "stop_reason": "why the run ended, as a word for machines",
            "error_kind": "the kind of error that ended it, such as ModelRefused; null without one",
            "detail": "the same for people; empty where there is nothing to say",
            "caveat": "what the reader must bear in mind, or null",
            "tried": "what was tried",
            "missing": "what is missing",
            "usage": "what the run used of each budget",
            "run_id": "names the run",
            "context_id": "names the exchange, to go on from; null where nothing is stored",
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

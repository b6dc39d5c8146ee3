"""Where a run stands, read off the messages: the question, what was called, what came back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from oracle.models.tool_spec import ToolSpec
from oracle.services.llm.protocol import Message, ModelRequest, ToolCall

_ATTACHED: Final = re.compile(
    r"\n\nAttached by the user, as data:\n(?P<fence>`{3,})\n(?P<text>.*)\n(?P=fence)\Z", re.S
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A call and its result; `success` is None as long as none has come."""

    name: str
    arguments: Mapping[str, object]
    content: str = ""
    success: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    question: str
    answer: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Situation:
    """`turns` are this run's responses so far, each with its calls; the newest is last. `told` is
    what the tree has said meanwhile.
    """

    question: str
    attachment: str
    history: Sequence[Exchange]
    turns: Sequence[Sequence[Call]]
    tools: Mapping[str, ToolSpec]
    told: Sequence[str] = ()

    @property
    def calls(self) -> list[Call]:
        return [call for turn in self.turns for call in turn]

    @property
    def failed(self) -> list[Call]:
        """What went wrong; a call that the tree did not run has done nothing."""
        return [
            call
            for call in self.calls
            if call.success is False and not call.content.startswith("Not run:")
        ]

    @property
    def earlier_answers(self) -> list[str]:
        return [exchange.answer for exchange in self.history]

    def has(self, *names: str) -> bool:
        return any(name in self.tools for name in names)

    def was_called(self, name: str) -> bool:
        return any(call.name == name for call in self.calls)


def read_situation(request: ModelRequest) -> Situation:
    """The last message of the user asks; what stands before it is history, behind it the run."""
    messages = request.messages
    asked = max((n for n, message in enumerate(messages) if message["role"] == "user"), default=-1)
    text = messages[asked]["content"] if asked >= 0 else ""
    found = _ATTACHED.search(text)
    return Situation(
        question=(text[: found.start()] if found else text).strip(),
        attachment=found["text"] if found else "",
        history=_exchanges(messages[: max(asked, 0)]),
        turns=_turns(messages[asked + 1 :]),
        tools={tool.name: tool for tool in request.tools},
        told=[m["content"] for m in messages[asked + 1 :] if m["role"] == "system"],
    )


def _exchanges(messages: Sequence[Message]) -> list[Exchange]:
    pairs = pairwise(messages)
    return [
        Exchange(question=one["content"], answer=other["content"])
        for one, other in pairs
        if one["role"] == "user" and other["role"] == "assistant"
    ]


def _turns(messages: Iterable[Message]) -> list[list[Call]]:
    turns: list[list[Call]] = []
    places: dict[str, tuple[int, int]] = {}
    for message in messages:
        if message["role"] == "assistant":
            made = message.get("tool_calls", [])
            places |= {call["id"]: (len(turns), number) for number, call in enumerate(made)}
            turns.append([_call(call) for call in made])
        elif message["role"] == "tool" and (place := places.get(message.get("call_id", ""))):
            turn, number = place
            before = turns[turn][number]
            turns[turn][number] = Call(
                name=before.name,
                arguments=before.arguments,
                content=message["content"],
                success=message.get("success", True),
            )
    return turns


def _call(call: ToolCall) -> Call:
    arguments = call["arguments"]
    return Call(name=call["name"], arguments=arguments if isinstance(arguments, dict) else {})

"""The conversation as a simulated model reads it: the question, its own calls, and what they found.

Everything is derived from the request. Nothing is remembered between requests, because one model
object serves several runs, replays and resumed runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from oracle.models.tool_spec import Role, ToolSpec, role_by_name
from oracle.services.llm.protocol import Message, ModelRequest, ToolCall
from oracle.testing.simulated.evidence import Line, Place, lines_in, places_in

_LONG = 600
"""Characters. A longer user message brings its own material, such as a text to summarize."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """The result of a call that this question led to."""

    name: str
    role: Role
    arguments: Mapping[str, object] | str
    content: str
    success: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """`turns` counts the responses to this question, `responses` those of the whole conversation.
    `sent_back` counts how often the model was told something after a response without calls.
    `lines` and `places` are what was read and found, in the order in which it came.
    """

    question: str
    prompt: str
    tools: Sequence[ToolSpec]
    turns: int
    responses: int
    sent_back: int
    calls: Sequence[ToolCall]
    results: Sequence[Result]
    lines: Sequence[Line]
    places: Sequence[Place]

    @property
    def expects_signals(self) -> bool:
        return "<signal" in self.prompt

    @property
    def harmless_tools(self) -> list[ToolSpec]:
        return [tool for tool in self.tools if not tool.writes and tool.role != "write"]

    def tools_for(self, *roles: Role) -> list[ToolSpec]:
        return [tool for tool in self.tools if tool.role in roles]

    def results_of(self, *roles: Role) -> list[Result]:
        return [result for result in self.results if result.role in roles]

    def has_made(self, name: str, arguments: Mapping[str, object]) -> bool:
        return any(call["name"] == name and call["arguments"] == arguments for call in self.calls)


def read_conversation(request: ModelRequest) -> Conversation:
    messages = request.messages
    at = _place_of_question(messages)
    since = messages[at + 1 :]
    asked = messages[at] if at >= 0 else None
    question = asked.get("question", asked["content"]) if asked else ""
    own = [message for message in since if message["role"] == "assistant"]
    calls = [call for message in own for call in message.get("tool_calls", ())]
    results = _results(since, calls)
    prompts = [message["content"] for message in messages if message["role"] == "system"]
    return Conversation(
        question=question,
        prompt="\n\n".join(prompts),
        tools=request.tools,
        turns=len(own),
        responses=sum(message["role"] == "assistant" for message in messages),
        sent_back=_times_sent_back(since),
        calls=calls,
        results=results,
        lines=_lines(messages, asked),
        places=_places(results),
    )


def _place_of_question(messages: Sequence[Message]) -> int:
    """The last user message that is not the facts about the project; -1 if there is none."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index]["role"] == "user" and not messages[index].get("is_facts"):
            return index
    return -1


def _results(since: Sequence[Message], calls: Sequence[ToolCall]) -> list[Result]:
    arguments = {call["id"]: call["arguments"] for call in calls}
    return [
        Result(
            name=message.get("name", ""),
            role=message.get("tool_role") or role_by_name(message.get("name", "")),
            arguments=arguments.get(message.get("call_id", ""), {}),
            content=message["content"],
            success=message.get("success", True),
        )
        for message in since
        if message["role"] == "tool"
    ]


def _times_sent_back(since: Sequence[Message]) -> int:
    return sum(
        before["role"] == "assistant" and not before.get("tool_calls") and told["role"] == "system"
        for before, told in pairwise(since)
    )


def _lines(messages: Sequence[Message], asked: Message | None) -> list[Line]:
    """What the model has been shown: results, attachments, and quotations in later messages."""
    lines: list[Line] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool" and message.get("success", True):
            lines += lines_in(message["content"])
        elif message["role"] == "system" and index > 0:
            lines += lines_in(message["content"], framed_only=True)
    if asked is not None:
        material = asked.get("attachment", asked["content"])
        lines += lines_in(material, framed_only=len(material) < _LONG)
    return lines


def _places(results: Sequence[Result]) -> list[Place]:
    places: dict[str, Place] = {}
    for result in results:
        for place in places_in(result.content) if result.success else ():
            places.setdefault(place.path, place)
    return list(places.values())

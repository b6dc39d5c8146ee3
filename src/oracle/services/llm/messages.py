"""Our messages as pydantic-ai's, in an order that every provider takes.

Providers want requests and responses in turn, and after a response that calls tools first the
result of each call; a conversation begins with a request. So what is between two responses
becomes one request, results first; a call that was never answered gets a result that says so, and a
result without a call becomes text.
A user's words that look like a system message are told apart from one.

Only contents and calls are sent. The data beside them (`sources` and the like) stays here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from oracle.services.llm.protocol import Message
from oracle.services.llm.unicode import well_formed

NEVER_RUN = "This call was not run; it has no result."
EMPTY = "(empty)"
LEFT_OUT = "(What came before is left out.)"
_TAG = re.compile(r"<(?=\s*/?\s*system_message)", re.IGNORECASE)


def split_prompt(messages: Sequence[Message]) -> tuple[str | None, Sequence[Message]]:
    """The composed prompt, which comes first, and the conversation."""
    if messages and messages[0]["role"] == "system":
        return well_formed(messages[0]["content"]), messages[1:]
    return None, messages


def to_direct(
    conversation: Iterable[Message], *, flags_failures: bool = False
) -> list[ModelMessage]:
    """`flags_failures`: the provider has a field that says whether a tool failed. Without one only
    the text says it.
    """
    said = (message for message in conversation if not _is_silence(message))
    direct: list[ModelMessage] = []
    open_calls: dict[str, str] = {}
    for is_response, run in groupby(said, lambda message: message["role"] == "assistant"):
        if is_response:
            if not direct:
                direct.append(ModelRequest(parts=[UserPromptPart(LEFT_OUT)]))
            response = _response(run)
            open_calls = {call.tool_call_id: call.tool_name for call in response.tool_calls}
            direct.append(response)
        else:
            answers = _Answers(open_calls=open_calls, flags_failures=flags_failures)
            direct.append(ModelRequest(parts=answers.to(run)))
            open_calls = {}
    if open_calls:
        answers = _Answers(open_calls=open_calls, flags_failures=flags_failures)
        direct.append(ModelRequest(parts=answers.to([])))
    return direct


def as_system_message(text: str) -> str:
    """For providers with one system prompt; the text cannot close the tag, nor open another."""
    return f"<system_message>{_TAG.sub('&lt;', text)}</system_message>"


def _is_silence(message: Message) -> bool:
    """Providers refuse a response that says nothing and calls nothing."""
    return (
        message["role"] == "assistant"
        and not message["content"].strip()
        and not message.get("tool_calls")
    )


def _response(run: Iterable[Message]) -> ModelResponse:
    """Ids are unique within a response; of two calls with one id the first counts."""
    parts: list[TextPart | ToolCallPart] = []
    seen: set[str] = set()
    for message in run:
        if message["content"].strip():
            parts.append(TextPart(well_formed(message["content"])))
        for call in message.get("tool_calls", ()):
            if call["id"] not in seen:
                seen.add(call["id"])
                parts.append(ToolCallPart(call["name"], call["arguments"], tool_call_id=call["id"]))
    return ModelResponse(parts=parts)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answers:
    """The request that follows a response. `open_calls` are its calls, names by id."""

    open_calls: dict[str, str]
    flags_failures: bool

    def to(self, run: Iterable[Message]) -> list[ModelRequestPart]:
        unanswered = dict(self.open_calls)
        results: list[ModelRequestPart] = []
        words: list[ModelRequestPart] = []
        for message in run:
            call_id = message.get("call_id", "")
            if message["role"] == "tool" and call_id in unanswered:
                name = unanswered.pop(call_id)
                success = message.get("success", True)
                results.append(self._result(name, call_id, message["content"], success=success))
            else:
                words.append(UserPromptPart(_words(message)))
        for call_id, name in unanswered.items():
            results.append(self._result(name, call_id, NEVER_RUN, success=False))
        return [*results, *words]

    def _result(self, name: str, call_id: str, content: str, *, success: bool) -> ToolReturnPart:
        failed = self.flags_failures and not success
        return ToolReturnPart(
            name,
            well_formed(content) if content.strip() else EMPTY,
            tool_call_id=call_id,
            outcome="failed" if failed else "success",
        )


def _words(message: Message) -> str:
    content = well_formed(message["content"])
    if message["role"] == "system":
        return as_system_message(content)
    if message["role"] == "tool":
        return f"Result of {message.get('name', 'a tool')}:\n{content}"
    if _TAG.match(content.lstrip()):
        return _TAG.sub("&lt;", content)
    return content if content.strip() else EMPTY

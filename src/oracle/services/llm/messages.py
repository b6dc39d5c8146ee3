"""Converts our messages to pydantic-ai's, in an order that every provider accepts.

Providers expect a request first, then responses and requests in turn. A request after a response
with tool calls begins with the result of each call. Therefore:

- All messages between two responses become one request, results first.
- A call without a result gets a result that says so.
- A result without a call becomes text.
- Our own tags in a user's text are escaped, wherever they are.

Only contents and calls are sent. The structured data beside them (`sources` and others) is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.llm.protocol import Message

NEVER_RUN = "This call was not run; it has no result."
EMPTY = "(empty)"
LEFT_OUT = "(What came before is left out.)"
# The `<` of an opening or closing tag, in any spelling that a model might read as one.
_TAG = lazy_pattern(r"<(?=\s*/?\s*(?:system_message|project_facts))", re.IGNORECASE)


def well_formed(text: str) -> str:
    """Text that can be encoded as UTF-8.

    JSON can contain halves of characters (surrogates), and models do write them. Two halves that
    belong together are joined. A single half becomes U+FFFD.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def split_prompt(messages: Sequence[Message]) -> tuple[str | None, Sequence[Message]]:
    """The composed prompt, which is the first message, and the conversation."""
    if messages and messages[0]["role"] == "system":
        return well_formed(messages[0]["content"]), messages[1:]
    return None, messages


def to_direct(
    conversation: Iterable[Message], *, flags_failures: bool = False
) -> list[ModelMessage]:
    """`flags_failures`: the provider's protocol has a field that says whether a tool failed."""
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
    """For providers with one system prompt. The text can neither close the tag nor open another."""
    return f"<system_message>{_TAG.sub('&lt;', text)}</system_message>"


def _is_silence(message: Message) -> bool:
    """Providers reject a response without text and without calls."""
    return (
        message["role"] == "assistant"
        and not message["content"].strip()
        and not message.get("tool_calls")
    )


def _response(run: Iterable[Message]) -> ModelResponse:
    """One response of several messages. Of two calls with the same id only the first is kept,
    because providers reject ids that are not unique.
    """
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
    """Builds the request after a response. `open_calls` are the response's calls: names by id."""

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
    if message.get("is_facts"):
        return content
    content = _TAG.sub("&lt;", content)
    if message["role"] == "tool":
        return f"Result of {message.get('name', 'a tool')}:\n{content}"
    return content if content.strip() else EMPTY

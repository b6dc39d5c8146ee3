"""Reads the streams of servers that speak OpenAI's protocol in their own way.

The library below tells tool calls apart by their `index` alone, and takes the last finish reason.
Some servers number all calls 0, repeat the name in each piece, send the older `function_call`, or
add `stop` after `length`, or report in each chunk what was used so far, which the library would add
up. Each chunk is mended before the library sees it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator
from typing import TYPE_CHECKING

from openai.types import CompletionUsage
from openai.types.chat.chat_completion_chunk import ChoiceDeltaToolCall, ChoiceDeltaToolCallFunction
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIStreamedResponse

from oracle.lazy_dataclass import dataclass
from oracle.logs import logger_of
from oracle.services.llm.endings import Worst

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk
    from openai.types.chat.chat_completion_chunk import Choice, ChoiceDelta

log = logger_of(__name__)


class MendedStream(OpenAIStreamedResponse):
    def _validate_response(self) -> AsyncIterable[ChatCompletionChunk]:
        return _mended(super()._validate_response())


class MendedOpenAIModel(OpenAIChatModel):
    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return MendedStream


class MendedOllamaModel(OllamaModel):
    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return MendedStream


async def _mended(chunks: AsyncIterable[ChatCompletionChunk]) -> AsyncIterator[ChatCompletionChunk]:
    chunk_by_chunk = Mending()
    async for chunk in chunks:
        chunk_by_chunk.mend(chunk)
        yield chunk


@dataclass(kw_only=True)
class _Call:
    """A call as far as it has arrived. `number` is what it gets as its own index."""

    number: int
    id: str
    name: str
    arguments: str = ""

    @property
    def is_whole(self) -> bool:
        try:
            return isinstance(json.loads(self.arguments), dict)
        except (ValueError, RecursionError):
            return False


class Mending:
    """Changes the chunks of one response in place."""

    def __init__(self) -> None:
        self._at: dict[int | None, _Call] = {}
        self._count = 0
        self._ending = Worst()
        self._used = (0, 0)

    def mend(self, chunk: ChatCompletionChunk) -> None:
        if chunk.usage is not None:
            chunk.usage = self._since_last(chunk.usage)
        if not chunk.choices:
            return
        if any(choice.index for choice in chunk.choices):
            # One answer was asked for. Two in one text would be neither.
            log.warning("the server sent a second answer, which is left out")
            chunk.choices = [choice for choice in chunk.choices if not choice.index]
        for choice in chunk.choices:
            self._mend_choice(choice)

    def _since_last(self, usage: CompletionUsage) -> CompletionUsage | None:
        """What was used since the last report. None if the report has no numbers."""
        now = (usage.prompt_tokens, usage.completion_tokens)
        # The SDK checks no types.
        if not all(type(count) is int and count >= 0 for count in now):
            return None
        sent, received = (max(0, new - old) for new, old in zip(now, self._used, strict=True))
        self._used = (max(now[0], self._used[0]), max(now[1], self._used[1]))
        return CompletionUsage(
            prompt_tokens=sent, completion_tokens=received, total_tokens=sent + received
        )

    def _mend_choice(self, choice: Choice) -> None:
        if choice.finish_reason:
            worst = self._ending.after(choice.finish_reason)
            choice.finish_reason = worst  # pyright: ignore[reportAttributeAccessIssue]
        if choice.delta is None:  # pyright: ignore[reportUnnecessaryComparison] - some servers do
            return
        _adopt_older_form(choice.delta)
        for piece in choice.delta.tool_calls or ():
            self._mend_piece(piece)

    def _mend_piece(self, piece: ChoiceDeltaToolCall) -> None:
        # The SDK checks no types: a server may send anything in these places.
        function = piece.function or ChoiceDeltaToolCallFunction()
        written: object = function.arguments
        text = written if isinstance(written, str) else json.dumps(written) if written else ""
        name = function.name or ""
        call = self._at.get(piece.index)
        if call is None or _begins_another(call, piece.id or "", name, text):
            call = _Call(number=self._count, id=piece.id or "", name=name)
            self._at[piece.index] = call
            self._count += 1
        elif name and name == call.name:
            function.name = None
        else:
            call.name += name
        call.arguments += text
        piece.index = call.number


def _begins_another(call: _Call, call_id: str, name: str, arguments: str) -> bool:
    """Whether a piece with the same index belongs to another call: each call has a name."""
    if not name or (call_id and call_id == call.id):
        return False
    if call_id and call.id:
        return not call.arguments or call.is_whole or arguments.lstrip().startswith("{")
    # Nothing but the arguments tells them apart.
    return call.is_whole


def _adopt_older_form(delta: ChoiceDelta) -> None:
    """`function_call`, which had one call and no id."""
    older = delta.function_call
    if older is not None and not delta.tool_calls:
        function = ChoiceDeltaToolCallFunction(name=older.name, arguments=older.arguments)
        delta.tool_calls = [ChoiceDeltaToolCall(index=0, function=function)]

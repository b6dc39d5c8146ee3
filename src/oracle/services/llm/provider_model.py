"""A provider's model, called through pydantic-ai's direct API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    InstructionPart,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from oracle.errors import ToolProblem
from oracle.services.llm.endings import NOT_SAID, Ending, ending_of
from oracle.services.llm.failures import Failures
from oracle.services.llm.messages import split_prompt, to_direct, well_formed
from oracle.services.llm.protocol import ModelRequest, Part, Prices
from oracle.services.tools.arguments import parsed, read_arguments

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse, ModelResponseStreamEvent
    from pydantic_ai.models import Model as DirectModel
    from pydantic_ai.models import StreamedResponse

    from oracle.models.tool_spec import ToolSpec
    from oracle.services.llm.model_facts import ModelFacts
    from oracle.services.llm.providers import Endpoint


SECONDS_AFTER_FINISH: Final = 2.0
SECONDS_BETWEEN_LOOKS: Final = 0.25


class ProviderModel:
    """Sends each request once.

    Text that was streamed before a failure stays valid. Tool calls are returned only with a
    complete answer. A provider that reports no usage yields none.
    """

    def __init__(
        self, *, endpoint: Endpoint, facts: ModelFacts, direct: DirectModel, stall_seconds: float
    ) -> None:
        self._endpoint = endpoint
        self._facts = facts
        self._direct = direct
        self._failures = Failures(endpoint=endpoint, stall_seconds=stall_seconds)

    @property
    def name(self) -> str:
        return self._endpoint.name

    @property
    def context_window(self) -> int:
        return self._facts.context_window

    @property
    def longest_output(self) -> int:
        return self._facts.longest_output

    @property
    def prices(self) -> Prices | None:
        return self._facts.prices

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part]:
        prompt, conversation = split_prompt(request.messages)
        messages = to_direct(conversation, flags_failures=self._endpoint.provider.flags_failures)
        parameters = _parameters(prompt, request.tools)
        settings = ModelSettings(max_tokens=request.longest_output or self.longest_output)
        try:
            async with model_request_stream(
                self._direct,
                messages,
                model_settings=settings,
                model_request_parameters=parameters,
            ) as response:
                watch = asyncio.create_task(_end_after_finish(response))
                try:
                    async for event in response:
                        part = _part_of(event)
                        if part is not None:
                            yield part
                except Exception:
                    # Cut by the watch. What counts has arrived.
                    if not response.cancelled:
                        raise
                finally:
                    watch.cancel()
                for part in self._last_parts(response):
                    yield part
        except Exception as error:
            raise self._failures.translated(error) from error

    def _last_parts(self, response: StreamedResponse) -> Iterator[Part]:
        whole = response.get()
        details = whole.provider_details or {}
        ending = ending_of(details.get("finish_reason"), details.get("refusal"))
        # Without a finish reason the stream ended early: half an answer is not an answer.
        if ending["kind"] == "broken" or ending == NOT_SAID:
            raise self._failures.broke_off()
        if whole.finish_reason == "tool_call" and not whole.tool_calls:
            # It meant to call a tool, so its text is not the end.
            ending = Ending(kind="unknown", said=ending["said"])
        yield from _calls(whole)
        if ending["kind"] != "whole":
            yield {"ending": {"kind": ending["kind"], "said": well_formed(ending["said"])}}
        used = whole.usage
        # Without it the ledger estimates, and says so.
        if used.input_tokens or used.output_tokens:
            yield {
                "usage": {"input_tokens": used.input_tokens, "output_tokens": used.output_tokens}
            }


async def _end_after_finish(response: StreamedResponse) -> None:
    """End a stream soon after its finish reason, even if the server keeps it open.

    Some servers send no `[DONE]`, but keep-alive comments, which no timeout of the client sees. The
    usage may follow the finish reason, so the stream is given a little time.
    """
    # The library below has no event for this.
    while "finish_reason" not in (response.provider_details or {}):  # noqa: ASYNC110
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
    await asyncio.sleep(SECONDS_AFTER_FINISH)
    await response.cancel()


def _parameters(prompt: str | None, tools: Sequence[ToolSpec]) -> ModelRequestParameters:
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=dict(tool.parameters),
                strict=False,
            )
            for tool in tools
        ],
        instruction_parts=[InstructionPart(content=prompt)] if prompt else [],
    )


def _part_of(event: ModelResponseStreamEvent) -> Part | None:
    """A piece of text or reasoning. The most frequent kind is tested first."""
    kind = type(event)
    if kind is PartDeltaEvent:
        delta = cast("PartDeltaEvent", event).delta
        if type(delta) is TextPartDelta:
            return {"text": well_formed(delta.content_delta)} if delta.content_delta else None
        if type(delta) is ThinkingPartDelta and delta.content_delta:
            return {"reasoning": well_formed(delta.content_delta)}
    elif kind is PartStartEvent:
        part = cast("PartStartEvent", event).part
        if isinstance(part, TextPart) and part.content:
            return {"text": well_formed(part.content)}
        if isinstance(part, ThinkingPart) and part.content:
            return {"reasoning": well_formed(part.content)}
    return None


def _calls(whole: ModelResponse) -> Iterator[Part]:
    for call in whole.tool_calls:
        arguments = _arguments(call.args)
        yield {
            "tool_call": {"id": call.tool_call_id, "name": call.tool_name, "arguments": arguments}
        }


def _arguments(written: str | dict[str, Any] | None) -> dict[str, object] | str:
    """The arguments as an object, or as text if they are not one. No text is an empty object."""
    text = written if isinstance(written, str) else json.dumps(written or {})
    try:
        # Encoded once more: escapes such as `\ud83c` become halves of characters only now.
        return read_arguments(well_formed(json.dumps(parsed(text), ensure_ascii=False)))
    except (ValueError, RecursionError, ToolProblem):
        # As it was written: the check of the call says what is wrong with it.
        return well_formed(text) if text.strip() else {}

"""Reads the streams of servers that speak Anthropic's protocol in their own way.

The library below tells content blocks apart by their `index` alone, and takes the last stop reason.
Some servers give all blocks the same index. Each event is mended before the library sees it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from anthropic.types.beta import (
    BetaRawContentBlockDeltaEvent,
    BetaRawContentBlockStartEvent,
    BetaRawContentBlockStopEvent,
    BetaRawMessageDeltaEvent,
)
from pydantic_ai.models.anthropic import AnthropicModel

from oracle.services.llm.endings import Worst

if TYPE_CHECKING:
    from anthropic.types.beta import BetaRawMessageStreamEvent
    from pydantic_ai.models.anthropic import AnthropicStreamedResponse


class MendedAnthropicModel(AnthropicModel):
    async def _process_streamed_response(
        self, response: Any, *rest: Any, **options: Any
    ) -> AnthropicStreamedResponse:
        # The same kind of stream, around the mended events. It can be peeked into, and closed.
        mended = type(response)(_MendedEvents(response))
        return await super()._process_streamed_response(mended, *rest, **options)


class _MendedEvents:
    def __init__(self, events: Any) -> None:
        self._events = events

    async def __aiter__(self) -> AsyncIterator[BetaRawMessageStreamEvent]:
        mending = Mending()
        async for event in self._events:
            mending.mend(event)
            yield event

    async def close(self) -> None:
        await self._events.source.close()


class Mending:
    """Changes the events of one response in place. Each block gets a number of its own."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._count = 0
        self._ending = Worst()

    def mend(self, event: BetaRawMessageStreamEvent) -> None:
        if isinstance(event, BetaRawContentBlockStartEvent):
            self._numbers[event.index] = self._count
            self._count += 1
        if isinstance(
            event,
            BetaRawContentBlockStartEvent
            | BetaRawContentBlockDeltaEvent
            | BetaRawContentBlockStopEvent,
        ):
            event.index = self._numbers.get(event.index, event.index)
        elif isinstance(event, BetaRawMessageDeltaEvent) and event.delta.stop_reason:
            worst = self._ending.after(event.delta.stop_reason)
            event.delta.stop_reason = worst  # pyright: ignore[reportAttributeAccessIssue]

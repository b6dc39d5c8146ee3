"""The request to the model, and its response as it streams in."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from typing import Any, cast

from oracle.bt.board import ROOM, bb_get, bb_set, board_of, granted_tools, room_of, services_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import say
from oracle.bt.state.base import RUNNING, SUCCESS, RunStatus
from oracle.errors import InterruptedStream, ModelError
from oracle.models.stream_chunk import ChunkType
from oracle.services.ans.event import event_time
from oracle.services.control.repetition import RunawayText
from oracle.services.llm.protocol import ModelRequest, Part
from oracle.services.signals.parser import SignalStreamParser


@action(
    reads=["messages", "is_last_turn", *ROOM],
    writes=["response", "is_runaway", "is_overdrawn"],
)
async def call_model(ctx: TickContext) -> RunStatus:
    """Stream the response. Whatever ends it, what has arrived is kept, with the place of the cut.

    The signal is taken out of the stream as it passes. The tree is woken in mid-stream only when
    one of its guards has something to decide: the text repeats itself. FAILURE if the response gets
    longer than what its turn may cost, although the provider was told how long it may be.
    """
    bb = board_of(ctx)
    model = services_of(ctx).model
    tools = granted_tools(bb)
    room = room_of(ctx)
    payable = room.payable_output(is_last=bb_get(bb, "is_last_turn"))
    request = ModelRequest(
        messages=bb_get(bb, "messages"), tools=tools, longest_output=room.longest_within(payable)
    )
    response = _Response(ctx, partial(room.characters_left, payable))
    turn = ctx.turn

    def source() -> AsyncIterator[Any]:
        if model is None:
            raise ModelError("no language model is configured")
        return cast("AsyncIterator[Any]", model.stream(request))

    # The messages are named by their digest: the record of a turn must not repeat all before it.
    asked = {
        "model": bb_get(bb, "model")["name"],
        "messages": bb_get(bb, "weight")["digest"],
        "tools": [spec.name for spec in tools],
    }
    try:
        # Closed at once if the response is left early: then the provider stops, and stops to cost.
        async with aclosing(cast("AsyncGenerator[Any]", ctx.stream(asked, source))) as parts:
            async for part in parts:
                response.take(cast("Part", part))
                if response.is_overdrawn:
                    bb_set(bb, "is_overdrawn", True)
                    return ctx.fail("the response is longer than its turn may pay for")
        response.close()
    except InterruptedStream:
        response.is_interrupted = True
        raise
    finally:
        # A leaf that ignored its cancellation ends late. By then the run is in another turn, whose
        # response this is not.
        if ctx.turn == turn:
            bb_set(bb, "response", response.as_data())
    return SUCCESS


@action(reads=["response", "was_awaited"], writes=["response", "was_awaited"])
def keep_what_arrived(ctx: TickContext) -> RunStatus:
    """Wait one tick for the response of a halted call, then go on with what there is.

    A halted leaf has ended before the next tick, and has left its response on the board by then.
    A call that did not end is abandoned, and its response is empty.
    """
    bb = board_of(ctx)
    if bb_get(bb, "response") is not None:
        return SUCCESS
    if not bb_get(bb, "was_awaited"):
        bb_set(bb, "was_awaited", True)
        ctx.wake()
        return RUNNING
    bb_set(bb, "response", _Response(ctx, lambda _: 0).as_data())
    return SUCCESS


class _Response:
    """A response as it arrives, part by part."""

    __slots__ = (
        "_calls",
        "_characters",
        "_characters_left",
        "_ctx",
        "_is_complete",
        "_most_characters",
        "_parser",
        "_runaway",
        "_said",
        "_text",
        "_usage",
        "is_interrupted",
        "is_overdrawn",
    )

    def __init__(self, ctx: TickContext, characters_left: Callable[[str], int]) -> None:
        """`characters_left` says how many more can be paid for after a text, at the least."""
        self._ctx = ctx
        self._characters_left = characters_left
        self._most_characters = characters_left("")
        self._said: list[str] = []
        self._parser = SignalStreamParser(now=_now)
        self._runaway = RunawayText()
        self._text: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._usage: dict[str, Any] | None = None
        self._characters = 0
        # Complete: the provider has ended the stream. Interrupted: the process died in the middle
        # of it, and this is its record. A call that a guard has halted is neither.
        self._is_complete = False
        self.is_interrupted = False
        self.is_overdrawn = False

    def take(self, part: Part) -> None:
        if "text" in part:
            # The parser may hold a few characters back, but every character is paid for at once.
            self._show(self._parser.feed(part["text"]))
            self._count(part["text"])
            if self._runaway.feed(part["text"]):
                bb_set(board_of(self._ctx), "is_runaway", True)
                self._ctx.wake()
        elif "reasoning" in part:
            self._count(part["reasoning"])
            say(self._ctx, ChunkType.REASONING, content=part["reasoning"])
        elif "tool_call" in part:
            self._calls.append(dict(part["tool_call"]))
            # A call arrives whole, and is the end of a response: there is nothing left to stop.
            self._characters += len(json.dumps(part["tool_call"]))
        elif "usage" in part:
            # Providers send running totals, so the last one counts.
            self._usage = dict(part["usage"])

    def close(self) -> None:
        self._is_complete = True

    def as_data(self) -> dict[str, Any]:
        # Closing the parser releases what it held back, also for a stream that was cut.
        self._show(self._parser.close())
        signal = self._parser.signal
        return {
            "text": "".join(self._text).strip(),
            "calls": self._calls,
            "usage": self._usage,
            "characters": self._characters,
            "signal": None if signal is None else signal.to_dict(),
            # One valid signal makes up for a broken one next to it.
            "malformed": self._parser.malformed and signal is None,
            "malformed_xml": self._parser.malformed_xml,
            "warnings": self._parser.warnings,
            "is_complete": self._is_complete,
            "is_interrupted": self.is_interrupted,
            "node": self._ctx.node_path,
        }

    def _show(self, visible: str) -> None:
        if visible:
            self._text.append(visible)
            say(self._ctx, ChunkType.CONTENT, content=visible)

    def _count(self, text: str) -> None:
        """Reasoning is paid for like text."""
        self._said.append(text)
        self._characters += len(text)
        if self._characters > self._most_characters:
            # The text is measured only here: its length alone is a rough measure, but a quick one.
            left = self._characters_left("".join(self._said))
            self.is_overdrawn = left <= 0
            self._most_characters = self._characters + left


def _now() -> datetime:
    return datetime.fromtimestamp(event_time(), UTC)

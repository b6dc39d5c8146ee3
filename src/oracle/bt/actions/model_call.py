"""The request to the model, and its response as it streams in."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final, cast

from oracle.bt.board import OFFER, bb_get, bb_set, board_of, granted_tools, ledger_of, services_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import BOOKED, book, say, say_system
from oracle.bt.state.base import RUNNING, SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.errors import InterruptedStream, ModelError
from oracle.models.stream_chunk import ChunkType
from oracle.services.ans.event import event_time
from oracle.services.control.conversation import CHARACTERS_OF_A_TOKEN
from oracle.services.control.repetition import RunawayText
from oracle.services.llm.endings import WHOLE, Ending
from oracle.services.llm.protocol import Message, ModelRequest, Part
from oracle.services.signals.parser import SignalStreamParser

log = logging.getLogger(__name__)

ANYTHING: Final = 1
CONTINUATIONS: Final = 4
"""How often a text that reaches the longest output is continued. A model that never ends is
stopped by this.
"""
SHORTEST_CONTINUATION: Final = 128
"""Tokens. With less room it is better to say that the text was cut."""
GO_ON: Final = (
    "Your response reached its longest output and was cut. Continue exactly where it stopped, in "
    "the middle of a word if need be. Repeat nothing, add no introduction, and end with the signal."
)


@action(
    reads=["messages", "is_last_turn", "is_runaway", *OFFER, *BOOKED],
    writes=["response", "is_runaway", "is_overdrawn", "ledger"],
)
async def call_model(ctx: TickContext) -> RunStatus:
    """Stream the response. Whatever ends it, what has arrived is kept, with the place of the cut.

    A text that reaches the longest output is continued by further requests, as far as the ledger
    and the context window allow. It stays one response: its text and its signal may cross the seam.

    The signal is taken out of the stream as it passes. The tree is woken in mid-stream only when
    one of its guards has something to decide: the budget is overdrawn, or the text repeats itself.
    """
    bb = board_of(ctx)
    response = _Response(ctx, _most_characters(bb))
    turn = ctx.turn
    messages: list[Message] = bb_get(bb, "messages")
    longest: int = bb_get(bb, "model")["longest_output"]
    try:
        await _stream(ctx, response, messages, longest)
        for _ in range(CONTINUATIONS):
            longest = _room_to_continue(bb, response)
            if longest < SHORTEST_CONTINUATION:
                break
            messages = _continued(bb_get(bb, "messages"), response.raw)
            with response.continued():
                await _stream(ctx, response, messages, longest)
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


async def _stream(
    ctx: TickContext, response: _Response, messages: Sequence[Message], longest_output: int
) -> None:
    bb = board_of(ctx)
    model = services_of(ctx).model
    tools = granted_tools(bb)
    request = ModelRequest(messages=messages, tools=tools, longest_output=longest_output)

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
    async for part in ctx.stream(asked, source):
        response.take(cast("Part", part))


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
    bb_set(bb, "response", _Response(ctx, ANYTHING).as_data())
    return SUCCESS


class _Response:
    """A response as it arrives, part by part."""

    __slots__ = (
        "_calls",
        "_characters",
        "_continues",
        "_ctx",
        "_ending",
        "_is_complete",
        "_most_characters",
        "_parser",
        "_raw",
        "_runaway",
        "_text",
        "_usage",
        "is_interrupted",
    )

    def __init__(self, ctx: TickContext, most_characters: int) -> None:
        self._ctx = ctx
        self._most_characters = most_characters
        self._parser = SignalStreamParser(now=_now)
        self._runaway = RunawayText()
        self._text: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._raw: list[str] = []
        self._usage: dict[str, Any] | None = None
        self._ending: Ending = WHOLE
        self._characters = 0
        self._continues = 0  # characters of the text that the request under way continues
        # Complete: the provider has ended the stream. Interrupted: the process died in the middle
        # of it, and this is its record. A call that a guard has halted is neither.
        self._is_complete = False
        self.is_interrupted = False

    def take(self, part: Part) -> None:
        if "text" in part:
            # The parser may hold a few characters back, but every character is paid for at once.
            self._show(self._parser.feed(part["text"]))
            self._raw.append(part["text"])
            self._count(part["text"])
            if self._runaway.feed(part["text"]):
                self._raise("is_runaway")
        elif "reasoning" in part:
            self._count(part["reasoning"])
            say(self._ctx, ChunkType.REASONING, content=part["reasoning"])
        elif "tool_call" in part:
            self._calls.append(dict(part["tool_call"]))
        elif "usage" in part:
            # Providers send running totals, so the last one counts.
            self._usage = dict(part["usage"])
        elif "ending" in part:
            self._ending = part["ending"]

    @property
    def raw(self) -> str:
        """All text so far as the model wrote it, with its signal."""
        return "".join(self._raw)

    @property
    def can_go_on(self) -> bool:
        """Whether it stopped at a limit of the provider in the middle of its text, and the last
        request brought a part of that text.
        """
        is_cut = self._ending["kind"] in ("length", "pause")
        return is_cut and bool(self._raw) and self._characters > 0 and not self._calls

    @contextmanager
    def continued(self) -> Generator[None]:
        """Book the request that was cut, and go on with the next one. If that one fails, the text
        stays as it is: cut.
        """
        say_system(self._ctx, "The answer reached its longest output; asking for the rest.")
        book(self._ctx, self.cost())
        cut, self._ending = self._ending, WHOLE
        self._usage, self._characters, self._continues = None, 0, len(self.raw)
        self._most_characters = _most_characters(board_of(self._ctx))
        try:
            yield
        except ModelError as problem:
            log.warning("the response could not be continued: %s", problem)
            self._ending = cut

    def cost(self) -> dict[str, Any]:
        """What `book` needs of the request under way."""
        return {
            "usage": self._usage,
            "characters": self._characters,
            "continues": self._continues,
            "node": self._ctx.node_path,
        }

    def close(self) -> None:
        self._is_complete = True

    def as_data(self) -> dict[str, Any]:
        # Closing the parser releases what it held back, also for a stream that was cut.
        self._show(self._parser.close())
        signal = self._parser.signal
        return {
            "text": "".join(self._text).strip(),
            "calls": self._calls,
            "ending": {**self._ending},
            **self.cost(),
            "signal": None if signal is None else signal.to_dict(),
            # One valid signal makes up for a broken one next to it.
            "malformed": self._parser.malformed and signal is None,
            "malformed_xml": self._parser.malformed_xml,
            "warnings": self._parser.warnings,
            "is_complete": self._is_complete,
            "is_interrupted": self.is_interrupted,
        }

    def _show(self, visible: str) -> None:
        if visible:
            self._text.append(visible)
            say(self._ctx, ChunkType.CONTENT, content=visible)

    def _count(self, text: str) -> None:
        """Reasoning is paid for like text."""
        self._characters += len(text)
        if self._characters > self._most_characters:
            self._raise("is_overdrawn")

    def _raise(self, flag: str) -> None:
        bb_set(board_of(self._ctx), flag, True)
        self._ctx.wake()


def _continued(messages: Sequence[Message], raw: str) -> list[Message]:
    """The request for the rest of a text that was cut."""
    so_far: Message = {"role": "assistant", "content": raw}
    go_on: Message = {"role": "system", "content": GO_ON}
    return [*messages, so_far, go_on]


def _room_to_continue(bb: TypedBlackboard, response: _Response) -> int:
    """The longest output that another request for the rest may have; 0 if there is no rest.

    Unless this turn is the last one, the last request must be affordable after it.
    """
    if not response.can_go_on or bb_get(bb, "is_runaway"):
        return 0
    model = bb_get(bb, "model")
    cost = response.cost()
    usage: dict[str, int] = cost["usage"] or {}
    used = sum(usage.values()) or cost["characters"] // CHARACTERS_OF_A_TOKEN
    sent = bb_get(bb, "weight")["tokens"] + len(response.raw) // CHARACTERS_OF_A_TOKEN
    ledger = ledger_of(bb)
    later = 0 if bb_get(bb, "is_last_turn") else sent + model["longest_output"]
    affordable = ledger.limits.tokens - ledger.tokens - used - sent - later
    in_the_window = model["context_window"] - sent
    return min(model["longest_output"], affordable, in_the_window)


def _now() -> datetime:
    return datetime.fromtimestamp(event_time(), UTC)


def _most_characters(bb: TypedBlackboard) -> int:
    """How much output the token budget can pay for after the input."""
    ledger = ledger_of(bb)
    left = ledger.limits.tokens - ledger.tokens - bb_get(bb, "weight")["tokens"]
    return max(ANYTHING, left * CHARACTERS_OF_A_TOKEN)

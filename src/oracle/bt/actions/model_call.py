"""The request to the model, and its response as it streams in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, Final, cast

from oracle.bt.board import (
    OFFER,
    all_tools,
    bb_get,
    bb_set,
    board_of,
    granted_tools,
    ledger_of,
    services_of,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import say
from oracle.bt.state.base import RUNNING, SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.errors import InterruptedStream, ModelError
from oracle.models.stream_chunk import ChunkType
from oracle.services.ans.event import event_time
from oracle.services.control.conversation import CHARACTERS_OF_A_TOKEN
from oracle.services.control.repetition import RunawayText
from oracle.services.llm.protocol import ModelRequest, Part
from oracle.services.signals.own_marks import DATA_MARK
from oracle.services.signals.own_text import OwnTextFilter
from oracle.services.signals.own_words import OwnText, words_of_messages, words_of_prompt
from oracle.services.signals.parser import FoundElement, SignalStreamParser
from oracle.services.signals.said import with_signals, within

ANYTHING: Final = 1
KEEPS_SIGNALS: Final = 3
"""From this format of records on, the model is sent its own signals back."""
HIDES_OWN_TEXT: Final = 3
"""From this format on, our own text is hidden where a response repeats it."""


@action(
    reads=["messages", "weight", "ledger", "model", *OFFER],
    writes=["response", "is_runaway", "is_overdrawn"],
)
async def call_model(ctx: TickContext) -> RunStatus:
    """Stream the response. Whatever ends it, what has arrived is kept, with the place of the cut.

    The signal is taken out of the stream as it passes. The tree is woken in mid-stream only when
    one of its guards has something to decide: the budget is overdrawn, or the text repeats itself.
    """
    bb = board_of(ctx)
    model = services_of(ctx).model
    tools = granted_tools(bb)
    request = ModelRequest(
        messages=bb_get(bb, "messages"),
        tools=tools,
        longest_output=bb_get(bb, "model")["longest_output"],
    )
    response = _Response(ctx, _most_characters(bb), _own_text(ctx))
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
        async for part in ctx.stream(asked, source):
            response.take(cast("Part", part))
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
    bb_set(bb, "response", _Response(ctx, ANYTHING).as_data())
    return SUCCESS


class _Response:
    """A response as it arrives, part by part."""

    __slots__ = (
        "_calls",
        "_characters",
        "_ctx",
        "_is_complete",
        "_most_characters",
        "_own_text",
        "_parser",
        "_runaway",
        "_signals",
        "_text",
        "_usage",
        "is_interrupted",
    )

    def __init__(
        self, ctx: TickContext, most_characters: int, own_text: OwnTextFilter | None = None
    ) -> None:
        self._ctx = ctx
        self._own_text = own_text
        self._most_characters = most_characters
        self._parser = SignalStreamParser(now=_now)
        self._runaway = RunawayText()
        self._text: list[str] = []
        # With their places in the text. What one hides that is never closed may still grow.
        self._signals: list[tuple[FoundElement, int]] = []
        self._calls: list[dict[str, Any]] = []
        self._usage: dict[str, Any] | None = None
        self._characters = 0
        # Complete: the provider has ended the stream. Interrupted: the process died in the middle
        # of it, and this is its record. A call that a guard has halted is neither.
        self._is_complete = False
        self.is_interrupted = False

    def take(self, part: Part) -> None:
        if "text" in part:
            # What is held back or hidden is paid for too, and at once.
            self._read(part["text"])
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

    def close(self) -> None:
        self._is_complete = True

    def as_data(self) -> dict[str, Any]:
        # Closing releases what was held back, also for a stream that was cut.
        if self._own_text is not None:
            self._show(self._parser.feed(self._own_text.close(was_cut=not self._is_complete)))
        self._show(self._parser.close())
        signal = self._parser.signal
        shown = "".join(self._text)
        data = {
            "text": shown.strip(),
            "calls": self._calls,
            "usage": self._usage,
            "characters": self._characters,
            "signal": None if signal is None else signal.to_dict(),
            # One valid signal makes up for a broken one next to it.
            "malformed": self._parser.malformed and signal is None,
            "warnings": self._parser.warnings,
            "is_complete": self._is_complete,
            "is_interrupted": self.is_interrupted,
            "node": self._ctx.node_path,
        }
        if services_of(self._ctx).record_format < KEEPS_SIGNALS:
            malformed = (found.raw_xml for found in self._parser.found if found.signal is None)
            return {**data, "malformed_xml": next(malformed, "")}
        signals = [self._signal_data(found, at) for found, at in self._signals]
        return {
            **data,
            "said": with_signals(shown, signals).strip(),
            "signals": within(shown, signals),
            "signals_in_all": self._parser.found_in_all,
        }

    def _read(self, text: str) -> None:
        # Before signals are read: those of our own examples are not the model's.
        own = text if self._own_text is None else self._own_text.feed(text)
        if own:
            self._show(self._parser.feed(own))

    def _show(self, visible: str) -> None:
        if len(self._parser.found) > len(self._signals):
            before = sum(map(len, self._text))
            new = self._parser.found[len(self._signals) :]
            self._signals += [(found, before + found.at) for found in new]
        if visible:
            self._text.append(visible)
            say(self._ctx, ChunkType.CONTENT, content=visible)

    def _signal_data(self, found: FoundElement, at: int) -> dict[str, Any]:
        signal = found.signal
        data = {} if signal is None else signal.to_dict()
        data |= {"raw_xml": found.raw_xml, "at": at, "problems": [*found.problems]}
        return {**data, "counts": signal is not None and signal is self._parser.signal}

    def _count(self, text: str) -> None:
        """Reasoning is paid for like text."""
        self._characters += len(text)
        if self._characters > self._most_characters:
            self._raise("is_overdrawn")

    def _raise(self, flag: str) -> None:
        bb_set(board_of(self._ctx), flag, True)
        self._ctx.wake()


def _own_text(ctx: TickContext) -> OwnTextFilter | None:
    """Recognises what we have put into the request, unless the model has also read it elsewhere."""
    if services_of(ctx).record_format < HIDES_OWN_TEXT:
        return None
    bb = board_of(ctx)
    prompt, *messages = cast("list[dict[str, Any]]", bb_get(bb, "messages"))
    ours = [m["content"] for m in messages if m["role"] == "system" and "coverage" not in m]
    facts = [m["content"] for m in messages if m.get("is_facts")]
    # What is quoted in the facts belongs to the project.
    ours += [block.partition("\nFrom ")[0] for block in facts]

    def is_source(text: str) -> bool:
        return any(
            text in m["content"]
            for m in messages
            if m["role"] != "system" and not m.get("is_facts")
        )

    names = tuple(spec.name for spec in all_tools(bb))
    own = OwnText(words_of_prompt(prompt["content"], names), words_of_messages(tuple(ours)))
    results = (m["content"] for m in messages if m["role"] == "tool")
    summaries = {content.partition("\n")[0] for content in results if DATA_MARK in content}
    return OwnTextFilter(own, is_source, summaries - {""})


def _now() -> datetime:
    return datetime.fromtimestamp(event_time(), UTC)


def _most_characters(bb: TypedBlackboard) -> int:
    """How much output the token budget can pay for after the input."""
    ledger = ledger_of(bb)
    left = ledger.limits.tokens - ledger.tokens - bb_get(bb, "weight")["tokens"]
    return max(ANYTHING, left * CHARACTERS_OF_A_TOKEN)

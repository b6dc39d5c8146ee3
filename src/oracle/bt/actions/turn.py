"""One turn: a request to the model, and what its response says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, cast

from oracle.bt.actions.oracle import add_system_message, bb_get, bb_set
from oracle.bt.actions.state import append, board_of, granted_tools, ledger_of, set_ledger
from oracle.bt.actions.telling import report, say, say_system, services_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import RUNNING, SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.errors import InterruptedStream, ModelError
from oracle.models.signals import same_reason_count
from oracle.models.stream_chunk import ChunkType
from oracle.services.ans.event import event_time
from oracle.services.control.conversation import Weight, compacted
from oracle.services.control.repetition import RunawayText
from oracle.services.llm.protocol import ModelRequest, Part, Prices
from oracle.services.signals.parser import SignalStreamParser

CHARACTERS_OF_A_TOKEN: Final = 3
LONGEST_CUT_TEXT: Final = 2_000
COMPACTED: Final = "Old tool results were shortened to make room."


@action(
    reads=["messages", "weight", "ledger", "model", "granted", "withdrawn", "tools_withdrawn"],
    writes=[
        "weight",
        "ledger",
        "response",
        "signal",
        "calls",
        "was_awaited",
        "seconds_left",
        "turn_began_at",
        "turn_is_open",
        "is_last_turn",
        "offered",
    ],
)
def begin_turn(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    ctx.turn += 1
    ctx.mark_progress()
    ledger = ledger_of(bb).with_turn()
    set_ledger(bb, ledger)
    weigh(bb)
    note_time_left(ctx)
    bb_set(bb, "turn_began_at", ctx.now)
    bb_set(bb, "response", None)
    bb_set(bb, "was_awaited", False)
    bb_set(bb, "signal", None)
    bb_set(bb, "calls", [])
    bb_set(bb, "turn_is_open", True)
    bb_set(bb, "is_last_turn", bb_get(bb, "tools_withdrawn"))
    bb_set(bb, "offered", [spec.name for spec in granted_tools(bb)])
    report("turn.started", tools=bb_get(bb, "offered"))
    return SUCCESS


@action(reads=["messages", "weight"], writes=["weight"])
def weigh_messages(ctx: TickContext) -> RunStatus:
    weigh(board_of(ctx))
    return SUCCESS


@action(reads=["messages", "weight"], writes=["messages", "weight"])
def compact(ctx: TickContext) -> RunStatus:
    """Shorten old results, say so to the user, and tell the model how to work with that."""
    bb = board_of(ctx)
    smaller = compacted(bb_get(bb, "messages"))
    if smaller.shortened:
        bb_set(bb, "messages", smaller.messages)
        bb_set(bb, "weight", Weight().to_dict())
        say_system(ctx, COMPACTED)
    for segment in services_of(ctx).prompt_segments:
        if segment.id == "summarization" and not _was_told(bb, segment.content):
            add_system_message(bb, segment.content)
    weigh(bb)
    return SUCCESS


@action(
    reads=["messages", "weight", "ledger", "model", "granted", "withdrawn", "tools_withdrawn"],
    writes=["response", "is_runaway", "is_overdrawn"],
)
async def call_model(ctx: TickContext) -> RunStatus:
    """Stream the response. Whatever ends it, what came so far is kept, with the place of the cut.

    The signal is taken out of the stream as it passes. The tree is woken in mid-stream only where
    one of its guards has something to say: a ledger that is overdrawn, a text that goes in circles.
    """
    bb = board_of(ctx)
    model = services_of(ctx).model
    tools = granted_tools(bb)
    longest_output: int = bb_get(bb, "model")["longest_output"]
    request = ModelRequest(
        messages=bb_get(bb, "messages"), tools=tools, longest_output=longest_output
    )
    response = _Response(ctx, _most_characters(bb))
    turn = ctx.turn

    def source() -> AsyncIterator[Any]:
        if model is None:
            raise ModelError("no language model is configured")
        return cast("AsyncIterator[Any]", model.stream(request))

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
        if ctx.turn == turn:  # else it would not be closed, and the run has gone on without it
            bb_set(bb, "response", response.as_data())
    return SUCCESS


@action(reads=["response", "was_awaited"], writes=["response", "was_awaited"])
def await_what_came(ctx: TickContext) -> RunStatus:
    """A leaf that was halted has ended before the next tick; then what came is here.

    One that does not end is left behind, and nothing came.
    """
    bb = board_of(ctx)
    if bb_get(bb, "response") is not None:
        return SUCCESS
    if not bb_get(bb, "was_awaited"):
        bb_set(bb, "was_awaited", True)
        ctx.wake()
        return RUNNING
    bb_set(bb, "response", _Response(ctx, 1).as_data())
    return SUCCESS


class _Response:
    """A response as it comes in."""

    __slots__ = (
        "_calls",
        "_characters",
        "_ctx",
        "_is_complete",
        "_most_characters",
        "_parser",
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
        self._usage: dict[str, Any] | None = None
        self._characters = 0
        self._is_complete = False
        self.is_interrupted = False

    def take(self, part: Part) -> None:
        if "text" in part:
            self._show(self._parser.feed(part["text"]))
            self._watch(part["text"])
        elif "reasoning" in part:
            self._count(part["reasoning"])
            say(self._ctx, ChunkType.REASONING, content=part["reasoning"])
        elif "tool_call" in part:
            self._calls.append(dict(part["tool_call"]))
        elif "usage" in part:
            self._usage = dict(part["usage"])

    def close(self) -> None:
        self._is_complete = True

    def as_data(self) -> dict[str, Any]:
        self._show(self._parser.close())
        signal = self._parser.signal
        return {
            "text": "".join(self._text).strip(),
            "calls": self._calls,
            "usage": self._usage,
            "characters": self._characters,
            "signal": None if signal is None else signal.to_dict(),
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

    def _watch(self, text: str) -> None:
        self._count(text)
        if self._runaway.feed(text):
            self._raise("is_runaway")

    def _count(self, text: str) -> None:
        """What is thought aloud is paid for too."""
        self._characters += len(text)
        if self._characters > self._most_characters:
            self._raise("is_overdrawn")

    def _raise(self, flag: str) -> None:
        bb_set(board_of(self._ctx), flag, True)
        self._ctx.wake()


@action(
    reads=[
        "response",
        "ledger",
        "model",
        "weight",
        "turn_began_at",
        "messages",
        "signals",
        "accumulated_content",
        "turns_without_signal",
        "consecutive_same_reason",
        "last_signal",
        "malformed_responses",
        "is_last_turn",
    ],
    writes=[
        "ledger",
        "messages",
        "signal",
        "signals",
        "last_signal",
        "signal_consulted",
        "signal_malformed",
        "turns_without_signal",
        "turns_at_last_fallback",
        "consecutive_same_reason",
        "accumulated_content",
        "calls",
        "answer_so_far",
        "malformed_responses",
        "empty_responses",
        "seconds_left",
    ],
)
def take_in_response(ctx: TickContext) -> RunStatus:
    """Book what it cost, note its signal, and put it into the conversation."""
    bb = board_of(ctx)
    response: dict[str, Any] = bb_get(bb, "response")
    book(ctx, bb, response)
    note_time_left(ctx)
    _note_signal(ctx, bb, response)
    text: str = response["text"]
    if not response["is_complete"]:
        text = text[:LONGEST_CUT_TEXT]
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if response["calls"]:
        message["tool_calls"] = response["calls"]
        bb_set(bb, "calls", response["calls"])
    if text:
        bb_set(bb, "answer_so_far", text)
        said: str = bb_get(bb, "accumulated_content")
        bb_set(bb, "accumulated_content", f"{said}\n\n{text}" if said else text)
    if text or response["calls"]:
        append(bb, "messages", message)
    if (text or response["calls"]) and not bb_get(bb, "is_last_turn"):
        bb_set(bb, "empty_responses", 0)
    return SUCCESS


def end_turn(ctx: TickContext, outcome: str) -> None:
    """Say what became of the turn, to the user and to whoever watches."""
    bb = board_of(ctx)
    bb_set(bb, "turn_is_open", False)
    usage = ledger_of(bb).usage(ctx.now) if bb_get(bb, "ledger") else {}
    say(ctx, ChunkType.TURN_END, outcome=outcome, usage=usage)
    report("turn.ended", outcome=outcome, usage=usage)


@action(reads=["response", "ledger"], writes=["turn_is_open"])
def go_on(ctx: TickContext) -> RunStatus:
    """The turn is over and another follows: what it said was a draft."""
    end_turn(ctx, outcome_of(bb_get(board_of(ctx), "response")))
    return SUCCESS


def outcome_of(response: Mapping[str, Any] | None) -> str:
    """What a response is that was not the answer."""
    if response is None or not response["is_complete"]:
        return "cut"
    if response["calls"]:
        return "tools"
    return "draft" if response["text"] else "empty"


def note_time_left(ctx: TickContext) -> None:
    """For whatever begins to wait now: a response, tools, a person."""
    bb = board_of(ctx)
    ledger = ledger_of(bb)
    bb_set(bb, "seconds_left", ledger.limits.seconds - ledger.spent("seconds", ctx.now))


def weigh(bb: TypedBlackboard) -> Weight:
    """Weigh the messages that came since the last time."""
    weight = Weight.from_dict(bb_get(bb, "weight")).with_all(bb_get(bb, "messages"))
    bb_set(bb, "weight", weight.to_dict())
    return weight


def prices_of(bb: TypedBlackboard) -> Prices | None:
    prices = bb_get(bb, "model")["prices"]
    return None if prices is None else Prices.from_dict(prices)


def _now() -> datetime:
    return datetime.fromtimestamp(event_time(), UTC)


def _was_told(bb: TypedBlackboard, text: str) -> bool:
    return any(message["content"] == text for message in bb_get(bb, "messages"))


def _most_characters(bb: TypedBlackboard) -> int:
    """How much the ledger can pay for besides the input."""
    ledger = ledger_of(bb)
    left = ledger.limits.tokens - ledger.tokens - bb_get(bb, "weight")["tokens"]
    return max(1, left * CHARACTERS_OF_A_TOKEN)


def book(ctx: TickContext, bb: TypedBlackboard, response: dict[str, Any]) -> None:
    usage: dict[str, int] | None = response["usage"]
    if usage is None:
        written = response["characters"] // CHARACTERS_OF_A_TOKEN
        usage = {"input_tokens": bb_get(bb, "weight")["tokens"], "output_tokens": written}
    prices = prices_of(bb)
    money = 0.0 if prices is None else prices.cost(**usage)
    seconds = ctx.now - bb_get(bb, "turn_began_at")
    tokens = usage["input_tokens"] + usage["output_tokens"]
    set_ledger(bb, ledger_of(bb).with_usage(tokens, money, seconds))


def _note_signal(ctx: TickContext, bb: TypedBlackboard, response: dict[str, Any]) -> None:
    signal: dict[str, Any] | None = response["signal"]
    bb_set(bb, "signal", signal)
    bb_set(bb, "signal_malformed", response["malformed"])
    if response["malformed"]:
        bb_set(bb, "malformed_responses", bb_get(bb, "malformed_responses") + 1)
        problem = "; ".join(response["warnings"])
        report("signal.malformed", problem=problem, raw_xml=response["malformed_xml"])
    if signal is None:
        silent = bb_get(bb, "turns_without_signal") + 1
        bb_set(bb, "turns_without_signal", silent)
        bb_set(bb, "consecutive_same_reason", 0)
        if not response["malformed"]:
            report("signal.missing", turns_without_signal=silent)
        return
    count: int = bb_get(bb, "consecutive_same_reason")
    times = same_reason_count(count, bb_get(bb, "last_signal"), signal)
    bb_set(bb, "consecutive_same_reason", times)
    bb_set(bb, "turns_without_signal", 0)
    bb_set(bb, "turns_at_last_fallback", 0)
    bb_set(bb, "last_signal", signal)
    bb_set(bb, "signal_consulted", False)
    told = {name: signal[name] for name in ("type", "confidence")}
    append(bb, "signals", {"turn": ctx.turn, **told})
    fields = {
        k: v for k, v in signal.items() if k not in ("type", "confidence", "raw_xml", "timestamp")
    }
    say(ctx, ChunkType.SIGNAL, signal={**told, **fields})
    report("signal.received", **told, fields=fields)

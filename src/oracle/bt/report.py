"""How leaves report: messages for the model, chunks for the user, events for the record, costs for
the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any, Final

from oracle.bt.board import (
    ROOM,
    bb_get,
    bb_set,
    board_of,
    ledger_of,
    prices_of,
    room_of,
    services_of,
    set_ledger,
)
from oracle.bt.core.context import TickContext
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.state.schema import Json
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.ans.bus import get_event_bus
from oracle.services.ans.event import Event, Severity
from oracle.services.control.conversation import TOKENS_OF_A_CHARACTER

BOOKED: Final = ("turn_began_at", "is_last_turn", *ROOM)
"""The keys that booking a response touches."""


def tell_model(bb: TypedBlackboard, text: str, **data: Json) -> None:
    """Add a system message, which the model reads before its next turn. `data` says the same to
    the embedded model.
    """
    message: dict[str, Json] = {"role": "system", "content": text, **data}
    bb_set(bb, "messages", [*(bb_get(bb, "messages") or []), message])


def say(ctx: TickContext, type_: ChunkType, **data: Any) -> None:
    services_of(ctx).say(OracleStreamChunk(type=type_, turn=ctx.turn, data=data))


def say_system(ctx: TickContext, text: str, severity: str = "info") -> None:
    say(ctx, ChunkType.SYSTEM, content=text, severity=severity)


def say_verdict(ctx: TickContext, verdict: str, reason: str = "") -> None:
    """Say what the tree made of the signal of this turn. The node that decided is the caller's."""
    signal: dict[str, Any] = bb_get(board_of(ctx), "signal") or {}
    decision: dict[str, Any] = {"signal": signal.get("type"), "verdict": verdict, "reason": reason}
    say(ctx, ChunkType.VERDICT, **decision, node=ctx.node_path)
    # The fallback reports its decisions with more facts.
    if not verdict.startswith("fallback_"):
        report(ctx, "decision.made", **decision)


def report(
    ctx: TickContext, type_: str, severity: Severity = Severity.INFO, **payload: Any
) -> None:
    """Emit an event. Its source is the node that reports it."""
    bus = get_event_bus()
    if bus.hears(type_):
        bus.emit(Event(type=type_, source=ctx.node_path, severity=severity, payload=payload))


def end_turn(ctx: TickContext, outcome: str) -> None:
    """Say what the turn was: an answer, a draft, tools, empty or cut.

    The answer that the tree writes in the model's place is said after the end of the last turn. It
    ends no turn of its own, so each turn has one event.
    """
    bb = board_of(ctx)
    usage = ledger_of(bb).usage(ctx.now) if bb_get(bb, "ledger") else {}
    say(ctx, ChunkType.TURN_END, outcome=outcome, usage=usage)
    if bb_get(bb, "turn_is_open"):
        report(ctx, "turn.ended", outcome=outcome, usage=usage)
    bb_set(bb, "turn_is_open", False)


def outcome_of(response: Mapping[str, Any] | None) -> str:
    """What a response is that was not the answer."""
    if response is None or not response["is_complete"]:
        return "cut"
    if response["calls"]:
        return "tools"
    return "draft" if response["text"] else "empty"


def book(ctx: TickContext, response: Mapping[str, Any]) -> None:
    """Add to the ledger what a response of the conversation cost, as far as it has arrived.

    A request that was refused costs nothing. The provider's count is also a measure for the
    estimates of later requests.
    """
    if response.get("was_refused"):
        return
    seconds = ctx.now - bb_get(board_of(ctx), "turn_began_at")
    counted: Mapping[str, int] | None = response["usage"]
    sent = _sent(ctx, response)
    usage = usage_of(ctx, response)
    book_usage(ctx, response["node"], usage, seconds, is_estimate=counted is None)
    if counted is not None:
        note_count(ctx, sent, counted)


def book_once(ctx: TickContext, response: Mapping[str, Any]) -> None:
    """Book it unless that was done: a response that was cut may be met again when the run ends."""
    if not response.get("is_booked"):
        book(ctx, response)
        bb_set(board_of(ctx), "response", {**response, "is_booked": True})


def usage_of(ctx: TickContext, response: Mapping[str, Any]) -> Mapping[str, int]:
    """What a response has cost so far: by the provider's count, else by our estimate."""
    by_length: float = response["characters"] * TOKENS_OF_A_CHARACTER
    written: float = response.get("output", by_length)
    return response["usage"] or estimated_usage(
        ctx, _sent(ctx, response), written, was_cut=not response["is_complete"]
    )


def _sent(ctx: TickContext, response: Mapping[str, Any]) -> int:
    """The estimated tokens of its request."""
    room = room_of(ctx)
    return room.messages + room.tools + response["continues"]


def note_count(ctx: TickContext, estimated: int, usage: Mapping[str, int]) -> None:
    """Note how the provider counted an input that we had estimated."""
    bb = board_of(ctx)
    set_ledger(bb, ledger_of(bb).with_count(estimated, usage["input_tokens"]))


def estimated_usage(
    ctx: TickContext, sent: int, written: float, *, was_cut: bool
) -> dict[str, int]:
    """For a request that no provider has counted: its provider does not count, or it was cut.

    `sent` and `written` are the estimated tokens of its input and of its output so far. For a
    request that was cut the estimate of the input is as careful as before it: its provider does
    count, but it will not say what. The output was written, whatever the request had allowed.
    """
    room = room_of(ctx)
    ratio = max(1.0, room.ledger.counted)
    read = room.counted(sent) if was_cut else ceil(sent * ratio)
    return {"input_tokens": read, "output_tokens": ceil(written * ratio)}


def money_for(bb: TypedBlackboard, usage: Mapping[str, int]) -> float:
    prices = prices_of(bb)
    return 0.0 if prices is None else prices.cost(**usage)


def book_usage(
    ctx: TickContext,
    node: str,
    usage: Mapping[str, int],
    seconds: float,
    *,
    is_estimate: bool,
) -> None:
    """Add what a request cost to the ledger, and say which node spent it."""
    bb = board_of(ctx)
    money = money_for(bb, usage)
    tokens = usage["input_tokens"] + usage["output_tokens"]
    ledger = ledger_of(bb).with_usage(tokens, money, seconds, is_estimate=is_estimate)
    set_ledger(bb, ledger.with_pace(usage["output_tokens"], seconds))
    say(
        ctx,
        ChunkType.COST,
        node=node,
        tokens=tokens,
        money=money,
        seconds=round(seconds, 4),
        is_estimate=is_estimate,
    )

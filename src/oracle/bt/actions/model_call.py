"""The request to the model, and its response as it streams in."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, Final, cast

from oracle.bt.arriving_response import COSTS_NOTHING, ArrivingResponse
from oracle.bt.board import (
    ROOM,
    all_tools,
    bb_get,
    bb_set,
    board_of,
    granted_tools,
    room_of,
    services_of,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import BOOKED, money_for, usage_of
from oracle.bt.state.base import RUNNING, SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.errors import (
    InterruptedStream,
    ModelUnreachable,
)
from oracle.logs import logger_of
from oracle.services.control.gathered import after_request
from oracle.services.control.room import Room
from oracle.services.llm.protocol import Message, ModelRequest, Part
from oracle.services.signals.said import own_text_in
from oracle.services.tools.arguments import with_checked_calls

log = logger_of(__name__)

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
    reads=["messages", "is_runaway", "evidence", "parts", *ROOM, *BOOKED],
    writes=["response", "is_runaway", "is_overdrawn", "ledger", "evidence"],
)
async def call_model(ctx: TickContext) -> RunStatus:
    """Stream the response. Whatever ends it, what has arrived is kept, with the place of the cut.

    A text that reaches the longest output is continued by further requests, as far as the ledger
    and the context window allow. It stays one response: its text and its signal may cross the seam.

    The signal is taken out of the stream as it passes. The tree is woken in mid-stream only when
    one of its guards has something to decide: the text repeats itself. FAILURE if the response gets
    longer than what its turn may cost, although the provider was told how long it may be.
    """
    bb = board_of(ctx)
    turn = ctx.turn
    messages: list[Message] = bb_get(bb, "messages")
    names = tuple(spec.name for spec in all_tools(bb))
    response = ArrivingResponse(ctx, own_text_in(messages, names))
    try:
        await _stream(ctx, response, messages, room_of(ctx))
        for _ in range(CONTINUATIONS):
            room = _room_to_continue(ctx, response)
            if room is None:
                break
            with response.continued():
                await _stream(ctx, response, _continued(messages, response.raw), room)
        if response.is_overdrawn:
            bb_set(bb, "is_overdrawn", True)
            return ctx.fail("the response is longer than its turn may pay for")
        response.close()
    except InterruptedStream:
        response.is_interrupted = True
        raise
    except COSTS_NOTHING:
        response.was_refused = True
        raise
    finally:
        # A leaf that ignored its cancellation ends late. By then the run is in another turn, whose
        # response this is not.
        if ctx.turn == turn:
            bb_set(bb, "response", response.as_data())
            if not response.was_refused:
                _note_what_was_shown(bb, messages, turn)
    return SUCCESS


def _note_what_was_shown(bb: TypedBlackboard, messages: Sequence[Message], turn: int) -> None:
    """From now on, what the last turn has gathered is what this request has shown of it."""
    evidence: list[dict[str, Any]] = bb_get(bb, "evidence")
    sent = cast("Sequence[Mapping[str, Any]]", messages)
    shown = after_request(evidence, sent, bb_get(bb, "parts"), turn=turn - 1)
    if shown != evidence:
        bb_set(bb, "evidence", shown)


async def _stream(
    ctx: TickContext, response: ArrivingResponse, messages: Sequence[Message], room: Room
) -> None:
    """One request. It ends early if the response gets longer than what can be paid for."""
    bb = board_of(ctx)
    model = services_of(ctx).model
    tools = granted_tools(bb)
    payable = room.payable_output(is_last=bb_get(bb, "is_last_turn"))
    longest = room.longest_within(payable)
    request = ModelRequest(messages=messages, tools=tools, longest_output=longest)
    response.limit(partial(room.characters_left, payable))

    def source() -> AsyncIterator[Any]:
        if model is None:
            raise ModelUnreachable("no language model is configured")
        return with_checked_calls(model.stream(request))

    # The messages are named by their digest: the record of a turn must not repeat all before it.
    asked = {
        "model": bb_get(bb, "model")["name"],
        "messages": bb_get(bb, "weight")["digest"],
        "tools": [spec.name for spec in tools],
    }
    # Closed at once if the response is left early: then the provider stops, and stops to cost.
    async with aclosing(cast("AsyncGenerator[Any]", ctx.stream(asked, source))) as parts:
        async for part in parts:
            response.take(cast("Part", part))
            if response.is_overdrawn:
                return


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
    bb_set(bb, "response", ArrivingResponse(ctx).as_data())
    return SUCCESS


def _continued(messages: Sequence[Message], raw: str) -> list[Message]:
    """The request for the rest of a text that was cut."""
    so_far: Message = {"role": "assistant", "content": raw}
    go_on: Message = {"role": "system", "content": GO_ON}
    return [*messages, so_far, go_on]


def _room_to_continue(ctx: TickContext, response: ArrivingResponse) -> Room | None:
    """What another request for the rest may hold and cost; None if there is no rest or no room.

    Unless this turn is the last one, the last request must be affordable after it.
    """
    bb = board_of(ctx)
    if not response.can_go_on or bb_get(bb, "is_runaway"):
        return None
    room = room_of(ctx)
    usage = usage_of(ctx, {**response.cost(), "is_complete": True})
    ledger = room.ledger.with_usage(sum(usage.values()), money_for(bb, usage))
    longer = replace(room, ledger=ledger, messages=room.messages + response.tokens)
    longest = longer.longest_within(longer.payable_output(is_last=bb_get(bb, "is_last_turn")))
    return longer if longest >= min(SHORTEST_CONTINUATION, room.longest_output) else None

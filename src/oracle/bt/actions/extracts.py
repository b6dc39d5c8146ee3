"""Have the model read one part at a time, in small requests beside the conversation."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, cast

from oracle.bt.actions.coverage import question_of
from oracle.bt.actions.oracle import bb_get, bb_set
from oracle.bt.actions.state import board_of, ledger_of, set_ledger
from oracle.bt.actions.telling import say_system, services_of
from oracle.bt.actions.tools import raise_first
from oracle.bt.actions.turn import CHARACTERS_OF_A_TOKEN, prices_of
from oracle.bt.conditions.coverage import REQUESTS_AT_ONCE
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.errors import ModelError
from oracle.services.control.conversation import Weight
from oracle.services.coverage.extracts import (
    LONGEST_EXTRACT,
    MOST_CHARACTERS,
    answered,
    asked_about,
    prompt_for_a_part,
)
from oracle.services.coverage.parts import ASKED_ABOUT, Part
from oracle.services.llm.protocol import Message, Model, ModelRequest

Reply = dict[str, Any]


@action(
    reads=["parts", "query", "delegations", "model", "ledger"],
    writes=["parts", "ledger"],
)
async def ask_about_parts(ctx: TickContext) -> RunStatus:
    """A few, side by side. Each is paid for; one that brings nothing is noted as unanswered."""
    bb = board_of(ctx)
    parts: list[Part] = bb_get(bb, "parts")
    read = [number for number, part in enumerate(parts) if part["state"] == "read"]
    chosen = read[:REQUESTS_AT_ONCE]
    prompt = prompt_for_a_part(services_of(ctx).prompt_segments)
    requests = [asked_about(question_of(bb), parts[number], prompt) for number in chosen]
    replies: list[Reply | None] = [None] * len(chosen)
    say_system(ctx, _announced(parts, chosen))

    async def ask(place: int) -> None:
        replies[place] = await _reply_to(ctx, requests[place], parts[chosen[place]]["name"])

    try:
        ends = await asyncio.gather(*map(ask, range(len(chosen))), return_exceptions=True)
        raise_first(ends)
    finally:
        for number, request, reply in zip(chosen, requests, replies, strict=True):
            _take_in(bb, number, request, reply)
    ctx.mark_progress()
    return SUCCESS


def _announced(parts: Sequence[Part], chosen: Sequence[int]) -> str:
    asked = [n for n, part in enumerate(parts) if part["state"] in ("read", *ASKED_ABOUT)]
    first, last = asked.index(chosen[0]) + 1, asked.index(chosen[-1]) + 1
    which = f"parts {first} to {last}" if last > first else f"part {first}"
    return f"Asking the model about {which} of {len(asked)}."


async def _reply_to(ctx: TickContext, messages: Sequence[Message], name: str) -> Reply:
    """Its text, what it used and how long it took; only the end of it is on record."""
    bb = board_of(ctx)
    model = services_of(ctx).model
    longest = min(LONGEST_EXTRACT, bb_get(bb, "model")["longest_output"])
    request = ModelRequest(messages=messages, longest_output=longest)

    async def effect() -> Any:
        if model is None:
            raise ModelError("no language model is configured")
        began = time.monotonic()
        reply = await _gathered(model, request)
        return {**reply, "seconds": round(time.monotonic() - began, 4)}

    digest = Weight().with_all(cast("Sequence[Mapping[str, Any]]", messages)).digest
    asked = {"model": bb_get(bb, "model")["name"], "part": name, "messages": digest}
    try:
        return cast("Reply", await ctx.perform(asked, effect))
    except ModelError as problem:
        return {"text": "", "usage": None, "seconds": 0.0, "error": str(problem)}


async def _gathered(model: Model, request: ModelRequest) -> Reply:
    """The whole reply, or as much of it as such a reply may have."""
    text, usage = "", None
    parts = model.stream(request)
    try:
        async for part in parts:
            text += part.get("text", "")
            usage = part.get("usage", usage)
            if len(text) > MOST_CHARACTERS:
                break
    finally:
        if isinstance(parts, AsyncGenerator):
            await parts.aclose()
    return {"text": text, "usage": None if usage is None else dict(usage)}


def _take_in(
    bb: TypedBlackboard, number: int, request: Sequence[Message], reply: Reply | None
) -> None:
    parts: list[Part] = bb_get(bb, "parts")
    if parts[number]["state"] != "read":  # it would not be closed, and the run has gone on
        return
    part = answered(parts[number], None if reply is None else reply["text"])
    bb_set(bb, "parts", [*parts[:number], part, *parts[number + 1 :]])
    if reply is None or not reply.get("error"):
        _book(bb, request, reply or {"text": "", "usage": None, "seconds": 0.0})


def _book(bb: TypedBlackboard, request: Sequence[Message], reply: Reply) -> None:
    """What was cut off has been sent, and is paid for as far as that."""
    usage: dict[str, int] | None = reply["usage"]
    if usage is None:
        sent = Weight().with_all(cast("Sequence[Mapping[str, Any]]", request)).tokens
        written = len(reply["text"]) // CHARACTERS_OF_A_TOKEN
        usage = {"input_tokens": sent, "output_tokens": written}
    prices = prices_of(bb)
    money = 0.0 if prices is None else prices.cost(**usage)
    tokens = usage["input_tokens"] + usage["output_tokens"]
    set_ledger(bb, ledger_of(bb).with_usage(tokens, money, reply["seconds"]))

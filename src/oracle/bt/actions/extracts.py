"""Small requests about one part each, outside of the conversation."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

from oracle.bt.board import (
    ROOM,
    bb_get,
    bb_set,
    board_of,
    question_of,
    room_of,
    services_of,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import book_usage, estimated_usage, note_count, say_system
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.tool_calls import raise_first
from oracle.errors import ModelError
from oracle.services.control.conversation import TOKENS_OF_A_CHARACTER, Weight, rough_tokens
from oracle.services.coverage.affordable import MOST_AROUND
from oracle.services.coverage.extracts import (
    LONGEST_EXTRACT,
    MOST_CHARACTERS,
    answered,
    asked_about,
    cut_to_window,
    prompt_for_a_part,
)
from oracle.services.coverage.parts import ASKED_ABOUT, Part
from oracle.services.llm.protocol import Message, Model, ModelRequest
from oracle.services.prompting.tokens import estimate_tokens
from oracle.services.tools.arguments import with_checked_calls

Reply = dict[str, Any]


@action(
    reads=["parts", "query", "delegations", "is_last_turn", *ROOM],
    writes=["parts", "ledger"],
)
async def ask_about_parts(ctx: TickContext, at_once: int) -> RunStatus:
    """Ask about a few, side by side. Each is paid for; one without a reply becomes `unanswered`."""
    bb = board_of(ctx)
    parts: list[Part] = bb_get(bb, "parts")
    read = [number for number, part in enumerate(parts) if part["state"] == "read"]
    chosen = read[:at_once]
    prompt = prompt_for_a_part(services_of(ctx).prompt_segments)
    room = room_of(ctx)
    most = room.in_window(room.window - LONGEST_EXTRACT) - rough_tokens(prompt) - MOST_AROUND
    shown = [cut_to_window(parts[number], most) for number in chosen]
    requests = [asked_about(question_of(bb), part, prompt) for part in shown]
    replies: list[Reply | None] = [None] * len(chosen)
    say_system(ctx, _announced(parts, chosen))

    async def ask(place: int) -> None:
        replies[place] = await _reply_to(ctx, requests[place], parts[chosen[place]]["name"])

    try:
        ends = await asyncio.gather(*map(ask, range(len(chosen))), return_exceptions=True)
        raise_first(ends)
    finally:
        for number, part, request, reply in zip(chosen, shown, requests, replies, strict=True):
            _take_in(ctx, number, part["sources"], request, reply)
    ctx.mark_progress()
    return SUCCESS


def _announced(parts: Sequence[Part], chosen: Sequence[int]) -> str:
    asked = [n for n, part in enumerate(parts) if part["state"] in ("read", *ASKED_ABOUT)]
    first, last = asked.index(chosen[0]) + 1, asked.index(chosen[-1]) + 1
    which = f"parts {first} to {last}" if last > first else f"part {first}"
    return f"Asking the model about {which} of {len(asked)}."


async def _reply_to(ctx: TickContext, messages: Sequence[Message], name: str) -> Reply:
    """The text of the reply, its usage and its seconds; the journal holds only its end."""
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
        error = str(problem)
        return {"text": "", "usage": None, "seconds": 0.0, "error": error, "was_refused": True}


async def _gathered(model: Model, request: ModelRequest) -> Reply:
    """The whole reply, up to the longest that is allowed.

    A reply that breaks off is an error, but what had arrived is paid for.
    """
    text, usage, thought, error, was_cut = "", None, 0, None, False
    parts = with_checked_calls(model.stream(request))
    try:
        async for part in parts:
            text += part.get("text", "")
            thought += len(part.get("reasoning", ""))
            usage = part.get("usage", usage)
            if was_cut := len(text) + thought > MOST_CHARACTERS:
                break
    except ModelError as problem:
        if not text and not thought:
            raise
        error, was_cut = str(problem), True
    finally:
        await parts.aclose()
    counted = None if usage is None else dict(usage)
    return {
        "text": text,
        "thought": thought,
        "usage": counted,
        "error": error,
        "was_cut": was_cut,
    }


def _take_in(
    ctx: TickContext,
    number: int,
    shown: Sequence[Mapping[str, Any]],
    request: Sequence[Message],
    reply: Reply | None,
) -> None:
    """`shown` are the sources of the part, as far as the request had room for them."""
    bb = board_of(ctx)
    parts: list[Part] = bb_get(bb, "parts")
    # A request that ignored its cancellation ends late, and the run has gone on without it.
    if parts[number]["state"] != "read":
        return
    reply = reply or {"text": "", "usage": None, "seconds": 0.0, "was_cut": True}
    part = answered(parts[number], None if reply.get("error") else reply["text"])
    if part["state"] != "unanswered":
        part = {**part, "sources": [*shown]}
    bb_set(bb, "parts", [*parts[:number], part, *parts[number + 1 :]])
    if not reply.get("was_refused"):
        _book(ctx, request, reply)


def _book(ctx: TickContext, request: Sequence[Message], reply: Reply) -> None:
    """A request that was cut off has been sent, so its input is paid for."""
    sent = Weight().with_all(cast("Sequence[Mapping[str, Any]]", request)).tokens
    thought = reply.get("thought", 0) * TOKENS_OF_A_CHARACTER
    written = estimate_tokens(reply["text"]) + thought
    usage = reply["usage"] or estimated_usage(
        ctx, sent, written, was_cut=reply.get("was_cut", False)
    )
    book_usage(ctx, ctx.node_path, usage, reply["seconds"], is_estimate=not reply["usage"])
    if reply["usage"]:
        note_count(ctx, sent, reply["usage"])

"""Say what the ledger says, in time, and make room in the context window."""

from __future__ import annotations

from typing import Any, Final

from oracle.bt.board import (
    ROOM,
    append,
    bb_get,
    bb_set,
    board_of,
    give_reason,
    ledger_of,
    room_of,
    services_of,
    set_ledger,
    weigh,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import BOOKED, book, report, say, say_system, tell_model
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.models.stream_chunk import ChunkType
from oracle.services.ans.event import Severity
from oracle.services.control.conversation import Weight
from oracle.services.control.ledger import STOP_AT, Ledger, Resource
from oracle.services.control.shortening import QUESTION, Compacted, compacted, fitted

SMALLEST_WINDOW: Final = 200
"""Tokens. With less than this no question can be asked."""
SMALLER: Final = 0.65
"""What is left of a request that was too long. Two steps are less than half, which is enough for a
provider that counts twice what we estimate.
"""


@action(reads=["messages", "weight"], writes=["weight"])
def weigh_messages(ctx: TickContext) -> RunStatus:
    weigh(board_of(ctx))
    return SUCCESS


@action(reads=["messages", "weight"], writes=["messages", "weight"])
def compact(ctx: TickContext) -> RunStatus:
    """Shorten old results, say so to the user, and tell the model how to work with that."""
    bb = board_of(ctx)
    _replace_messages(ctx, compacted(bb_get(bb, "messages")))
    for segment in services_of(ctx).prompt_segments:
        if segment.id == "summarization" and not _has_message(bb, segment.content):
            tell_model(bb, segment.content)
    weigh(bb)
    return SUCCESS


@action(
    reads=["messages", "model"],
    writes=["tools_withdrawn", "stop_after_last_turn", "is_last_turn", "offered", "messages"],
)
def withdraw_tools_without_room(ctx: TickContext) -> RunStatus:
    """Answer without tools: a window that is too small for them may hold the question."""
    bb = board_of(ctx)
    bb_set(bb, "tools_withdrawn", True)
    bb_set(bb, "is_last_turn", True)
    bb_set(bb, "offered", [])
    bb_set(bb, "stop_after_last_turn", "partial_answer")
    window: int = bb_get(bb, "model")["context_window"]
    say_system(ctx, f"A context window of {window} tokens has no room for tools.", "warning")
    tell_model(bb, "No tools are left: answer now from what you have, and say what is missing.")
    weigh(bb)
    return SUCCESS


@action(reads=["messages", *ROOM], writes=["messages", "weight"])
def make_room(ctx: TickContext) -> RunStatus:
    """Shorten whatever has to be, so that an answer fits beside the messages and can be paid."""
    room, messages = room_of(ctx), bb_get(board_of(ctx), "messages")
    smaller = fitted(messages, room.for_messages(), may_cut_prompt=False)
    if not smaller.fits:
        # A short answer to the whole question is better than a long one to half of it.
        most = room.for_messages(room.shortest_output)
        smaller = fitted(messages, most, may_cut_prompt=False)
    in_window = room.held_beside(room.planned_output)
    if smaller.tokens > in_window:
        # A prompt that is cut makes bad answers. It is better than none if the window is too small
        # for it, but nobody should pay for it.
        smaller = fitted(messages, in_window, may_cut_prompt=True)
    _replace_messages(ctx, smaller)
    return SUCCESS


@action(reads=["response", "is_last_turn", *BOOKED], writes=["model", "response", "ledger"])
def expect_a_smaller_window(ctx: TickContext) -> RunStatus:
    """The provider has refused a request because of its size: its window is smaller than that.

    FAILURE if a request cannot get any smaller.
    """
    bb, room = board_of(ctx), room_of(ctx)
    response: dict[str, Any] = bb_get(bb, "response")
    if response["characters"]:
        book(ctx, response)  # refused in mid-stream: only a request without a response is free
    payable = room.payable_output(is_last=bb_get(bb, "is_last_turn"))
    window = int(room.filled_window(payable) * SMALLER)
    if window < SMALLEST_WINDOW and ctx.failure is not None:
        raise ctx.failure
    bb_set(bb, "model", {**bb_get(bb, "model"), "context_window": window})
    bb_set(bb, "response", None)
    return SUCCESS


@action(reads=["ledger", "messages"], writes=["ledger", "messages"])
def warn(ctx: TickContext, share: float) -> RunStatus:
    """Warn the user and the model, once for each budget."""
    bb = board_of(ctx)
    ledger = ledger_of(bb)
    due = ledger.warnings_due(ctx.now, share)
    for resource in due:
        _say_budget(ctx, ledger, resource, "warning")
        tell_model(
            bb,
            f"Budget: {ledger.so_far(resource, ctx.now)} are used. Come to the point; at the end "
            "the tools are withdrawn and you answer from what you have.",
        )
    set_ledger(bb, ledger.with_warning(*due))
    return SUCCESS


@action(
    reads=["ledger", "withdrawn", "messages", "tool_reasons"],
    writes=["withdrawn", "messages", "tool_reasons"],
)
def withdraw_used_up_tools(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    ledger = ledger_of(bb)
    for tool in ledger.tools_used_up():
        if tool not in bb_get(bb, "withdrawn"):
            used, limit = ledger.uses[tool], ledger.limits.uses_of_a_tool
            append(bb, "withdrawn", tool)
            give_reason(bb, [tool], f"withdrawn: used {used} times, which is the limit")
            tell_model(bb, f"Withdrawn: {tool} was used {used} times, which is the limit.")
            say(ctx, ChunkType.BUDGET, budget=tool, used=used, limit=limit, at="reserve")
            report(ctx, "budget.exhausted", Severity.WARNING, budget=tool, used=used, limit=limit)
    return SUCCESS


@action(
    reads=["messages", *ROOM],
    writes=["tools_withdrawn", "stop_after_last_turn", "messages"],
)
def withdraw_tools_for_the_last_turn(ctx: TickContext) -> RunStatus:
    """Withdraw the tools, and say so: the rest of the budget is kept for the answer."""
    bb = board_of(ctx)
    resource = room_of(ctx).scarce() or "turns"
    _say_budget(ctx, ledger_of(bb), resource, "reserve")
    bb_set(bb, "tools_withdrawn", True)
    bb_set(bb, "stop_after_last_turn", STOP_AT[resource])
    tell_model(
        bb,
        f"The budget of {resource} is nearly used up. This is your last turn, and no tools are "
        "left for it: answer now from what you have, and say what is missing.",
    )
    return SUCCESS


def _say_budget(ctx: TickContext, ledger: Ledger, resource: Resource, at: str) -> None:
    used, limit = ledger.spent(resource, ctx.now), getattr(ledger.limits, resource)
    say(ctx, ChunkType.BUDGET, budget=resource, used=used, limit=limit, at=at)
    event = "budget.warning" if at == "warning" else "budget.exhausted"
    report(ctx, event, Severity.WARNING, budget=resource, used=used, limit=limit)


def _replace_messages(ctx: TickContext, smaller: Compacted) -> None:
    bb = board_of(ctx)
    if smaller.shortened:
        bb_set(bb, "messages", smaller.messages)
        bb_set(bb, "weight", Weight().to_dict())
        weigh(bb)
        say_system(ctx, f"Shortened to make room: {', '.join(smaller.shortened)}.")
    if QUESTION in smaller.shortened:
        # What the user wrote or attached: an answer about a part must not look like one about all.
        say_system(
            ctx,
            "The question with what is attached does not fit, so a part of it was left out in the "
            "middle. Attach less, or use a model with a larger window (model.context_window).",
            "warning",
        )


def _has_message(bb: TypedBlackboard, text: str) -> bool:
    return any(message["content"] == text for message in bb_get(bb, "messages"))

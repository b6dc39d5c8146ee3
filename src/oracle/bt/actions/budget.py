"""Say what the ledger says, in time, and make room in the context window."""

from __future__ import annotations

from oracle.bt.board import (
    append,
    bb_get,
    bb_set,
    board_of,
    give_reason,
    ledger_of,
    scarce_resource,
    services_of,
    set_ledger,
    weigh,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import report, say, say_system, tell_model
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.models.stream_chunk import ChunkType
from oracle.services.ans.event import Severity
from oracle.services.control.conversation import Weight, compacted
from oracle.services.control.ledger import STOP_AT, Ledger, Resource


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
        say_system(ctx, "Old tool results were shortened to make room.")
    for segment in services_of(ctx).prompt_segments:
        if segment.id == "summarization" and not _has_message(bb, segment.content):
            tell_model(bb, segment.content)
    weigh(bb)
    return SUCCESS


@action(reads=["ledger", "messages"], writes=["ledger", "messages"])
def warn(ctx: TickContext, share: float) -> RunStatus:
    """Warn the user and the model, once for each budget."""
    bb = board_of(ctx)
    ledger = ledger_of(bb)
    due = ledger.warnings_due(ctx.now, share)
    for resource in due:
        _say_budget(ctx, ledger, resource, "warning")
        used, limit = ledger.spent(resource, ctx.now), getattr(ledger.limits, resource)
        tell_model(
            bb,
            f"Budget: {used:g} of {limit:g} {resource} are used. Come to the point; at the end the "
            "tools are withdrawn and you answer from what you have.",
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
            report("budget.exhausted", Severity.WARNING, budget=tool, used=used, limit=limit)
    return SUCCESS


@action(
    reads=["ledger", "weight", "messages", "model"],
    writes=["tools_withdrawn", "stop_after_last_turn", "messages"],
)
def withdraw_tools_for_the_last_turn(ctx: TickContext) -> RunStatus:
    """Withdraw the tools, and say so: the rest of the budget is kept for the answer."""
    bb = board_of(ctx)
    resource = scarce_resource(ctx) or "turns"
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
    report(event, Severity.WARNING, budget=resource, used=used, limit=limit)


def _has_message(bb: TypedBlackboard, text: str) -> bool:
    return any(message["content"] == text for message in bb_get(bb, "messages"))

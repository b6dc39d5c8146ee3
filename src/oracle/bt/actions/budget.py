"""Say what the ledger says, in time."""

from __future__ import annotations

from typing import Final

from oracle.bt.actions.oracle import add_system_message, bb_get, bb_set
from oracle.bt.actions.state import append, board_of, ledger_of, set_ledger
from oracle.bt.actions.telling import report, say
from oracle.bt.conditions.budget import scarce_resource
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.models.stream_chunk import ChunkType
from oracle.services.ans.event import Severity
from oracle.services.control.ledger import Ledger, Resource

STOP_AT: Final = {
    "turns": "turn_limit",
    "tokens": "token_limit",
    "money": "money_limit",
    "seconds": "time_limit",
}


@action(reads=["ledger", "messages"], writes=["ledger", "messages"])
def warn(ctx: TickContext) -> RunStatus:
    """Tell the user and the model, once for each budget."""
    bb = board_of(ctx)
    ledger = ledger_of(bb)
    due = ledger.warnings_due(ctx.now)
    for resource in due:
        _say_budget(ctx, ledger, resource, "warning")
        used, limit = ledger.spent(resource, ctx.now), getattr(ledger.limits, resource)
        add_system_message(
            bb,
            f"Budget: {used:g} of {limit:g} {resource} are used. Come to the point; at the end the "
            "tools are withdrawn and you answer from what you have.",
        )
    set_ledger(bb, ledger.with_warning(*due))
    return SUCCESS


@action(reads=["ledger", "withdrawn", "messages"], writes=["withdrawn", "messages"])
def withdraw_used_up_tools(ctx: TickContext) -> RunStatus:
    """What may not be used again is not offered again."""
    bb = board_of(ctx)
    ledger = ledger_of(bb)
    for tool in ledger.tools_used_up():
        if tool not in bb_get(bb, "withdrawn"):
            used, limit = ledger.uses[tool], ledger.limits.uses_of_a_tool
            append(bb, "withdrawn", tool)
            add_system_message(bb, f"Withdrawn: {tool} was used {used} times, which is the limit.")
            say(ctx, ChunkType.BUDGET, budget=tool, used=used, limit=limit, at="reserve")
            report("budget.exhausted", Severity.WARNING, budget=tool, used=used, limit=limit)
    return SUCCESS


@action(
    reads=["ledger", "weight", "messages", "model"],
    writes=["tools_withdrawn", "why_last", "messages"],
)
def announce_last_turn(ctx: TickContext) -> RunStatus:
    """Withdraw the tools, and say so: what is left is kept for the answer."""
    bb = board_of(ctx)
    resource = scarce_resource(ctx) or "turns"
    _say_budget(ctx, ledger_of(bb), resource, "reserve")
    withdraw_all_tools(
        ctx,
        STOP_AT[resource],
        f"The budget of {resource} is nearly used up. This is your last turn, and no tools are "
        "left for it: answer now from what you have, and say what is missing.",
    )
    return SUCCESS


def withdraw_all_tools(ctx: TickContext, why: str, told: str) -> None:
    """What comes next is the last response; `why` is the stop reason if it does not say better."""
    bb = board_of(ctx)
    bb_set(bb, "tools_withdrawn", True)
    bb_set(bb, "why_last", why)
    add_system_message(bb, told)


def _say_budget(ctx: TickContext, ledger: Ledger, resource: Resource, at: str) -> None:
    used, limit = ledger.spent(resource, ctx.now), getattr(ledger.limits, resource)
    say(ctx, ChunkType.BUDGET, budget=resource, used=used, limit=limit, at=at)
    event = "budget.warning" if at == "warning" else "budget.exhausted"
    report(event, Severity.WARNING, budget=resource, used=used, limit=limit)

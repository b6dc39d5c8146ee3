"""What the tree answers to each signal, where it does not end the run."""

from __future__ import annotations

from typing import Any, Final

from oracle.bt.actions.budget import withdraw_all_tools
from oracle.bt.actions.oracle import add_system_message, bb_get, bb_set
from oracle.bt.actions.state import all_tools, append, board_of, ledger_of
from oracle.bt.actions.telling import say_system
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus

NOT_BELIEVED: Final = (
    "You say that the context is sufficient, but nothing was gathered yet, and this question needs "
    "evidence. Search first; if nothing is found, say so."
)
ANSWER_NOW: Final = "You have what you need. Give the whole answer now, without tools."
EMPTY: Final = "Your response was empty. Call a tool, or answer, and end with a signal."


@action(reads=["calls", "signal", "ledger", "messages"], writes=["messages"])
def grant_turn(ctx: TickContext) -> RunStatus:
    """A turn with calls goes on by itself; one without is told that it may."""
    bb = board_of(ctx)
    if not bb_get(bb, "calls"):
        ledger = ledger_of(bb)
        left = ledger.limits.turns - ledger.turns
        reason = bb_get(bb, "signal")["reason"]
        add_system_message(bb, f"Another turn is granted, for this: {reason} ({left} left)")
    return SUCCESS


@action(reads=["calls", "tool_list"], writes=["calls"])
def stop_searching(ctx: TickContext) -> RunStatus:
    """Searches next to "the context is sufficient" contradict it; what writes is another matter."""
    bb = board_of(ctx)
    writing = {spec.name for spec in all_tools(bb) if spec.writes}
    reason = "you say that the context is sufficient; answer"
    calls: list[dict[str, Any]] = bb_get(bb, "calls")
    bb_set(
        bb,
        "calls",
        [call if call["name"] in writing else {**call, "not_run": reason} for call in calls],
    )
    return SUCCESS


@action(reads=["messages"], writes=["messages", "tools_withdrawn", "why_last"])
def ask_for_the_answer(ctx: TickContext) -> RunStatus:
    withdraw_all_tools(ctx, "", ANSWER_NOW)
    return SUCCESS


@action(reads=["messages", "doubts"], writes=["messages", "doubts"])
def send_back_to_search(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    bb_set(bb, "doubts", bb_get(bb, "doubts") + 1)
    add_system_message(bb, NOT_BELIEVED)
    return SUCCESS


@action(reads=["signal", "delegations"], writes=["delegations"])
def record_delegation(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    signal: dict[str, Any] = bb_get(bb, "signal")
    append(bb, "delegations", {"scope": signal["scope"], "reason": signal["reason"]})
    return SUCCESS


@action(reads=["signal", "messages", "delegations", "calls"], writes=["messages"])
def go_on_alone(ctx: TickContext) -> RunStatus:
    """FAILURE where the model was told so before, and still does nothing by itself."""
    bb = board_of(ctx)
    if len(bb_get(bb, "delegations")) > 1 and not bb_get(bb, "calls"):
        return ctx.fail("it was told that there is nobody to delegate to")
    scope = bb_get(bb, "signal")["scope"]
    add_system_message(
        bb,
        "There is nobody to delegate to. Go on alone: do the most important part of it, and say "
        f"in the answer what of it was left out. What you wanted to hand over: {scope}",
    )
    say_system(ctx, f"Nobody to delegate to; going on alone ({scope}).")
    return SUCCESS


@action(reads=["messages", "empty_responses"], writes=["messages", "empty_responses"])
def ask_again(ctx: TickContext) -> RunStatus:
    """An empty response costs a turn; the model is told."""
    bb = board_of(ctx)
    bb_set(bb, "empty_responses", bb_get(bb, "empty_responses") + 1)
    add_system_message(bb, EMPTY)
    return SUCCESS


@action(reads=["messages"], writes=["messages"])
def ask_again_after_crash(ctx: TickContext) -> RunStatus:
    """What had come when the process died stays a draft; the response is asked for anew."""
    add_system_message(
        board_of(ctx), "Your last response was cut off on its way. Give it again, whole."
    )
    return SUCCESS


@action(reads=["messages"], writes=["messages"])
def ask_for_a_signal(ctx: TickContext) -> RunStatus:
    add_system_message(
        board_of(ctx),
        "The signal of your last response could not be read. Give the answer again, whole, and end "
        "it with one well-formed signal.",
    )
    return SUCCESS


@action(reads=["messages", "sources_tried"], writes=["messages"])
def tell_that_nothing_was_found(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    tried = ", ".join(bb_get(bb, "sources_tried")) or "no source"
    add_system_message(
        bb,
        f"Nothing was found so far ({tried}). If that stays so, end with `stuck` or "
        "`partial_answer` and say where you looked.",
    )
    return SUCCESS


@action(reads=["messages", "evidence"], writes=["messages"])
def suggest_to_answer(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    found = len(bb_get(bb, "evidence"))
    counted = "1 place was" if found == 1 else f"{found} places were"
    add_system_message(
        bb,
        f"{counted} found, and the last calls added little. Answer now, unless a part of "
        "the question is still open.",
    )
    return SUCCESS

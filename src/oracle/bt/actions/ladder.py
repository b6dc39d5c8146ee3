"""The rungs of the ladder for a run that goes in circles; the tree says which comes when."""

from __future__ import annotations

from typing import Any

from oracle.bt.actions.budget import withdraw_all_tools
from oracle.bt.actions.oracle import add_system_message, bb_get, bb_set
from oracle.bt.actions.state import AGENT_KEYS, agent_state, append, board_of
from oracle.bt.actions.telling import report, say_system
from oracle.bt.conditions.loop_detection import (
    SAME_REASON_THRESHOLD,
    refused_call_repeats,
    repetition_of_this_turn,
    same_reason_repeats,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.services.ans.event import Severity
from oracle.services.control.repetition import name_of_call, tool_of


@action(
    reads=[
        "calls",
        "made",
        "refused",
        "signal",
        "consecutive_same_reason",
        "evidence",
        "turn_of_last_rung",
        "ladder_rung",
        "is_runaway",
    ],
    writes=["loop", "ladder_rung", "turn_of_last_rung", "is_runaway"],
)
def climb(ctx: TickContext) -> RunStatus:
    """Say what goes round, and take the next rung; new evidence since the last one starts anew."""
    bb = board_of(ctx)
    since = max(ctx.turn - SAME_REASON_THRESHOLD, bb_get(bb, "turn_of_last_rung"))
    brought_something = any(place["turn"] > since for place in bb_get(bb, "evidence"))
    loop = {**_what_goes_round(ctx), "progress": brought_something}
    bb_set(bb, "loop", loop)
    bb_set(bb, "ladder_rung", 1 if brought_something else bb_get(bb, "ladder_rung") + 1)
    bb_set(bb, "turn_of_last_rung", ctx.turn)
    bb_set(bb, "is_runaway", False)
    told = {name: loop[name] for name in ("kind", "what", "times")}
    report("loop.detected", Severity.WARNING, **told)
    return SUCCESS


@action(reads=["loop", "messages", *AGENT_KEYS], writes=["messages"])
def nudge(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    loop = bb_get(bb, "loop")
    add_system_message(
        bb,
        f"You are repeating yourself: {loop['what']}. You have that already. Do something else, or "
        f"answer from what you have. {agent_state(ctx).summary}",
    )
    return SUCCESS


@action(reads=["loop", "messages", "refused"], writes=["messages", "refused"])
def refuse_repeats(ctx: TickContext) -> RunStatus:
    """From now on these very calls are answered with "not run"."""
    bb = board_of(ctx)
    loop = bb_get(bb, "loop")
    if not loop["calls"]:
        return ctx.fail("no call goes round")
    append(bb, "refused", *loop["calls"])
    add_system_message(
        bb, f"You are still repeating yourself: {loop['what']}. It will not be run again."
    )
    return SUCCESS


@action(reads=["loop", "messages", "withdrawn"], writes=["messages", "withdrawn"])
def withdraw_repeated_tool(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    tools: list[str] = bb_get(bb, "loop")["tools"]
    if not tools:
        return ctx.fail("no call goes round")
    append(bb, "withdrawn", *tools)
    add_system_message(bb, f"Withdrawn, because it led in circles: {', '.join(tools)}.")
    say_system(ctx, f"Withdrawn, because it led in circles: {', '.join(tools)}.", "warning")
    return SUCCESS


@action(writes=["ladder_rung"])
def note_rung(ctx: TickContext, number: int) -> RunStatus:
    bb_set(board_of(ctx), "ladder_rung", number)
    return SUCCESS


@action(reads=["messages", *AGENT_KEYS], writes=["messages", "tools_withdrawn", "why_last"])
def ask_for_what_there_is(ctx: TickContext) -> RunStatus:
    """The end of the ladder, and of the strategies: an honest answer, without tools."""
    withdraw_all_tools(
        ctx,
        "stuck",
        "No other way is left. Give the best honest answer from what you have, without tools, and "
        f"say what is missing. {agent_state(ctx).summary}",
    )
    return SUCCESS


def _what_goes_round(ctx: TickContext) -> dict[str, Any]:
    bb = board_of(ctx)
    calls: list[dict[str, Any]] = bb_get(bb, "calls")
    if refused_call_repeats(ctx):
        names = [name_of_call(call["name"], call["arguments"]) for call in calls]
        again = [name for name in dict.fromkeys(names) if name in bb_get(bb, "refused")]
        return _loop("call", f"the call of {tool_of(again[0])}", 3, again)
    if (repetition := repetition_of_this_turn(bb)) is not None:
        what = ", ".join(dict.fromkeys(map(tool_of, repetition.calls)))
        told = f"the same call with the same result ({what})"
        if repetition.kind == "cycle":
            told = f"a cycle of {len(repetition.calls)} calls with the same results ({what})"
        return _loop(repetition.kind, told, repetition.times, [*repetition.calls])
    if same_reason_repeats(ctx):
        reason = bb_get(bb, "signal")["reason"]
        times = bb_get(bb, "consecutive_same_reason")
        return _loop("reason", f"the same reason for another turn ({reason})", times, [])
    return _loop("text", "the same lines over and over", 1, [])


def _loop(kind: str, what: str, times: int, calls: list[str]) -> dict[str, Any]:
    tools = list(dict.fromkeys(map(tool_of, calls)))
    return {"kind": kind, "what": what, "times": times, "calls": calls, "tools": tools}

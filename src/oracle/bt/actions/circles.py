"""A run that goes in circles: what repeats, and the steps against it."""

from __future__ import annotations

from typing import Any, Final

from oracle.bt.board import (
    append,
    bb_get,
    bb_set,
    board_of,
    give_reason,
    refused_again,
    repetition_of_this_turn,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import report, say_system, tell_model
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.services.ans.event import Severity
from oracle.services.control.repetition import tool_of

_SAME_LINES: Final = "the same lines over and over"
_ENDLESS: Final = 10_000
"""Characters. A text of this length that was stopped has cost as much as several answers."""


@action(
    reads=[
        "calls",
        "made",
        "refused",
        "signal",
        "consecutive_same_reason",
        "evidence",
        "loop",
        "is_runaway",
        "idle_turns",
        "tool_results",
        "response",
    ],
    writes=["loop", "is_runaway"],
)
def name_what_repeats(ctx: TickContext, turns: int) -> RunStatus:
    """Name it, and note whether there was progress: new evidence in the last `turns` turns, or
    since the last time something repeated.
    """
    bb = board_of(ctx)
    before: dict[str, Any] = bb_get(bb, "loop") or {"turn": 0}
    since = max(ctx.turn - turns, before["turn"])
    progress = any(place["turn"] > since for place in bb_get(bb, "evidence"))
    loop = {**_what_repeats(bb), "progress": progress, "turn": ctx.turn}
    if loop["kind"] == "endless" == before.get("kind") and before["turn"] == ctx.turn - 1:
        loop["times"] = before["times"] + 1
    loop["fails"] = bool(loop["calls"]) and _last_call_failed(bb)
    bb_set(bb, "loop", loop)
    bb_set(bb, "is_runaway", False)
    shown = {name: loop[name] for name in ("kind", "what", "times")}
    report(ctx, "loop.detected", Severity.WARNING, **shown)
    return SUCCESS


@action(reads=["loop", "messages", "refused"], writes=["messages", "refused"])
def refuse_that_call_from_now_on(ctx: TickContext) -> RunStatus:
    """From now on these very calls are answered with "not run"; FAILURE if no call repeats."""
    bb = board_of(ctx)
    loop = bb_get(bb, "loop")
    if not loop["calls"]:
        return ctx.fail("no call repeats")
    append(bb, "refused", *loop["calls"])
    tell_model(bb, f"You are still repeating yourself: {loop['what']}. It will not be run again.")
    return SUCCESS


@action(
    reads=["loop", "messages", "withdrawn", "tool_reasons"],
    writes=["messages", "withdrawn", "tool_reasons"],
)
def withdraw_that_tool(ctx: TickContext) -> RunStatus:
    """FAILURE if no call repeats."""
    bb = board_of(ctx)
    tools: list[str] = bb_get(bb, "loop")["tools"]
    if not tools:
        return ctx.fail("no call repeats")
    append(bb, "withdrawn", *tools)
    give_reason(bb, tools, "withdrawn: it led in circles")
    told = f"Withdrawn, because it led in circles: {', '.join(tools)}."
    tell_model(bb, told)
    say_system(ctx, told)
    return SUCCESS


def _what_repeats(bb: TypedBlackboard) -> dict[str, Any]:
    if again := refused_again(bb):
        return _loop("call", f"the call of {tool_of(again[0])}", 3, again)
    if (repetition := repetition_of_this_turn(bb)) is not None:
        tools = ", ".join(dict.fromkeys(map(tool_of, repetition.calls)))
        what = f"the same call with the same result ({tools})"
        if repetition.kind == "cycle":
            what = f"a cycle of {len(repetition.calls)} calls with the same results ({tools})"
        return _loop(repetition.kind, what, repetition.times, [*repetition.calls])
    if bb_get(bb, "is_runaway"):
        is_long = len(bb_get(bb, "response")["text"]) > _ENDLESS
        kind, what = ("endless", "a text without an end") if is_long else ("text", _SAME_LINES)
        return _loop(kind, what, 1, [])
    signal: dict[str, Any] = bb_get(bb, "signal") or {}
    times: int = bb_get(bb, "consecutive_same_reason")
    if signal.get("type") == "need_turn" and times > 1:
        return _loop("reason", f"the same reason for another turn ({signal['reason']})", times, [])
    idle: int = bb_get(bb, "idle_turns")
    if idle > 1:
        return _loop("idle", f"{idle} turns in which no tool was run", idle, [])
    return _loop("idle", "the last turns brought nothing new", 1, [])


def _last_call_failed(bb: TypedBlackboard) -> bool:
    """Whether the calls of this turn failed, all of them."""
    results: list[dict[str, Any]] = bb_get(bb, "tool_results")[-len(bb_get(bb, "calls")) :]
    return bool(results) and not any(result["success"] for result in results)


def _loop(kind: str, what: str, times: int, calls: list[str]) -> dict[str, Any]:
    tools = list(dict.fromkeys(map(tool_of, calls)))
    return {"kind": kind, "what": what, "times": times, "calls": calls, "tools": tools}

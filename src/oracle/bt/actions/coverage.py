"""For a broad question: list its parts, read them, and put them before the model in order."""

from __future__ import annotations

from typing import Any, Final

from oracle.bt.actions.oracle import add_system_message, bb_get, bb_set
from oracle.bt.actions.state import append, board_of, granted_tools, ledger_of
from oracle.bt.actions.telling import say_system
from oracle.bt.actions.tools import TAKEN_IN, perform_calls
from oracle.bt.actions.turn import note_time_left
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.services.coverage import (
    MOST_PARTS,
    READS,
    SEARCHES,
    Part,
    left_out,
    parts_of,
    searches_for,
    told_after,
)

AT_ONCE: Final = 4
_MAY: Final = ["coverage", "granted", "withdrawn", "tools_withdrawn", "tool_list"]


@action(reads=_MAY, writes=["coverage"])
def ask_for_coverage(ctx: TickContext) -> RunStatus:
    """At the end of this turn. FAILURE where it was done before, or cannot be done."""
    bb = board_of(ctx)
    if not _can_cover(bb):
        return ctx.fail("the parts were read before, or there is nothing to read them with")
    bb_set(bb, "coverage", "due")
    return SUCCESS


@action(reads=_MAY, writes=["seconds_left"])
def begin_coverage(ctx: TickContext) -> RunStatus:
    """FAILURE where it was done before, or where no tool on offer searches and reads."""
    bb = board_of(ctx)
    note_time_left(ctx)
    can = _can_cover(bb)
    return SUCCESS if can else ctx.fail("there is nothing to look for the parts with")


@action(writes=["coverage"])
def end_coverage(ctx: TickContext) -> RunStatus:
    """Whatever came of it, it is not tried again. Not said before: a guard above looks at it."""
    bb_set(board_of(ctx), "coverage", "done")
    return SUCCESS


@action(
    reads=["query", "delegations", "tool_list", "granted", "withdrawn", *TAKEN_IN],
    writes=["parts", *TAKEN_IN],
)
async def list_parts(ctx: TickContext) -> RunStatus:
    """Search by all words of the question and by each alone; FAILURE where nothing is found."""
    bb = board_of(ctx)
    scopes = [delegation["scope"] for delegation in bb_get(bb, "delegations")]
    tools = [spec.name for spec in granted_tools(bb)]
    asked = searches_for(" ".join([bb_get(bb, "query"), *scopes]), tools)
    ledger = ledger_of(bb)
    calls: list[dict[str, Any]] = []
    for number, (name, arguments) in enumerate(asked):
        if ledger.may_use(name):
            ledger = ledger.with_use(name)
            calls.append(_call(f"coverage-search-{number}", name, arguments))
    results = await perform_calls(ctx, bb, calls, are_shown=False)
    parts = parts_of([r["sources"] for r in results if r and r["success"]], tools)
    bb_set(bb, "parts", parts)
    if not parts:
        return ctx.fail("the searches found no part")
    count = min(len(parts), MOST_PARTS)
    say_system(ctx, f"Reading {count} part{'s'[: count > 1]} of the project, one by one.")
    return SUCCESS


@action(reads=["parts", "messages", "ledger"], writes=["calls", "messages", "seconds_left"])
def hand_out_parts(ctx: TickContext) -> RunStatus:
    """The next few, as calls that the tree makes in the model's place."""
    bb = board_of(ctx)
    calls = [
        _call(f"coverage-part-{number}", part["tool"], part["arguments"])
        for number, part in enumerate(bb_get(bb, "parts")[:MOST_PARTS])
        if part["state"] == "open" and ledger_of(bb).may_use(part["tool"])
    ][:AT_ONCE]
    bb_set(bb, "calls", calls)
    made = [{name: call[name] for name in ("id", "name", "arguments")} for call in calls]
    append(bb, "messages", {"role": "assistant", "content": "", "tool_calls": made})
    note_time_left(ctx)
    return SUCCESS


@action(reads=["parts", "calls", "messages"], writes=["parts", "calls"])
def note_parts(ctx: TickContext) -> RunStatus:
    """Which of them came, and which did not."""
    bb = board_of(ctx)
    came = {m["call_id"]: m["success"] for m in bb_get(bb, "messages") if m["role"] == "tool"}
    parts: list[Part] = bb_get(bb, "parts")
    handed = [call["id"] for call in bb_get(bb, "calls")]

    def noted(number: int, part: Part) -> Part:
        name = f"coverage-part-{number}"
        if name not in handed:
            return part
        return {**part, "state": "read" if came.get(name) else "failed"}

    bb_set(bb, "parts", [noted(number, part) for number, part in enumerate(parts)])
    bb_set(bb, "calls", [])
    return SUCCESS


@action(reads=["parts", "messages", "delegations"], writes=["messages", "delegations"])
def merge_parts(ctx: TickContext) -> RunStatus:
    """Tell the model what stands there and what was left out; FAILURE where nothing was read."""
    bb = board_of(ctx)
    parts: list[Part] = bb_get(bb, "parts")
    if not any(part["state"] == "read" for part in parts):
        return ctx.fail("no part could be read")
    add_system_message(bb, told_after(parts))
    done = [{**delegation, "covered": True} for delegation in bb_get(bb, "delegations")]
    bb_set(bb, "delegations", done)
    if missing := left_out(parts):
        say_system(ctx, f"Not read: {missing}.", "warning")
    return SUCCESS


def _can_cover(bb: TypedBlackboard) -> bool:
    tools = {spec.name for spec in granted_tools(bb)}
    return bb_get(bb, "coverage") != "done" and bool(tools & {*SEARCHES}) and bool(tools & {*READS})


def _call(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "name": name, "arguments": arguments, "not_run": None}

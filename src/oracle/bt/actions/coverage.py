"""For a broad question: list its parts, read them, and put them before the model in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from oracle.bt.actions.oracle import bb_get, bb_set
from oracle.bt.actions.state import append, board_of, granted_tools, ledger_of
from oracle.bt.actions.telling import say_system
from oracle.bt.actions.tools import TAKEN_IN, Call, Result, perform_calls
from oracle.bt.conditions.coverage import are_too_much, how_many_may_be_read, may_be_read, room_for
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.services.coverage.bridges import bridges_in, names_to_follow, with_bridges
from oracle.services.coverage.listing import (
    calls_for_uses,
    can_cover,
    listed_uses,
    parts_of,
    searches_for,
    without_listed,
)
from oracle.services.coverage.merging import message_after, messages_of, settled
from oracle.services.coverage.parts import Part, id_of, is_covered, to_read
from oracle.services.tools.offered import ToCall

AT_ONCE: Final = 4
SHARE_OF_THE_TIME: Final = 0.5
_FAILED: Final = {"state": "failed"}
_MAY: Final = ["coverage", "granted", "withdrawn", "tools_withdrawn", "tool_list"]


@action(reads=_MAY, writes=["coverage"])
def ask_for_coverage(ctx: TickContext) -> RunStatus:
    """At the end of this turn. FAILURE where it was done before, or cannot be done."""
    bb = board_of(ctx)
    if not _can_cover(bb):
        return ctx.fail("the parts were read before, or there is nothing to read them with")
    bb_set(bb, "coverage", "due")
    return SUCCESS


@action(reads=[*_MAY, "ledger"], writes=["parts_until", "seconds_left"])
def begin_coverage(ctx: TickContext) -> RunStatus:
    """FAILURE where it was done before, or where no tool on offer searches and reads.

    Half of the time that is left is for the parts; the rest is for the answer.
    """
    bb = board_of(ctx)
    if not _can_cover(bb):
        return ctx.fail("there is nothing to look for the parts with")
    ledger = ledger_of(bb)
    left = ledger.limits.seconds - ledger.spent("seconds", ctx.now)
    bb_set(bb, "parts_until", ctx.now + SHARE_OF_THE_TIME * left)
    return note_time_for_parts(ctx)


@action(reads=["parts_until"], writes=["seconds_left"])
def note_time_for_parts(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    bb_set(bb, "seconds_left", max(0.0, bb_get(bb, "parts_until") - ctx.now))
    return SUCCESS


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
    """Search by the question and by each of its words; FAILURE where nothing is found."""
    bb = board_of(ctx)
    asked = question_of(bb)
    tools = granted_tools(bb)
    results: list[tuple[Call, Result]] = []
    calls = _allowed(bb, searches_for(asked, tools), "coverage-search")
    await perform_calls(
        ctx, bb, calls, hand_over=lambda _, call, came: results.append((call, came))
    )
    found = [(came["tool_role"], came["sources"]) for _, came in results if came["success"]]
    parts = parts_of(asked, found, tools)
    count = how_many_may_be_read(parts, ledger_of(bb))
    bb_set(bb, "parts", [*listed_uses(results), *without_listed(parts, found, count)])
    if not parts:
        return ctx.fail("the searches found no part")
    if count:
        say_system(ctx, f"Reading {count} part{'s'[: count > 1]} of the project, one by one.")
    return SUCCESS


@action(
    reads=["parts", "tool_list", "granted", "withdrawn", "tools_withdrawn", *TAKEN_IN],
    writes=["parts", *TAKEN_IN],
)
async def follow_imports(ctx: TickContext) -> RunStatus:
    """Look up who uses what the parts offer: a file that another part imports is read next."""
    bb = board_of(ctx)
    parts: list[Part] = bb_get(bb, "parts")
    read = [part for part in parts if part["state"] == "read"]
    tools = granted_tools(bb)
    asked = calls_for_uses(names_to_follow(read), tools)
    sources: list[dict[str, Any]] = []
    await perform_calls(
        ctx,
        bb,
        _allowed(bb, asked, "coverage-import"),
        hand_over=lambda _, call, came: sources.extend(came["sources"]),
    )
    bb_set(bb, "parts", with_bridges(parts, bridges_in(sources, read, tools)))
    return SUCCESS


@action(reads=["parts", "ledger"], writes=["calls"])
def hand_out_parts(ctx: TickContext) -> RunStatus:
    """The next few, as calls that the tree makes in the model's place."""
    bb = board_of(ctx)
    parts: list[Part] = bb_get(bb, "parts")
    open_ = [n for n in to_read(parts) if may_be_read(parts[n], ledger_of(bb))]
    calls = [_call(id_of(n), parts[n]["tool"], parts[n]["arguments"]) for n in open_[:AT_ONCE]]
    bb_set(bb, "calls", calls)
    return SUCCESS


@action(reads=["calls", "parts", "tool_list", *TAKEN_IN], writes=["parts", *TAKEN_IN])
async def read_parts(ctx: TickContext) -> RunStatus:
    """Side by side. Where they are cut short, those that have come are kept."""
    bb = board_of(ctx)
    await perform_calls(ctx, bb, bb_get(bb, "calls"), hand_over=_keep)
    return SUCCESS


@action(reads=["parts", "calls"], writes=["parts", "calls"])
def note_parts(ctx: TickContext) -> RunStatus:
    """Those that were handed out and have not come will not come."""
    bb = board_of(ctx)
    handed = {call["id"] for call in bb_get(bb, "calls")}
    parts: list[Part] = bb_get(bb, "parts")
    noted = [
        {**part, "state": "failed"} if id_of(n) in handed and part["state"] == "open" else part
        for n, part in enumerate(parts)
    ]
    bb_set(bb, "parts", noted)
    bb_set(bb, "calls", [])
    return SUCCESS


@action(
    reads=["parts", "messages", "delegations", "query", "ledger", "weight", "model"],
    writes=["parts", "messages", "delegations"],
)
def merge_parts(ctx: TickContext) -> RunStatus:
    """Put before the model what the parts say, as far as there is room, and what was left out.

    FAILURE where no part came so far.
    """
    bb = board_of(ctx)
    asked = question_of(bb)
    known: list[Part] = bb_get(bb, "parts")
    parts = settled(known, asked, room_for(ctx), are_whole=not are_too_much(ctx))
    bb_set(bb, "parts", parts)
    if not any(map(is_covered, parts)):
        return ctx.fail("no part could be read")
    append(bb, "messages", *messages_of(parts, asked), message_after(parts))
    done = [{**delegation, "covered": True} for delegation in bb_get(bb, "delegations")]
    bb_set(bb, "delegations", done)
    return SUCCESS


def question_of(bb: TypedBlackboard) -> str:
    """The question, with what was to be delegated."""
    scopes = [delegation["scope"] for delegation in bb_get(bb, "delegations")]
    return " ".join([bb_get(bb, "query"), *scopes])


def _allowed(bb: TypedBlackboard, asked: Sequence[ToCall], prefix: str) -> list[Call]:
    """As far as the ledger allows them."""
    ledger = ledger_of(bb)
    calls: list[Call] = []
    for number, (name, arguments) in enumerate(asked):
        if ledger.may_use(name):
            ledger = ledger.with_use(name)
            calls.append(_call(f"{prefix}-{number}", name, arguments))
    return calls


def _keep(bb: TypedBlackboard, call: Call, result: Result) -> None:
    """The text of a part that is still waited for: one that comes too late changes nothing."""
    parts: list[Part] = bb_get(bb, "parts")
    read = {"state": "read", "text": result["content"], "sources": result["sources"]}
    came = read if result["success"] else _FAILED
    kept = [
        {**part, **came} if id_of(n) == call["id"] and part["state"] == "open" else part
        for n, part in enumerate(parts)
    ]
    bb_set(bb, "parts", kept)


def _can_cover(bb: TypedBlackboard) -> bool:
    return bb_get(bb, "coverage") != "done" and can_cover(granted_tools(bb))


def _call(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "name": name, "arguments": arguments, "not_run": None}

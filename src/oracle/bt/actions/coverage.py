"""A broad question: list its parts, read them, and give them to the model in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from oracle.bt.board import (
    OFFER,
    append,
    bb_get,
    bb_set,
    board_of,
    granted_tools,
    ledger_of,
    purse_of,
    question_of,
    wanted_parts,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import say_system
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.tool_calls import RESULTS, Call, Done, Result, perform_calls
from oracle.services.control.overlap import tools_that_found_nothing
from oracle.services.coverage.affordable import which_may_be_read
from oracle.services.coverage.bridges import bridges_in, names_to_follow, with_bridges
from oracle.services.coverage.listing import (
    Found,
    calls_for_uses,
    listed_uses,
    parts_of,
    searches_for,
    searches_for_words,
    without_listed,
)
from oracle.services.coverage.merging import message_after, messages_of, settled
from oracle.services.coverage.parts import (
    MOST_PARTS,
    Part,
    as_quoted,
    id_of,
    is_covered,
    to_read,
)
from oracle.services.tools.offered import ToCall

_FAILED: Final = {"state": "failed"}


@action(reads=["ledger"], writes=["parts_until", "seconds_left"])
def begin(ctx: TickContext, share_of_time: float) -> RunStatus:
    """This share of the time that is left is for the parts; the rest is for the answer."""
    bb = board_of(ctx)
    ledger = ledger_of(bb)
    left = ledger.limits.seconds - ledger.spent("seconds", ctx.now)
    bb_set(bb, "parts_until", ctx.now + share_of_time * left)
    return note_time_for_parts(ctx)


@action(reads=["parts_until"], writes=["seconds_left"])
def note_time_for_parts(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    bb_set(bb, "seconds_left", max(0.0, bb_get(bb, "parts_until") - ctx.now))
    return SUCCESS


@action(writes=["was_covered"])
def close(ctx: TickContext) -> RunStatus:
    """Whatever the result, coverage is not tried again in this run."""
    bb_set(board_of(ctx), "was_covered", True)
    return SUCCESS


@action(writes=["parts_wanted"])
def want_parts(ctx: TickContext, parts: int) -> RunStatus:
    """At most so many are read. Of a narrow question the others are no parts at all."""
    bb_set(board_of(ctx), "parts_wanted", parts)
    return SUCCESS


@action(
    reads=[
        *("query", "delegations", "messages", "tool_list", "granted", "withdrawn", "parts_wanted"),
        *RESULTS,
    ],
    writes=["parts", *RESULTS],
)
async def list_parts(ctx: TickContext, many: int = MOST_PARTS) -> RunStatus:
    """Search by the question, then, if so many are wanted, by each word that was not found.

    FAILURE if nothing is found.
    """
    bb = board_of(ctx)
    asked = question_of(bb)
    tools = granted_tools(bb)
    wanted = wanted_parts(bb)
    results: list[tuple[Call, Result]] = []

    async def search(calls: Sequence[ToCall], prefix: str) -> list[Found]:
        allowed = _allowed(bb, calls, prefix)
        await perform_calls(ctx, bb, allowed, hand_over=lambda _, done: results.extend(done))
        return [(each["tool_role"], each["sources"]) for _, each in results if each["success"]]

    is_broad = wanted >= many
    in_vain = tools_that_found_nothing(asked, bb_get(bb, "messages"), tools)
    searches = [call for call in searches_for(asked, tools) if call[0] not in in_vain]
    found = await search(searches, "coverage-search")
    if is_broad:
        found = await search(searches_for_words(asked, found, tools), "coverage-word")
    # Of a broad question, what is found and not read is named to the model and in the end.
    parts = parts_of(asked, found, tools)[: None if is_broad else wanted]
    count = len(which_may_be_read(parts, ledger_of(bb), wanted))
    bb_set(bb, "parts", [*listed_uses(results), *without_listed(parts, found, count)])
    if not parts:
        return ctx.fail("the searches found no part")
    if count:
        say_system(ctx, f"Reading {count} part{'s'[: count > 1]} of the project, one by one.")
    return SUCCESS


@action(
    reads=["parts", *OFFER, *RESULTS],
    writes=["parts", *RESULTS],
)
async def follow_imports(ctx: TickContext) -> RunStatus:
    """Look up what uses the parts: a file between two of them is read next."""
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
        hand_over=lambda _, done: sources.extend(s for _, r in done for s in r["sources"]),
    )
    bb_set(bb, "parts", with_bridges(parts, bridges_in(sources, read, tools)))
    return SUCCESS


@action(reads=["parts", "parts_wanted"], writes=["parts"])
def take_parts_as_quoted(ctx: TickContext, lines: int) -> RunStatus:
    """Parts of which the search has quoted so many lines need not be read."""
    bb = board_of(ctx)
    parts: list[Part] = bb_get(bb, "parts")
    may_be_read = {*to_read(parts, wanted_parts(bb))}
    taken = [as_quoted(part, lines) if n in may_be_read else part for n, part in enumerate(parts)]
    bb_set(bb, "parts", taken)
    return SUCCESS


@action(reads=["parts", "parts_wanted", "ledger"], writes=["calls"])
def choose_next_parts(ctx: TickContext, at_once: int) -> RunStatus:
    """The next few, as calls that the tree makes in the model's place."""
    bb = board_of(ctx)
    parts: list[Part] = bb_get(bb, "parts")
    open_ = which_may_be_read(parts, ledger_of(bb), wanted_parts(bb))
    calls = [_call(id_of(n), parts[n]["tool"], parts[n]["arguments"]) for n in open_[:at_once]]
    bb_set(bb, "calls", calls)
    return SUCCESS


@action(reads=["calls", "parts", "tool_list", *RESULTS], writes=["parts", *RESULTS])
async def read_parts(ctx: TickContext) -> RunStatus:
    """Read them side by side. If they are cut short, those that have arrived are kept."""
    bb = board_of(ctx)
    await perform_calls(ctx, bb, bb_get(bb, "calls"), hand_over=_keep)
    return SUCCESS


@action(reads=["parts", "calls"], writes=["parts", "calls"])
def note_unread_parts(ctx: TickContext) -> RunStatus:
    """A part that was asked for and did not arrive in time counts as failed."""
    bb = board_of(ctx)
    asked = {call["id"] for call in bb_get(bb, "calls")}
    parts: list[Part] = bb_get(bb, "parts")
    noted = [
        {**part, "state": "failed"} if id_of(n) in asked and part["state"] == "open" else part
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
    """Give the model what the parts say, as far as there is room, and name what was left out.

    FAILURE if no part could be read.
    """
    bb = board_of(ctx)
    asked = question_of(bb)
    known: list[Part] = bb_get(bb, "parts")
    purse = purse_of(ctx)
    are_whole = not purse.are_too_much(known)
    parts = settled(known, asked, purse.has_room_for, are_whole=are_whole)
    bb_set(bb, "parts", parts)
    if not any(map(is_covered, parts)):
        return ctx.fail("no part could be read")
    told = [*messages_of(parts, asked), message_after(parts)]
    append(bb, "messages", *({**message, "turn": ctx.turn} for message in told))
    done = [{**delegation, "covered": True} for delegation in bb_get(bb, "delegations")]
    bb_set(bb, "delegations", done)
    return SUCCESS


def _allowed(bb: TypedBlackboard, asked: Sequence[ToCall], prefix: str) -> list[Call]:
    """The calls, as far as the ledger allows them."""
    ledger = ledger_of(bb)
    calls: list[Call] = []
    for number, (name, arguments) in enumerate(asked):
        if ledger.may_use(name):
            ledger = ledger.with_use(name)
            calls.append(_call(f"{prefix}-{number}", name, arguments))
    return calls


def _keep(ctx: TickContext, done: Sequence[Done]) -> None:
    """Keep the text of a part that is still open: one that arrives too late changes nothing."""
    bb = board_of(ctx)
    for call, result in done:
        parts: list[Part] = bb_get(bb, "parts")
        read = {"state": "read", "text": result["content"], "sources": result["sources"]}
        change = read if result["success"] else _FAILED
        kept = [
            {**part, **change} if id_of(n) == call["id"] and part["state"] == "open" else part
            for n, part in enumerate(parts)
        ]
        bb_set(bb, "parts", kept)


def _call(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "name": name, "arguments": arguments, "not_run": None}

"""Have the model's calls done, or say why they are not."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from oracle.bt.actions.oracle import add_system_message, bb_get, bb_set
from oracle.bt.actions.state import (
    all_tools,
    append,
    board_of,
    ledger_of,
    set_ledger,
)
from oracle.bt.actions.telling import report, say, services_of
from oracle.bt.actions.turn import note_time_left
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.models.stream_chunk import ChunkType
from oracle.models.tool_spec import ToolSpec
from oracle.services.control.conversation import with_result
from oracle.services.control.repetition import REMEMBERED, name_of_call, name_of_result
from oracle.services.tools.results import well_formed

log = logging.getLogger(__name__)

LONGEST_QUOTATION: Final = 400
TAKEN_IN: Final = (
    "ledger",
    "tool_results",
    "made",
    "evidence",
    "new_by_call",
    "sources_tried",
    "sources_empty",
    "seen",
)
"""The keys that the results of calls go into."""

DATA_OF_A_RESULT: Final = ("sources", "more_uses", "tool_role", "tool_kind", "was_run")
"""What a message says in data besides its content."""

Call = dict[str, Any]
Result = dict[str, Any]


@action(
    reads=["calls", "offered", "ledger", "refused"],
    writes=["calls", "seconds_left"],
)
def screen_calls(ctx: TickContext) -> RunStatus:
    """Mark the calls that will not be run, each with the reason that the model is given.

    What counts is what the request offered: what was decided since binds the next one.
    """
    bb = board_of(ctx)
    offered: list[str] = bb_get(bb, "offered")
    refused: list[str] = bb_get(bb, "refused")
    ledger = ledger_of(bb)
    screened: list[Call] = []
    for call in cast("list[Call]", bb_get(bb, "calls")):
        name: str = call["name"]
        reason: str | None = call.get("not_run")
        if reason is None and name not in offered:
            reason = _not_offered(name, offered)
        elif reason is None and refused and name_of_call(name, call["arguments"]) in refused:
            reason = "you have made this call before, and its result was the same each time"
        elif reason is None and not ledger.may_use(name):
            reason = f"{name} was used {ledger.limits.uses_of_a_tool} times, which is the limit"
        screened.append({**call, "not_run": reason})
        ledger = ledger if reason else ledger.with_use(name)
    bb_set(bb, "calls", screened)
    note_time_left(ctx)
    return SUCCESS


@action(
    reads=["calls", "tool_list", "messages", *TAKEN_IN],
    writes=["messages", *TAKEN_IN],
)
async def run_calls(ctx: TickContext) -> RunStatus:
    """Run them side by side. Where they are cut short, the results that have come are kept."""
    bb = board_of(ctx)
    await perform_calls(ctx, bb, bb_get(bb, "calls"))
    return SUCCESS


@action(reads=["messages", "tool_results"], writes=["messages", "was_advised"])
def advise_after_errors(ctx: TickContext) -> RunStatus:
    """What the prompt would have said had the errors been known when it was composed."""
    bb = board_of(ctx)
    for segment in services_of(ctx).prompt_segments:
        if segment.id == "error-recovery":
            add_system_message(bb, segment.content)
    bb_set(bb, "was_advised", True)
    return SUCCESS


def show_to_the_model(bb: TypedBlackboard, call: Call, result: Result) -> None:
    message = {"role": "tool", "call_id": call["id"], "name": call["name"]}
    known = {key: result[key] for key in DATA_OF_A_RESULT if key in result}
    told = {**message, "content": result["content"], "success": bool(result["success"]), **known}
    bb_set(bb, "messages", with_result(bb_get(bb, "messages"), told))


async def perform_calls(
    ctx: TickContext,
    bb: TypedBlackboard,
    calls: Sequence[Call],
    *,
    hand_over: Callable[[TypedBlackboard, Call, Result], None] = show_to_the_model,
) -> None:
    """Run the calls, hand each result over and take it in, also where they are cut short."""
    specs = {spec.name: spec for spec in all_tools(bb)}
    results: list[Result | None] = [None] * len(calls)

    async def run(place: int, call: Call) -> None:
        results[place] = await _result_of(ctx, call, specs.get(call["name"]))

    for call in calls:  # all of them before the first result, in a replay too
        _announce(ctx, call)
    try:
        if len(calls) == 1:
            await run(0, calls[0])
        else:
            working = (run(place, call) for place, call in enumerate(calls))
            # All of them come to an end, whatever becomes of one: none is left behind at work.
            ends = await asyncio.gather(*working, return_exceptions=True)
            raise_first(ends)
    finally:
        for call, result in zip(calls, results, strict=True):
            came = result or _failed("cut off before it was done")
            hand_over(bb, call, came)
            _take_in(ctx, bb, call, came, specs)
    ctx.mark_progress()


def _announce(ctx: TickContext, call: Call) -> None:
    name, arguments = call["name"], call["arguments"]
    say(ctx, ChunkType.TOOL_CALL, id=call["id"], name=name, arguments=arguments)
    if call["not_run"] is None:
        report("tool.called", call_id=call["id"], tool=name, arguments=arguments)


async def _result_of(ctx: TickContext, call: Call, spec: ToolSpec | None) -> Result:
    name, arguments = call["name"], call["arguments"]
    if call["not_run"] is not None or spec is None:
        result = _failed(f"Not run: {call['not_run']}.") | {"was_run": False}
        _tell(ctx, call, result, 0.0)
        return result
    tools = services_of(ctx).tools

    async def effect() -> Any:
        began = time.monotonic()
        try:
            if tools is None:
                raise LookupError("there are no tools here")
            result = well_formed(await tools.run(name, arguments))
        except Exception as problem:
            log.exception("%s failed with %r", name, arguments)
            result = _failed(f"{name} failed: {type(problem).__name__}: {problem}")
        return {**result, "seconds": round(time.monotonic() - began, 4)}

    async def recover() -> Any:
        try:
            if tools is None:
                raise LookupError("there are no tools here")
            return await tools.was_done(name, arguments)
        except Exception as problem:
            log.exception("nobody knows whether %s was done with %r", name, arguments)
            return _failed(
                f"{name} was begun before a crash, and whether it was done is not known "
                f"({problem}); look before you have it done again"
            )

    request = {"tool": name, "arguments": arguments}
    if spec.writes:
        answer = await ctx.perform(request, effect, writes=True, recover=recover)
    else:
        answer = await ctx.perform(request, effect)
    result = {**_failed(""), **cast("Result", answer), "was_run": True}
    result |= {"tool_role": spec.role, "tool_kind": spec.source}
    _tell(ctx, call, result, result.get("seconds", 0.0))
    return result


def _tell(ctx: TickContext, call: Call, result: Result, seconds: float) -> None:
    shown = {name: result[name] for name in ("success", "content", "sources")}
    say(ctx, ChunkType.TOOL_RESULT, id=call["id"], name=call["name"], **shown)
    report(
        "tool.returned",
        call_id=call["id"],
        tool=call["name"],
        success=result["success"],
        seconds=seconds,
        error=None if result["success"] else result["content"][:LONGEST_QUOTATION],
    )


def _take_in(
    ctx: TickContext,
    bb: TypedBlackboard,
    call: Call,
    result: Result,
    specs: Mapping[str, ToolSpec],
) -> None:
    name, content, success = call["name"], result["content"], bool(result["success"])
    spec = specs.get(name)
    if not result.get("was_run") or spec is None:
        append(bb, "tool_results", {"name": name, "success": False, "empty": True, "run": False})
        return
    set_ledger(bb, ledger_of(bb).with_use(name))
    is_empty = bool(result.get("empty")) or not content.strip()
    append(bb, "tool_results", {"name": name, "success": success, "empty": is_empty, "run": True})
    pair = [name_of_call(name, call["arguments"]), name_of_result(success, content)]
    is_new = pair not in bb_get(bb, "made")
    bb_set(bb, "made", [*bb_get(bb, "made"), pair][-REMEMBERED:])
    found = _places(ctx, call, result, spec) if success and not is_empty and is_new else []
    seen: list[str] = bb_get(bb, "seen")
    new = [place for place in found if place["name"] not in seen]
    append(bb, "new_by_call", len(new))
    if new:
        append(bb, "evidence", *new)
        append(bb, "seen", *(place["name"] for place in new))
    _note_source(bb, spec, bool(found))


def _places(ctx: TickContext, call: Call, result: Result, spec: ToolSpec) -> list[dict[str, Any]]:
    """What an answer could cite; a result without a place of its own is named by its call."""
    sources: Sequence[Mapping[str, Any]] = result["sources"] or [
        {"kind": spec.source, "where": spec.name, "text": result["content"]}
    ]
    places: list[dict[str, Any]] = []
    for source in sources:
        text = str(source.get("text", ""))
        name = name_of_result(True, f"{source['where']}\n{text}")
        place = {**source, "text": text[:LONGEST_QUOTATION], "name": name}
        places.append({**place, "turn": ctx.turn, "call": call["id"]})
    return places


def _note_source(bb: TypedBlackboard, spec: ToolSpec, brought_something: bool) -> None:
    """A source counts as empty as long as nothing has come from it."""
    if spec.source is None:
        return
    tried: list[str] = bb_get(bb, "sources_tried")
    empty: list[str] = bb_get(bb, "sources_empty")
    if spec.source not in tried:
        append(bb, "sources_tried", spec.source)
        if not brought_something:
            append(bb, "sources_empty", spec.source)
    elif brought_something and spec.source in empty:
        bb_set(bb, "sources_empty", [kind for kind in empty if kind != spec.source])


def raise_first(ends: Sequence[BaseException | None]) -> None:
    for end in ends:
        if end is not None:
            raise end


def _failed(content: str) -> Result:
    return {"success": False, "content": content, "sources": []}


def _not_offered(name: str, offered: Sequence[str]) -> str:
    if not offered:
        return f"{name} is not granted, and no other tool is: answer from what you have"
    return f"{name} was not granted to you; you had {', '.join(sorted(offered))}"

"""Tool calls performed side by side, for the model or for the tree, and their results taken in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, Final, cast

from oracle.bt.board import (
    all_tools,
    append,
    bb_get,
    bb_set,
    board_of,
    granted_tools,
    ledger_of,
    room_of,
    services_of,
    set_ledger,
)
from oracle.bt.call_outcomes import (
    Call,
    Result,
    failed,
    is_empty,
    names_of,
    note_outcome,
    say_cut_off,
    say_not_run,
    say_what_was_written,
    writing_calls,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.effects import Writing
from oracle.bt.report import report, say, say_system
from oracle.bt.shortfall import unwritten
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.errors import InterruptedWrite
from oracle.logs import logger_of
from oracle.models.stream_chunk import ChunkType
from oracle.models.tool_spec import ToolSpec
from oracle.services.background import is_being_cancelled
from oracle.services.control.conversation import Weight, with_result
from oracle.services.control.needs import Yield, words_in
from oracle.services.control.repetition import REMEMBERED, name_of_call, name_of_result
from oracle.services.control.shortening import cut_results, cut_words, with_content
from oracle.services.control.shown import LONGEST_QUOTATION, places_of
from oracle.services.project.redaction import redact, redacted_traceback
from oracle.services.tools.protocol import MarkingTools
from oracle.services.tools.results import well_formed

log = logger_of(__name__)

RESULTS: Final = (
    "ledger",
    "tool_results",
    "made",
    "evidence",
    "new_by_call",
    "yields",
    "words_found",
    "sources_tried",
    "sources_empty",
)
"""The keys that results of calls are taken in to."""

DATA_OF_A_RESULT: Final = ("sources", "more_uses", "tool_role", "tool_kind", "was_run", "empty")
"""What a message says in data besides its content."""

_NOT_RUN: Final = failed("") | {"was_run": False}

Done = tuple[Call, Result]


def show_to_the_model(ctx: TickContext, done: Sequence[Done]) -> None:
    """Add the results to the conversation, each cut to its share of what there is room for.

    A call has one result. One that arrives after the call was given up is left out.
    """
    bb = board_of(ctx)
    answered = _answered_in_this_turn(bb_get(bb, "messages"))
    done = [(call, result) for call, result in done if call["id"] not in answered]
    # Only measured, not noted: the results go before messages that are measured here.
    weight = Weight.from_dict(bb_get(bb, "weight")).with_all(bb_get(bb, "messages"))
    room = replace(room_of(ctx), messages=weight.tokens)
    advice = [_how_to_get_the_rest(bb, call) for call, _ in done]
    cut = cut_results([result["content"] for _, result in done], room.for_results(), advice)
    for (call, result), content in zip(done, cut, strict=True):
        message = {"role": "tool", "call_id": call["id"], "name": call["name"], "turn": ctx.turn}
        data = {key: result[key] for key in DATA_OF_A_RESULT if key in result}
        whole = {**message, "content": result["content"], "success": bool(result["success"])}
        if content != result["content"]:
            say_system(ctx, f"{cut_words(result['content'], content)}: {call['name']}.")
        shown = with_content({**whole, **data}, content)
        if "more_uses" in data:
            shown["more_uses"] = data["more_uses"]  # that there are more stays true
        bb_set(bb, "messages", with_result(bb_get(bb, "messages"), shown))


def _answered_in_this_turn(messages: Sequence[Mapping[str, Any]]) -> set[str]:
    """The calls that have a result. Some models use the same ids again in each turn."""
    newest = takewhile(lambda message: message["role"] != "assistant", reversed(messages))
    return {message["call_id"] for message in newest if message["role"] == "tool"}


def _how_to_get_the_rest(bb: TypedBlackboard, call: Call) -> str:
    """Advice that names only tools of the next request."""
    tools = granted_tools(bb)
    own = next((spec for spec in tools if spec.name == call["name"]), None)
    if own is not None and own.role == "read":
        return f"For the rest, call {own.name} for a later or smaller part."
    source = own.source if own is not None else None
    reading = [spec.name for spec in tools if spec.role == "read" and spec.source == source]
    if own is not None and reading:
        return (
            f"For the rest, read one place with {reading[0]}, or make a narrower {own.name} call."
        )
    if own is not None:
        return f"For the rest, make a narrower {own.name} call."
    return "No tool is left to get the rest; say in the answer what is missing."


async def perform_calls(
    ctx: TickContext,
    bb: TypedBlackboard,
    calls: Sequence[Call],
    *,
    hand_over: Callable[[TickContext, Sequence[Done]], None] = show_to_the_model,
) -> None:
    """Run the calls, hand over their results and take them in, also if they are cut short."""
    specs = {spec.name: spec for spec in all_tools(bb)}
    results: list[Result | None] = [None] * len(calls)
    turn = ctx.turn

    async def run_one(place: int, call: Call) -> None:
        results[place] = await _result_of(ctx, call, specs.get(call["name"]))

    # All are announced before the first result, because a replay has the results at once.
    for call in calls:
        _announce(ctx, call)
    # So are calls that are not run answered: beside others they would be so at any moment.
    for place, call in enumerate(calls):
        if call.get("not_run") is not None:
            results[place] = _not_run(ctx, call)
    left = [(place, call) for place, call in enumerate(calls) if results[place] is None]
    try:
        if len(left) == 1:
            await run_one(*left[0])
        elif left:
            working = (run_one(place, call) for place, call in left)
            # Every call comes to its end, whatever happens to one of them: none is left at work.
            ends = await asyncio.gather(*working, return_exceptions=True)
            raise_first(ends)
    finally:
        # In the order of the calls, not of their ends: the same in every replay.
        done: list[Done] = []
        for call, result in zip(calls, results, strict=True):
            done.append((call, result or cut_off(specs.get(call["name"]))))
            if result is None:
                _say_result(ctx, *done[-1], 0.0)
                say_cut_off(ctx, call)
        # Calls that ignored their cancellation end late, in another turn: these were given up.
        if ctx.turn == turn:
            hand_over(ctx, done)
            for call, arrived in done:
                _take_in(ctx, bb, call, arrived, specs)
    ctx.mark_progress()


def answer_without_running(ctx: TickContext, calls: Sequence[Call], why: str) -> list[Done]:
    """Show the user calls that nobody will run, each with its reason. Returns their results.

    A call that would have written something is named as missing.
    """
    bb = board_of(ctx)
    done: list[Done] = []
    for call in calls:
        # A call that was refused before keeps the reason that it has.
        refused = {**call, "not_run": call.get("not_run") or why}
        _announce(ctx, refused)
        done.append((call, _not_run(ctx, refused)))
    if others := [call for call in calls if call.get("not_run") is None]:
        say_system(ctx, f"Not run, because {why}: {names_of(others)}.")
    for call in writing_calls(bb, calls):
        note_outcome(ctx, call, _NOT_RUN)
    bb_set(bb, "missing", list(dict.fromkeys([*bb_get(bb, "missing"), *unwritten(bb)])))
    bb_set(bb, "calls_wait", False)
    return done


def leave_out(ctx: TickContext, calls: Sequence[Call], why: str) -> None:
    """Note calls that are not part of the conversation, as far as they would have written."""
    for call in writing_calls(board_of(ctx), calls):
        say_not_run(ctx, call, why)
        note_outcome(ctx, call, _NOT_RUN)


def note_cut_off(ctx: TickContext, calls: Sequence[Call]) -> None:
    """Note the writes that were begun, and whose results are not there."""
    bb = board_of(ctx)
    answered = _answered_in_this_turn(bb_get(bb, "messages"))
    for call in writing_calls(bb, calls):
        if call["id"] not in answered:
            note_outcome(ctx, call, failed(""))


def raise_first(ends: Sequence[BaseException | None]) -> None:
    for end in ends:
        if end is not None:
            raise end


def _announce(ctx: TickContext, call: Call) -> None:
    name, arguments = call["name"], call["arguments"]
    say(ctx, ChunkType.TOOL_CALL, id=call["id"], name=name, arguments=arguments)
    if call["not_run"] is None:
        report(ctx, "tool.called", call_id=call["id"], tool=name, arguments=arguments)


async def _result_of(ctx: TickContext, call: Call, spec: ToolSpec | None) -> Result:
    name, arguments = call["name"], call["arguments"]
    if call["not_run"] is not None or spec is None:
        return _not_run(ctx, call)
    tools = services_of(ctx).tools
    written: Any = None

    async def mark() -> Any:
        """What identifies the write after a crash, for tools that can tell."""
        nonlocal written
        if isinstance(tools, MarkingTools):
            written = await tools.mark(name, arguments)
        return written

    async def effect() -> Any:
        began = time.monotonic()
        try:
            if tools is None:
                raise LookupError("there are no tools here")
            if isinstance(tools, MarkingTools):
                result = well_formed(await tools.run(name, arguments, written))
            else:
                result = well_formed(await tools.run(name, arguments))
        except (Exception, asyncio.CancelledError) as problem:
            if isinstance(problem, asyncio.CancelledError) and is_being_cancelled():
                raise
            log.error("%s failed:\n%s", name, redacted_traceback(problem))
            result = failed(redact(f"{name} failed: {type(problem).__name__}: {problem}"))
        return {**result, "seconds": round(time.monotonic() - began, 4)}

    async def recover(recorded: Any) -> Any:
        """After a crash: the intent to write is on record, its end is not."""
        nonlocal written
        written = recorded
        try:
            if tools is None:
                raise InterruptedWrite("there are no tools here")
            if isinstance(tools, MarkingTools):
                done = await tools.was_done(name, arguments, recorded)
            else:
                done = await tools.was_done(name, arguments)
            return None if done is None else well_formed(done)
        # Any other exception means the same: whether it was done is not known.
        except Exception as problem:
            log.warning("whether %s was done is not known: %s", name, redact(str(problem)))
            return failed(
                f"{name} was begun before a crash, and whether it was done is not known "
                f"({redact(str(problem))}). Nothing was written now. Look before you call it again."
            ) | {"is_unknown": True}

    request = {"tool": name, "arguments": arguments}
    if spec.writes:
        answer = await ctx.perform(request, effect, writes=Writing(mark, recover))
    else:
        answer = await ctx.perform(request, effect)
    result = {**failed(""), **cast("Result", answer), "was_run": True}
    result |= {"tool_role": spec.role, "tool_kind": spec.source}
    if spec.writes:
        say_what_was_written(ctx, call, result, spec)
    _say_result(ctx, call, result, result.get("seconds", 0.0))
    return result


def _not_run(ctx: TickContext, call: Call) -> Result:
    result = failed(f"Not run: {call['not_run']}.") | {"was_run": False}
    _say_result(ctx, call, result, 0.0)
    say_not_run(ctx, call, call["not_run"])
    return result


def _say_result(ctx: TickContext, call: Call, result: Result, seconds: float) -> None:
    shown = {name: result[name] for name in ("success", "content", "sources")}
    shown["was_run"] = result.get("was_run", True)
    say(ctx, ChunkType.TOOL_RESULT, id=call["id"], name=call["name"], **shown)
    report(
        ctx,
        "tool.returned",
        call_id=call["id"],
        tool=call["name"],
        success=result["success"],
        seconds=seconds,
        error=None if result["success"] else result["content"][:LONGEST_QUOTATION],
    )


# -- taking results in -----------------------------------------------------------------------------


def _take_in(
    ctx: TickContext,
    bb: TypedBlackboard,
    call: Call,
    result: Result,
    specs: Mapping[str, ToolSpec],
) -> None:
    name, content, success = call["name"], result["content"], bool(result["success"])
    spec = specs.get(name)
    note_outcome(ctx, call, result)
    if not result.get("was_run") or spec is None:
        return
    set_ledger(bb, ledger_of(bb).with_use(name))
    pair = [name_of_call(call["name"], call["arguments"]), name_of_result(success, content)]
    is_new = pair not in bb_get(bb, "made")
    bb_set(bb, "made", [*bb_get(bb, "made"), pair][-REMEMBERED:])
    found = _places(ctx, call, result, spec) if success and not is_empty(result) and is_new else []
    known = {place["name"] for place in bb_get(bb, "evidence")}
    new = [place for place in found if place["name"] not in known]
    append(bb, "new_by_call", len(new))
    append(bb, "yields", _yield_of(bb, call, result if is_new else failed("")))
    if new:
        append(bb, "evidence", *new)
    _note_source(bb, spec, bool(found))


def _yield_of(bb: TypedBlackboard, call: Call, result: Result) -> Yield:
    """What the call brought that the question needs. New words of the question are noted."""
    if not result["success"] or is_empty(result):
        return "nothing"
    known: list[str] = bb_get(bb, "words_found")
    # A tool may repeat the words of its call, so only what it quotes counts, if it quotes anything.
    quoted = (f"{each.get('path', '')}\n{each.get('text', '')}" for each in result["sources"])
    text = "\n".join(quoted) or result["content"]
    if new := [word for word in words_in(bb_get(bb, "query"), text) if word not in known]:
        append(bb, "words_found", *new)
        return "words"
    return "lead" if call.get("is_lead") else "same"


def _places(ctx: TickContext, call: Call, result: Result, spec: ToolSpec) -> list[dict[str, Any]]:
    """What an answer could cite; a result without a place of its own is named by its tool."""
    sources: Sequence[Mapping[str, Any]] = result["sources"] or [
        {"kind": spec.source, "where": spec.name, "text": result["content"]}
    ]
    return places_of(sources, turn=ctx.turn, call=call["id"])


def _note_source(bb: TypedBlackboard, spec: ToolSpec, brought_something: bool) -> None:
    """A source counts as empty until it brings something."""
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


def cut_off(spec: ToolSpec | None) -> Result:
    if spec is not None and spec.writes:
        return failed(
            "cut off; it is not known whether it was done, so look before you call it again"
        )
    return failed("cut off before it was done")

"""What became of a call: noted on the board, and told to the user if it was to write something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oracle.bt.board import all_tools, append, bb_get, board_of
from oracle.bt.core.context import TickContext
from oracle.bt.report import say_system
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.models.tool_spec import ToolSpec
from oracle.services.control.repetition import name_of_call
from oracle.services.control.writes import State, note_of_write, was_refused, would_write
from oracle.services.story.words import call_words, result_words

Call = dict[str, Any]
Result = dict[str, Any]


def writing_calls(bb: TypedBlackboard, calls: Sequence[Call]) -> list[Call]:
    return [call for call in calls if would_write(call["name"], _spec_of(bb, call))]


def names_of(calls: Sequence[Call]) -> str:
    return ", ".join(dict.fromkeys(call["name"] for call in calls))


def is_empty(result: Result) -> bool:
    return bool(result.get("empty")) or not result["content"].strip()


def failed(content: str) -> Result:
    return {"success": False, "content": content, "sources": []}


# -- on the board ----------------------------------------------------------------------------------


def note_outcome(ctx: TickContext, call: Call, result: Result) -> None:
    """Add a call to the list of results: what later decisions know of it."""
    bb = board_of(ctx)
    was_run, spec = bool(result.get("was_run")), _spec_of(bb, call)
    entry: dict[str, Any] = {"name": call["name"], "success": was_run and bool(result["success"])}
    entry |= {"empty": not was_run or is_empty(result), "run": was_run}
    # A write that is done is no failure, however often it is asked for; nor is a needless call.
    entry["success"] |= bool(call.get("is_repeat") or call.get("is_spared"))
    if would_write(call["name"], spec):
        entry["write"] = note_of_write(call, spec, ctx.turn, _state_of_write(call, result))
    append(bb, "tool_results", entry)


def _state_of_write(call: Call, result: Result) -> State:
    if call.get("is_denied"):
        return "denied"
    if result.get("was_run") is False:
        return "not_run"
    # Without a result it was cut off.
    if "was_run" not in result or result.get("is_unknown"):
        return "in_doubt"
    return "done" if result["success"] else "failed"


def _spec_of(bb: TypedBlackboard, call: Call) -> ToolSpec | None:
    return next((spec for spec in all_tools(bb) if spec.name == call["name"]), None)


# -- to the user -----------------------------------------------------------------------------------


def say_what_was_written(ctx: TickContext, call: Call, result: Result, spec: ToolSpec) -> None:
    """One line about a write, for users who do not watch the run."""
    shown = _shown(call)
    places = ", ".join(dict.fromkeys(source["where"] for source in result["sources"]))
    if result.get("is_unknown"):
        say_system(ctx, str(result["content"]), "warning")
    elif not result["success"]:
        words = result_words(result["content"], places=0)
        say_system(ctx, f"{shown} failed: {words}", "notice")
    elif result.get("plan"):
        say_system(ctx, f"dry run, not run: {shown}", "notice")
    # A note is known by its file. What an own tool did, only its arguments say.
    else:
        has_file = places and not spec.needs_yes
        say_system(ctx, f"wrote {places}" if has_file else f"ran {shown}", "notice")


def say_not_run(ctx: TickContext, call: Call, why: str) -> None:
    """Tell the user of a write that is not run, once for each call. Of other calls the result
    says so, which is shown with the details of a run.
    """
    bb = board_of(ctx)
    name = name_of_call(call["name"], call["arguments"])
    # A person who said no knows it.
    is_known = call.get("is_denied") or was_refused(bb_get(bb, "tool_results"), name)
    if writing_calls(bb, [call]) and not is_known:
        # What follows is advice for the model.
        say_system(ctx, f"not run: {_shown(call)}: {why.partition(';')[0]}", "notice")


def say_cut_off(ctx: TickContext, call: Call) -> None:
    if writing_calls(board_of(ctx), [call]):
        told = f"{_shown(call)} was cut off; it is not known whether it was done"
        say_system(ctx, told, "warning")


def _shown(call: Call) -> str:
    return call_words(call["name"], call["arguments"], with_names=True)

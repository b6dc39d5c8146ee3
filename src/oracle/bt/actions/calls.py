"""The model's tool calls: screened by a few rules, then run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from oracle.bt.board import ROOM, all_tools, bb_get, bb_set, board_of, ledger_of, note_time_left
from oracle.bt.call_outcomes import Call
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.shortfall import ORDERED
from oracle.bt.state.base import RUNNING, SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.tool_calls import (
    RESULTS,
    answer_without_running,
    cut_off,
    note_cut_off,
    perform_calls,
    show_to_the_model,
)
from oracle.models.tool_spec import Role
from oracle.services.control.guesses import is_guess, places_named
from oracle.services.control.needs import follows_a_lead, last_in_vain
from oracle.services.control.overlap import (
    GATHERING_ROLES,
    OVERVIEW_ROLES,
    is_in_vain,
    reasons_not_to_run,
    searches_in_vain,
)
from oracle.services.control.repetition import name_of_call
from oracle.services.control.rereading import is_shown, lines_shown
from oracle.services.control.writes import done_writes

# -- screening: a call that will not be run carries the reason, which the model is given -----------


@action(reads=["calls", "offered"], writes=["calls"])
def refuse_ungranted(ctx: TickContext) -> RunStatus:
    """What counts is what the request offered: later decisions bind the next request."""
    bb = board_of(ctx)
    offered: list[str] = bb_get(bb, "offered")
    _refuse(bb, lambda call: None if call["name"] in offered else _not_offered(call, offered))
    return SUCCESS


@action(reads=["calls", "tool_list"], writes=["calls"])
def refuse_without_arguments(ctx: TickContext) -> RunStatus:
    """A call that lacks an argument which its tool requires cannot succeed."""
    bb = board_of(ctx)
    specs = {spec.name: spec for spec in all_tools(bb)}

    def reason(call: Call) -> str | None:
        spec = specs.get(call["name"])
        if spec is None or not isinstance(call["arguments"], Mapping):
            return None
        lacking = spec.lacking(cast("Mapping[str, Any]", call["arguments"]))
        takes = ", ".join(spec.parameters.get("properties", {}))
        return f"{', '.join(lacking)} is missing; it takes {takes}" if lacking else None

    _refuse(bb, reason)
    return SUCCESS


@action(reads=["calls", "response"], writes=["calls"])
def refuse_half_written(ctx: TickContext) -> RunStatus:
    """A response that reached its longest output may have been cut in the middle of a call.

    Its arguments are not JSON then. This says why.
    """
    bb = board_of(ctx)
    if bb_get(bb, "response")["ending"]["kind"] == "length":
        told = "your response was cut at its longest output in the middle of this call"
        calls: list[Call] = bb_get(bb, "calls")
        marked = [{**c, "not_run": told} if isinstance(c["arguments"], str) else c for c in calls]
        bb_set(bb, "calls", marked)
    return SUCCESS


@action(reads=["calls", "tool_list", "tool_results"], writes=["calls"])
def refuse_writes_done_before(ctx: TickContext) -> RunStatus:
    """The same write a second time is a repeat, whatever its result would be.

    The result of a write may differ each time, by a time or a number, so it does not show that the
    model goes in circles. A write that failed may be tried again.
    """
    bb = board_of(ctx)
    calls: list[Call] = bb_get(bb, "calls")
    writing = {spec.name for spec in all_tools(bb) if spec.writes}
    done = done_writes(bb_get(bb, "tool_results"))
    marked: list[Call] = []
    for call in calls:
        name = name_of_call(call["name"], call["arguments"])
        if call.get("not_run") is None and call["name"] in writing:
            if (turn := done.get(name)) is not None:
                told = f"it was done before, in turn {turn}"
                if turn == ctx.turn:
                    told = "another call of this response is the same"
                call = {**call, "not_run": told, "is_repeat": True}
            # The calls of one response count one after the other.
            done = {name: ctx.turn, **done}
        marked.append(call)
    bb_set(bb, "calls", marked)
    return SUCCESS


@action(reads=["calls", "refused"], writes=["calls"])
def refuse_calls_refused_before(ctx: TickContext) -> RunStatus:
    """A call that led in circles was refused from then on."""
    bb = board_of(ctx)
    refused: list[str] = bb_get(bb, "refused")
    if refused:
        told = "you have made this call before, and its result was the same each time"

        def reason(call: Call) -> str | None:
            return told if name_of_call(call["name"], call["arguments"]) in refused else None

        _refuse(bb, reason)
    return SUCCESS


@action(reads=["calls", "ledger"], writes=["calls"])
def refuse_used_up(ctx: TickContext) -> RunStatus:
    """The calls of one response count one after the other."""
    bb = board_of(ctx)
    ledger = ledger_of(bb)

    def reason(call: Call) -> str | None:
        nonlocal ledger
        name: str = call["name"]
        if not ledger.may_use(name):
            return f"{name} was used {ledger.limits.uses_of_a_tool} times, which is the limit"
        ledger = ledger.with_use(name)
        return None

    _refuse(bb, reason)
    return SUCCESS


@action(reads=["calls", "tool_list"], writes=["calls"])
def refuse_overlapping(
    ctx: TickContext, usual: int, searches: int, reads: int, overviews: int = 3
) -> RunStatus:
    """Of one response: a call that is there twice, and a search whose words another search has. If
    more than a `usual` number are left, also what is more than so many searches, reads or overviews
    with one tool: the first results may be enough.
    """
    bb = board_of(ctx)
    specs = {spec.name: spec for spec in all_tools(bb)}
    most: dict[Role, int] = {"search": searches, "read": reads, "uses": reads}
    most |= dict.fromkeys(OVERVIEW_ROLES, overviews)
    calls: list[Call] = bb_get(bb, "calls")
    left = [call for call in calls if call.get("not_run") is None]
    reasons = iter(reasons_not_to_run(left, specs, most, usual=usual))
    _refuse(bb, lambda _: next(reasons), is_spared=True)
    return SUCCESS


@action(reads=["calls", "messages", "tool_list"], writes=["calls"])
def refuse_searches_in_vain(ctx: TickContext) -> RunStatus:
    """A search whose words were all searched for before, when nothing was found."""
    bb = board_of(ctx)
    specs = {spec.name: spec for spec in all_tools(bb)}
    if before := searches_in_vain(bb_get(bb, "messages"), specs):
        told = "an earlier search with these words found nothing there; use other words, or answer"

        def reason(call: Call) -> str | None:
            return told if is_in_vain(call, specs, before) else None

        _refuse(bb, reason, is_spared=True, is_in_vain=True)
    return SUCCESS


@action(reads=["calls", "messages", "tool_results", "tool_list", "evidence"], writes=["calls"])
def refuse_guesses(ctx: TickContext, failures: int) -> RunStatus:
    """After so many reads that failed, a place that neither the user nor a result has named is only
    a guess. A search says what there is.
    """
    bb = board_of(ctx)
    readers = {spec.name: spec for spec in all_tools(bb) if spec.role == "read"}
    results: list[dict[str, Any]] = bb_get(bb, "tool_results")
    failed = (each for each in results if each["run"] and not each["success"])
    if sum(each["name"] in readers for each in failed) >= failures:
        # A long result is shortened later; its places stay on the board.
        found = (str(place.get("path") or place["where"]) for place in bb_get(bb, "evidence"))
        named = "\n".join((places_named(bb_get(bb, "messages")), *found)).lower()
        told = "nothing so far names this place, and other guesses failed; search for it first"

        def reason(call: Call) -> str | None:
            spec = readers.get(call["name"])
            return told if spec is not None and is_guess(call, spec, named) else None

        _refuse(bb, reason, is_spared=True, is_guess=True)
    return SUCCESS


@action(reads=["calls", "messages", "tool_results", "tool_list"], writes=["calls"])
def refuse_lines_shown_before(ctx: TickContext) -> RunStatus:
    """Lines that an earlier read shows already. After a write they may have changed."""
    bb = board_of(ctx)
    readers = {spec.name: spec for spec in all_tools(bb) if spec.role == "read"}
    shown = lines_shown(bb_get(bb, "messages"))
    if shown and not any("write" in each for each in bb_get(bb, "tool_results")):
        told = "an earlier result shows all these lines; look there, read another place, or answer"

        def reason(call: Call) -> str | None:
            spec = readers.get(call["name"])
            return told if spec is not None and is_shown(call, spec, shown) else None

        _refuse(bb, reason, is_spared=True)
    return SUCCESS


@action(reads=["calls", "query", "yields", "tool_results", "tool_list"], writes=["calls"])
def refuse_more_overviews(ctx: TickContext, overviews: int) -> RunStatus:
    """After so many lists and maps, and as many calls since the last new word of the question, the
    model knows what there is. Where the answer is, a search says. A name that neither the question
    nor a result has is only a guess then.
    """
    bb = board_of(ctx)
    over = {spec.name for spec in all_tools(bb) if spec.role in OVERVIEW_ROLES}
    naming = {spec.name for spec in all_tools(bb) if spec.role == "uses"}
    asked: str = bb_get(bb, "query").lower()
    results: list[dict[str, Any]] = bb_get(bb, "tool_results")
    looked = len([each for each in results if each["run"] and each["name"] in over])
    if looked >= overviews and len(last_in_vain(bb_get(bb, "yields"))) >= overviews:
        told = "you have seen what there is; search for the words of the question, or answer"

        def reason(call: Call) -> str | None:
            is_guess = call["name"] in naming and not _has_one_of(asked, call["arguments"])
            is_more = call["name"] in over or is_guess
            return told if is_more and not call.get("is_lead") else None

        _refuse(bb, reason, is_spared=True)
    return SUCCESS


def _has_one_of(text: str, arguments: Mapping[str, Any] | str) -> bool:
    """Whether the text has a name that is looked up. Arguments that cannot be read have none."""
    if not isinstance(arguments, Mapping):
        return False
    names = (value.strip().lower() for value in arguments.values() if isinstance(value, str))
    return any(len(name) > 1 and name in text for name in names)


@action(reads=["calls", "messages", "evidence", "query", "tool_list"], writes=["calls"])
def mark_leads(ctx: TickContext) -> RunStatus:
    """Mark the calls that ask for a name which a result has shown: they may bring something new."""
    bb = board_of(ctx)
    messages: list[dict[str, Any]] = bb_get(bb, "messages")
    shown = "\n".join([message["content"] for message in messages if message["role"] == "tool"])
    found = {str(place.get("path") or place["where"]) for place in bb_get(bb, "evidence")}
    naming = {spec.name for spec in all_tools(bb) if spec.role == "uses"}
    calls: list[Call] = bb_get(bb, "calls")
    marked = [
        {
            **call,
            "is_lead": follows_a_lead(
                call["arguments"],
                question=bb_get(bb, "query"),
                shown=shown,
                found=found,
                takes_a_name=call["name"] in naming,
            ),
        }
        for call in calls
    ]
    bb_set(bb, "calls", marked)
    return SUCCESS


@action(
    reads=["calls", "yields", "surplus", "sources_tried", "tool_list", "tool_results"],
    writes=["calls", "surplus"],
)
def refuse_more_of_the_same(ctx: TickContext, leads: int, reads: int) -> RunStatus:
    """Enough is there: more calls of the same kind are not run.

    These are run all the same: the first few reads; a call that follows a lead, up to so many
    without a new word of the question; a call about a source that was not tried yet; and one that
    the model makes again after it was refused, because then it insists.
    """
    bb = board_of(ctx)
    specs = {spec.name: spec for spec in all_tools(bb)}
    tried: list[str] = bb_get(bb, "sources_tried")
    surplus: list[str] = bb_get(bb, "surplus")
    followed = last_in_vain(bb_get(bb, "yields")).count("lead")
    ran: list[str] = [each["name"] for each in bb_get(bb, "tool_results") if each["run"]]
    left = reads - sum(name in specs and specs[name].role == "read" for name in ran)
    refused: list[str] = []

    def reason(call: Call) -> str | None:
        nonlocal left
        spec = specs.get(call["name"])
        if spec is None or spec.role not in GATHERING_ROLES or spec.source not in tried:
            return None
        name = name_of_call(call["name"], call["arguments"])
        left -= spec.role == "read"
        is_early = spec.role == "read" and left >= 0
        if is_early or name in surplus or (call.get("is_lead") and followed < leads):
            return None
        refused.append(name)
        return (
            "what was found has the words of the question, and the last calls added none; answer, "
            "or say in your signal which part is open and make this call again"
        )

    _refuse(bb, reason, is_spared=True)
    bb_set(bb, "surplus", refused)
    return SUCCESS


@action(reads=["calls", "tool_list", "signal"], writes=["calls"])
def refuse_searches(ctx: TickContext) -> RunStatus:
    """Searches next to "the context is sufficient" contradict it; a call that writes does not."""
    bb = board_of(ctx)
    writing = {spec.name for spec in all_tools(bb) if spec.writes}
    told = "you say that the context is sufficient; answer"
    _refuse(bb, lambda call: None if call["name"] in writing else told)
    return SUCCESS


def _refuse(bb: TypedBlackboard, reason: Callable[[Call], str | None], **mark: bool) -> None:
    """Mark the calls that have a reason not to be run; a call marked before keeps its mark."""
    calls: list[Call] = bb_get(bb, "calls")
    marked: list[Call] = []
    for call in calls:
        if call.get("not_run") is None:
            why = reason(call)
            call = {**call, "not_run": why} | (mark if why is not None else {})
        marked.append(call)
    bb_set(bb, "calls", marked)


# -- running ---------------------------------------------------------------------------------------


@action(reads=["is_last_turn", "ledger"], writes=["seconds_left", "was_awaited"])
def note_the_time_left(ctx: TickContext) -> RunStatus:
    note_time_left(ctx)
    bb_set(board_of(ctx), "was_awaited", False)
    return SUCCESS


@action(reads=["calls", "messages", *ROOM, *RESULTS], writes=["messages", "calls_wait", *RESULTS])
async def run(ctx: TickContext) -> RunStatus:
    """Run them side by side. If they are cut short, the results that have arrived are kept."""
    bb = board_of(ctx)
    bb_set(bb, "calls_wait", False)
    await perform_calls(ctx, bb, bb_get(bb, "calls"))
    return SUCCESS


@action(
    reads=["calls", "calls_wait", "messages", "missing", "was_awaited", *ORDERED, *ROOM],
    writes=["messages", "missing", "tool_results", "calls_wait", "was_awaited"],
)
def answer_unfinished(ctx: TickContext) -> RunStatus:
    """Give calls that were stopped a result: providers insist on one.

    Calls that had begun leave their results by the next tick, so that is waited for. Calls that
    had not begun are shown to the user too, who has not heard of them.
    """
    bb = board_of(ctx)
    if not bb_get(bb, "was_awaited"):
        bb_set(bb, "was_awaited", True)
        ctx.wake()
        return RUNNING
    specs = {spec.name: spec for spec in all_tools(bb)}
    calls: list[Call] = bb_get(bb, "calls")
    if bb_get(bb, "calls_wait"):
        why = "the time that is left is kept for the answer"
        done = answer_without_running(ctx, calls, why)
    else:
        note_cut_off(ctx, calls)
        done = [(call, cut_off(specs.get(call["name"]))) for call in calls]
    show_to_the_model(ctx, done)
    return SUCCESS


def _not_offered(call: Call, offered: Sequence[str]) -> str:
    if not offered:
        return f"{call['name']} is not granted, and no other tool is: answer from what you have"
    return f"{call['name']} was not granted; you had {', '.join(sorted(offered))}"

"""Grants on request: a tool that reads, a tool that writes after a person's yes, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence

from oracle.bt.actions.approvals import asked_a_person
from oracle.bt.board import (
    all_tools,
    append,
    bb_get,
    bb_set,
    board_of,
    capability_tools,
    classification_of,
    give_reason,
    new_gaps,
    shares_of,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import report, say_system, say_verdict, tell_model
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.models.source_kind import SOURCE_KINDS
from oracle.services.ans.event import Severity
from oracle.services.control.grants import Rung, more_tools

_ASKED = ("signal", "tool_list", "withdrawn", "denied")
_GIVEN = ("granted", "messages", "tool_reasons")


@action(reads=[*_ASKED, *_GIVEN], writes=_GIVEN)
def reading_tools(ctx: TickContext) -> RunStatus:
    """Grant the tools that can do it and only read."""
    bb = board_of(ctx)
    reading = capability_tools(bb, writes=False)
    new = [name for name in reading if name not in bb_get(bb, "granted")]
    if not new:
        return _has_it_already(ctx, reading)
    reason = bb_get(bb, "signal")["reason"]
    _give(ctx, new, reason)
    say_verdict(ctx, "granted", reason)
    return SUCCESS


@action(reads=[*_ASKED, *_GIVEN], writes=_GIVEN)
def remind_of_granted_tools(ctx: TickContext) -> RunStatus:
    """Remind the model of the writing tools that were granted before."""
    return _has_it_already(ctx, capability_tools(board_of(ctx), writes=True))


@action(
    reads=[*_ASKED, *_GIVEN, "gaps"],
    writes=[*_GIVEN, "denied", "gaps"],
)
async def writing_tools_if_a_person_agrees(ctx: TickContext) -> RunStatus:
    """Ask a person, then grant or refuse the tools that can do it and write.

    A tool that needs a yes to each call is offered, and its calls are asked about.
    """
    bb = board_of(ctx)
    known: list[str] = bb_get(bb, "granted")
    fitting = [name for name in capability_tools(bb, writes=True) if name not in known]
    reason: str = bb_get(bb, "signal")["reason"]
    careful = {spec.name for spec in all_tools(bb) if spec.needs_yes}
    if later := [name for name in fitting if name in careful]:
        # Asked now, the person could not see what the model will call it with.
        _give(ctx, later, reason, by="the tree: a person is asked about each call")
        say_verdict(ctx, "granted", "a person is asked about each call")
    writing = [name for name in fitting if name not in careful]
    if not writing:
        return SUCCESS
    if await asked_a_person(ctx, f"Allow {', '.join(writing)}? {reason}", writing):
        _give(ctx, writing, reason, by="a person")
        say_verdict(ctx, "granted", "a person said yes")
    else:
        _refuse(ctx, writing, reason, "a person")
    return SUCCESS


@action(
    reads=[*_ASKED, "messages", "gaps", "tool_reasons"],
    writes=["denied", "messages", "gaps", "tool_reasons"],
)
def refuse_writing_tools(ctx: TickContext, by: str) -> RunStatus:
    """Without a yes the answer is no. It is told to the model and named as missing."""
    bb = board_of(ctx)
    _refuse(ctx, capability_tools(bb, writes=True), bb_get(bb, "signal")["reason"], by)
    return SUCCESS


@action(reads=[*_ASKED, "messages", "gaps"], writes=["messages", "gaps"])
def admit_the_gaps(ctx: TickContext) -> RunStatus:
    """No tool here can do this. It goes on record, and into the answer."""
    bb = board_of(ctx)
    reason: str = bb_get(bb, "signal")["reason"]
    gaps = new_gaps(bb)
    append(bb, "gaps", *(f"{gap} ({reason})" for gap in gaps))
    tell_model(
        bb,
        f"There is no tool for this: {'; '.join(gaps)}. Go on without it, and say in the answer "
        "what could not be settled because of that.",
    )
    say_verdict(ctx, "refused", "no tool can do it")
    for gap in gaps:
        say_system(ctx, f"Not possible here: {gap} ({reason}).")
        report(ctx, "capability.missing", Severity.WARNING, capability=gap, reason=reason)
    return SUCCESS


@action(reads=["gaps"], writes=["gaps"])
def do_without_the_web(ctx: TickContext) -> RunStatus:
    """Say at once that this needs the web, and that there is no web search here."""
    gap = f"the web, because no web search is configured; {SOURCE_KINDS['web'].setup}"
    append(board_of(ctx), "gaps", gap)
    say_system(ctx, f"This needs {gap}.")
    report(
        ctx, "capability.missing", Severity.WARNING, capability="web search", reason="the question"
    )
    return SUCCESS


@action(writes=["tools_withdrawn", "stop_after_last_turn"])
def withdraw_all(ctx: TickContext, stop: str) -> RunStatus:
    """The next turn is the last one, without tools. `stop` is the stop reason if it names none."""
    bb = board_of(ctx)
    bb_set(bb, "tools_withdrawn", True)
    bb_set(bb, "stop_after_last_turn", stop)
    return SUCCESS


@action(reads=["classification", "facts", "tool_list", *_GIVEN], writes=_GIVEN)
def more_reading_tools(ctx: TickContext, rung: Rung, least: float = 0.0) -> RunStatus:
    """Grant what a rung adds to the tools granted so far; FAILURE if it adds nothing.

    Sources whose best place has less than the share `least` of the question's words are left out,
    unless none has it: then the sources may have other words.
    """
    bb = board_of(ctx)
    shares = shares_of(bb)
    is_known = max(shares.values(), default=0.0) >= least
    poor = [kind for kind, share in shares.items() if is_known and share < least]
    added = more_tools(rung, classification_of(bb), all_tools(bb), bb_get(bb, "granted"), poor)
    if not added:
        return ctx.fail("this rung adds no tool that only reads")
    _give(ctx, added, "what was granted before did not lead on")
    return SUCCESS


def _has_it_already(ctx: TickContext, names: Sequence[str]) -> RunStatus:
    tell_model(board_of(ctx), f"You have it already: {', '.join(names)}. Call it.")
    say_verdict(ctx, "granted", "it had been granted before")
    return SUCCESS


def _give(ctx: TickContext, names: Sequence[str], reason: str, by: str = "the tree") -> None:
    bb = board_of(ctx)
    append(bb, "granted", *names)
    give_reason(bb, names, reason)
    tell_model(bb, f"Granted to you from now on: {', '.join(names)}.")
    say_system(ctx, f"Granted: {', '.join(names)} ({reason}).")
    for name in names:
        report(ctx, "grant.given", tool=name, reason=reason, by=by)


def _refuse(ctx: TickContext, names: Sequence[str], reason: str, by: str) -> None:
    bb = board_of(ctx)
    tell_model(bb, f"Not granted: {', '.join(names)}. Go on without, and say so in the answer.")
    append(bb, "denied", *names)
    give_reason(bb, names, f"refused by {by}")
    append(bb, "gaps", f"{', '.join(names)} was not allowed ({reason})")
    say_system(ctx, f"Not granted: {', '.join(names)} ({by}).")
    say_verdict(ctx, "refused", by)
    for name in names:
        report(ctx, "grant.refused", tool=name, reason=reason, by=by)

"""Grants on request: the tree grants, asks a person, or admits the gap; all of it is recorded."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, cast

from oracle.bt.actions.oracle import add_system_message, bb_get
from oracle.bt.actions.state import all_tools, append, board_of
from oracle.bt.actions.telling import report, say, say_system, services_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.models.stream_chunk import ChunkType
from oracle.models.tool_spec import ToolSpec
from oracle.services.ans.event import Severity, current_run_id
from oracle.services.control.grants import tools_for

log = logging.getLogger(__name__)


@action(
    reads=["signal", "tool_list", "granted", "withdrawn", "messages"],
    writes=["granted", "messages"],
)
def grant_reading_tools(ctx: TickContext) -> RunStatus:
    """Grant what only reads; FAILURE where the capability needs something else."""
    asked = _asked_for(ctx)
    reading = [spec for spec in asked if not spec.writes]
    if not reading:
        return ctx.fail("no tool that only reads can do it")
    bb = board_of(ctx)
    new = [spec.name for spec in reading if spec.name not in bb_get(bb, "granted")]
    if new:
        give(ctx, new, bb_get(bb, "signal")["reason"])
    else:
        names = ", ".join(spec.name for spec in reading)
        add_system_message(bb, f"You have it already: {names}. Call it.")
    return SUCCESS


@action(
    reads=["signal", "tool_list", "granted", "withdrawn", "denied", "messages", "gaps", "can_ask"],
    writes=["granted", "denied", "messages", "gaps"],
)
async def ask_a_person(ctx: TickContext) -> RunStatus:
    """What writes needs a person's yes; where nobody can be asked the answer is no.

    FAILURE where nothing can do it, or the answer was no before: a person is asked once.
    """
    bb = board_of(ctx)
    writing = [spec.name for spec in _asked_for(ctx) if spec.writes]
    if not writing:
        return ctx.fail("no tool can do it")
    if set(writing) <= set(bb_get(bb, "granted")):
        add_system_message(bb, f"You have it already: {', '.join(writing)}. Call it.")
        return SUCCESS
    if set(writing) & set(bb_get(bb, "denied")):
        return ctx.fail("it was refused before")
    signal: dict[str, Any] = bb_get(bb, "signal")
    question = {
        "id": f"{current_run_id()}-{ctx.turn}",
        "content": f"Allow {', '.join(writing)}? {signal['reason']}",
        "tools": writing,
    }
    approve = services_of(ctx).approve

    async def effect() -> Any:
        try:
            return False if approve is None else bool(await approve(question))
        except Exception:
            log.exception("nobody could be asked to allow %s", writing)
            return False

    can_ask: bool = bb_get(bb, "can_ask")
    if can_ask:
        say(ctx, ChunkType.APPROVAL, **question)
    is_allowed = await ctx.perform({"approval": cast("Any", question)}, effect)
    by = "a person" if can_ask else "the tree: nobody could be asked"
    if is_allowed:
        give(ctx, writing, signal["reason"], by=by)
    else:
        _refuse(ctx, writing, signal["reason"], by)
    return SUCCESS


@action(reads=["signal", "tool_list", "withdrawn", "messages", "gaps"], writes=["messages", "gaps"])
def admit_the_gap(ctx: TickContext) -> RunStatus:
    """Nothing here can do it: that goes on record, and into the answer. FAILURE where it was
    refused, or is on record already.
    """
    bb = board_of(ctx)
    signal: dict[str, Any] = bb_get(bb, "signal")
    capability, reason = signal["capability"], signal["reason"]
    if _asked_for(ctx) or any(gap.startswith(f"{capability} (") for gap in bb_get(bb, "gaps")):
        return ctx.fail("it was told that this cannot be had")
    append(bb, "gaps", f"{capability} ({reason})")
    add_system_message(
        bb,
        f"There is no tool for this: {capability}. Go on without it, and say in the answer what "
        "could not be settled because of that.",
    )
    say_system(ctx, f"Not possible here: {capability} ({reason}).", "warning")
    report("capability.missing", Severity.WARNING, capability=capability, reason=reason)
    return SUCCESS


def give(ctx: TickContext, names: Sequence[str], reason: str, by: str = "the tree") -> None:
    bb = board_of(ctx)
    append(bb, "granted", *names)
    add_system_message(bb, f"Granted to you from now on: {', '.join(names)}.")
    say_system(ctx, f"Granted: {', '.join(names)} ({reason}).")
    for name in names:
        report("grant.given", tool=name, reason=reason, by=by)


def _refuse(ctx: TickContext, names: Sequence[str], reason: str, by: str) -> None:
    bb = board_of(ctx)
    told = f"Not granted: {', '.join(names)}. Go on without, and say so in the answer."
    add_system_message(bb, told)
    append(bb, "denied", *names)
    append(bb, "gaps", f"{', '.join(names)} was not allowed ({reason})")
    say_system(ctx, f"Not granted: {', '.join(names)} ({by}).", "warning")
    for name in names:
        report("grant.refused", tool=name, reason=reason, by=by)


def _asked_for(ctx: TickContext) -> list[ToolSpec]:
    bb = board_of(ctx)
    found = tools_for(bb_get(bb, "signal")["capability"], all_tools(bb))
    return [spec for spec in found if spec.name not in bb_get(bb, "withdrawn")]

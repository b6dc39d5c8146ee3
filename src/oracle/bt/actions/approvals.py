"""A person's yes: to a tool that writes, or to each single call of a tool that needs one."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from oracle.bt.board import append, bb_get, bb_set, board_of, calls_without_a_yes, services_of
from oracle.bt.call_outcomes import Call
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import report, say, say_system
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.logs import logger_of
from oracle.models.stream_chunk import ChunkType
from oracle.services.ans.event import current_run_id
from oracle.services.background import in_thread, is_being_cancelled
from oracle.services.control.repetition import name_of_call
from oracle.services.story.words import call_words

log = logger_of(__name__)

_MOST_NOES: Final = 2
_CALLS: Final = ("query", "calls", "tool_list", "denied", "gaps", "signal")


async def asked_a_person(
    ctx: TickContext, content: str, tools: Sequence[str], *, call: Call | None = None
) -> bool:
    """Whether a person says yes. The answer is recorded, so a replay asks nobody."""
    id_ = f"{current_run_id()}-{ctx.turn}" + (f"-{call['id']}" if call else "")
    calls = [{"name": call["name"], "arguments": call["arguments"]}] if call else []
    question = {"id": id_, "content": content, "tools": [*tools], "calls": calls}
    say(ctx, ChunkType.APPROVAL, **question)

    async def effect() -> Any:
        try:
            return await _answer(ctx, question)
        except (Exception, SystemExit, asyncio.CancelledError) as problem:
            if isinstance(problem, asyncio.CancelledError) and is_being_cancelled():
                raise
            log.exception("nobody could be asked to allow %s", tools)
            return False

    return bool(await ctx.perform({"approval": cast("Any", question)}, effect))


async def _answer(ctx: TickContext, question: dict[str, Any]) -> bool:
    approve = services_of(ctx).approve
    if approve is None:
        return False
    # A plain function may wait for a keyboard, which must not stop the event loop.
    is_async = inspect.iscoroutinefunction(approve)
    said: Any = approve(question) if is_async else await in_thread(approve, question)
    if inspect.isawaitable(said):
        said = await said
    # Only True is a yes: whatever else a door returns must not open the way to write.
    return said is True


@action(reads=_CALLS, writes=["calls", "denied", "gaps"])
async def ask_about_each_call(ctx: TickContext) -> RunStatus:
    """Ask a person about each call, with its arguments. A yes is for this call only.

    The same call is not asked about again after a no, and no call of the tool after two.
    """
    bb = board_of(ctx)
    for call in calls_without_a_yes(bb):
        name = call["name"]
        if _was_denied(bb, call):
            _refuse(ctx, call, "a person said no before")
            continue
        shown = call_words(name, call["arguments"], with_names=True)
        signal: Mapping[str, Any] = bb_get(bb, "signal") or {}
        reason = str(signal.get("reason", "")).strip()
        content = f"Run {shown}?" + (f" The model's reason: {reason}" if reason else "")
        if await asked_a_person(ctx, content, [name], call=call):
            _mark(bb, call, has_yes=True)
            report(ctx, "grant.given", tool=name, reason=shown, by="a person")
        else:
            append(bb, "denied", name_of_call(name, call["arguments"]))
            _refuse(ctx, call, "a person said no")
    return SUCCESS


@action(reads=_CALLS, writes=["calls", "denied", "gaps"])
def refuse_calls_without_a_yes(ctx: TickContext, by: str) -> RunStatus:
    """Without a yes the answer is no."""
    for call in calls_without_a_yes(board_of(ctx)):
        _refuse(ctx, call, by)
    return SUCCESS


def _was_denied(bb: TypedBlackboard, call: Call) -> bool:
    denied: list[str] = bb_get(bb, "denied")
    noes = [each for each in denied if each.startswith(f"{call['name']}:")]
    return name_of_call(call["name"], call["arguments"]) in noes or len(noes) >= _MOST_NOES


def _refuse(ctx: TickContext, call: Call, by: str) -> None:
    bb = board_of(ctx)
    shown = call_words(call["name"], call["arguments"], with_names=True)
    told = f"it needs a person's yes, and {by}; go on without it, and say so in the answer"
    _mark(bb, call, not_run=told, is_denied=True)
    append(bb, "gaps", f"{shown} was not allowed ({by})")
    # A person who said no knows it.
    severity = "info" if by.startswith("a person") else "notice"
    say_system(ctx, f"Not run: {shown} ({by}).", severity)
    report(ctx, "grant.refused", tool=call["name"], reason=shown, by=by)


def _mark(bb: TypedBlackboard, call: Call, **mark: Any) -> None:
    calls: list[Call] = bb_get(bb, "calls")
    bb_set(bb, "calls", [{**each, **mark} if each is call else each for each in calls])

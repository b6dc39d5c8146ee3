"""The beginning and the end of a turn: what the request offers, and what its response says."""

from __future__ import annotations

from typing import Any, Final

from oracle.bt.board import (
    OFFER,
    SIGNAL_STATE,
    all_tools,
    append,
    bb_get,
    bb_set,
    board_of,
    granted_tools,
    ledger_of,
    note_time_left,
    room_of,
    set_ledger,
    set_signal_state,
    signal_state,
    weigh,
)
from oracle.bt.call_outcomes import Call, names_of, writing_calls
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import (
    BOOKED,
    book_once,
    end_turn,
    outcome_of,
    report,
    say,
    say_system,
    tell_model,
)
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.tool_calls import leave_out
from oracle.models.stream_chunk import ChunkType
from oracle.models.tool_spec import ToolSpec
from oracle.services.control.announcements import is_announcement
from oracle.services.control.pieces import pieces_with, whole_answer
from oracle.services.signals.parser import NOT_LAST

LONGEST_CUT_TEXT: Final = 2_000
FEWEST_CALLS, MOST_CALLS, WINDOW_OF_A_CALL = 4, 24, 1_000
"""How many calls of one response are taken: one for each 1,000 tokens of the context window, but
not fewer than 4 and not more than 24. Each call and its result need a place in the window.
"""
_NOT_FIELDS: Final = (
    "type",
    "confidence",
    "raw_xml",
    "timestamp",
    "at",
    "problems",
    "counts",
)


@action(
    reads=["messages", "weight", "ledger", "model", "denied", "tool_reasons", *OFFER],
    writes=[
        "weight",
        "ledger",
        "response",
        "signal",
        "calls",
        "calls_wait",
        "was_awaited",
        "seconds_left",
        "turn_began_at",
        "turn_is_open",
        "is_last_turn",
        "is_overdrawn",
        "offered",
    ],
)
def begin(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    ctx.turn += 1
    ctx.mark_progress()
    set_ledger(bb, ledger_of(bb).with_turn())
    weigh(bb)
    bb_set(bb, "is_last_turn", bb_get(bb, "tools_withdrawn"))
    bb_set(bb, "is_overdrawn", False)
    note_time_left(ctx)
    bb_set(bb, "turn_began_at", ctx.now)
    bb_set(bb, "response", None)
    bb_set(bb, "was_awaited", False)
    bb_set(bb, "signal", None)
    bb_set(bb, "calls", [])
    bb_set(bb, "calls_wait", False)
    bb_set(bb, "turn_is_open", True)
    bb_set(bb, "offered", [spec.name for spec in granted_tools(bb)])
    _say_start(ctx, bb)
    report(ctx, "turn.started", tools=bb_get(bb, "offered"))
    return SUCCESS


@action(
    reads=[
        "response",
        "messages",
        "tool_results",
        "accumulated_content",
        "is_last_turn",
        "pieces",
        *SIGNAL_STATE,
        *BOOKED,
    ],
    writes=[
        "ledger",
        "response",
        "messages",
        "tool_results",
        "signal",
        "signal_consulted",
        "signal_malformed",
        "turns_at_last_fallback",
        "accumulated_content",
        "calls",
        "calls_wait",
        "answer_so_far",
        "pieces",
        "malformed_responses",
        "empty_responses",
        "seconds_left",
        *SIGNAL_STATE,
    ],
)
def take_in_response(ctx: TickContext) -> RunStatus:
    """Book what it cost, note its signal, and add it to the conversation."""
    bb = board_of(ctx)
    response: dict[str, Any] = bb_get(bb, "response")
    book_once(ctx, response)
    note_time_left(ctx)
    _note_signal(ctx, bb, response)
    text, said = _texts_of(response)
    message: dict[str, Any] = {"role": "assistant", "content": said}
    most = _most_calls(bb)
    calls, surplus = response["calls"][:most], response["calls"][most:]
    if calls:
        message["tool_calls"] = calls
        bb_set(bb, "calls", calls)
        bb_set(bb, "calls_wait", True)
    if text:
        # "I will look for it" announces work. It must not be taken for an answer later.
        if not response["calls"] and not _announces_work(response):
            bb_set(bb, "answer_so_far", text)
        before: str = bb_get(bb, "accumulated_content")
        bb_set(bb, "accumulated_content", f"{before}\n\n{text}" if before else text)
    bb_set(bb, "pieces", pieces_with(bb_get(bb, "pieces"), response))
    if said or response["calls"]:
        append(bb, "messages", message)
    if surplus:
        _leave_out(ctx, bb, len(calls), surplus)
    # In a last turn even a response with calls is as good as empty: they are not run.
    if (text or response["calls"]) and not bb_get(bb, "is_last_turn"):
        bb_set(bb, "empty_responses", 0)
    return SUCCESS


@action(reads=["response", "pieces", "ledger", "turn_is_open"], writes=["response", "turn_is_open"])
def join_the_pieces(ctx: TickContext) -> RunStatus:
    """If the response is the end of an answer in pieces, the whole is shown as the answer."""
    bb = board_of(ctx)
    response: dict[str, Any] = bb_get(bb, "response")
    whole = whole_answer(bb_get(bb, "pieces"), response["text"])
    if whole != response["text"]:
        end_turn(ctx, outcome_of(response))  # the text of this turn alone is a draft
        say(ctx, ChunkType.CONTENT, content=whole)
        bb_set(bb, "response", {**response, "text": whole})
    return SUCCESS


def _announces_work(response: dict[str, Any]) -> bool:
    signal: dict[str, Any] = response["signal"] or {}
    asks_for_more = signal.get("type") in ("need_turn", "need_capability")
    return asks_for_more or is_announcement(response["text"])


def _texts_of(response: dict[str, Any]) -> tuple[str, str]:
    """The text for the user, and the text for the conversation, which has the signals too.

    The model is sent its own signals back; without them it would learn to leave them out.
    """
    text: str = response["text"]
    said: str = response.get("said", text)
    if response["is_complete"]:
        return text, said
    # A text that was cut because it repeated itself would teach the model to go on like that.
    text = text[:LONGEST_CUT_TEXT]
    return text, said if len(said) <= LONGEST_CUT_TEXT else text


def _most_calls(bb: TypedBlackboard) -> int:
    """How many calls of one response are taken: a small context window holds few results."""
    fit = bb_get(bb, "model")["context_window"] // WINDOW_OF_A_CALL
    return min(MOST_CALLS, max(FEWEST_CALLS, fit))


def _leave_out(ctx: TickContext, bb: TypedBlackboard, taken: int, surplus: list[Call]) -> None:
    """Tell both the model and the user of calls that are not part of the conversation."""
    writes = names_of(writing_calls(bb, surplus))
    unwritten = f" Nothing was written by: {writes}." if writes else ""
    leave_out(ctx, surplus, f"the model made {taken + len(surplus)} calls at once")
    told = f"{len(surplus)} of your {taken + len(surplus)} calls were left out and not run"
    tell_model(bb, f"{told}: make at most {taken} in one response.{unwritten}")
    said = (
        f"The model made {taken + len(surplus)} calls at once; the last {len(surplus)} were not run"
    )
    say_system(ctx, f"{said}: {names_of(surplus)}.{unwritten}")


@action(reads=["response", "ledger", "turn_is_open"], writes=["turn_is_open"])
def close(ctx: TickContext) -> RunStatus:
    """The turn is over and another follows: what it said was a draft."""
    end_turn(ctx, outcome_of(bb_get(board_of(ctx), "response")))
    return SUCCESS


def _note_signal(ctx: TickContext, bb: TypedBlackboard, response: dict[str, Any]) -> None:
    signal: dict[str, Any] | None = response["signal"]
    bb_set(bb, "signal", signal)
    bb_set(bb, "signal_malformed", response["malformed"])
    if response["malformed"]:
        bb_set(bb, "malformed_responses", bb_get(bb, "malformed_responses") + 1)
    _report_signals(ctx, response)
    if signal is None:
        state = signal_state(bb).after_turn_without_signal()
        set_signal_state(bb, state)
        if not response["malformed"]:
            report(ctx, "signal.missing", turns_without_signal=state.turns_without_signal)
        return
    set_signal_state(bb, signal_state(bb).after_signal({**signal, "turn": ctx.turn}))
    bb_set(bb, "turns_at_last_fallback", 0)
    bb_set(bb, "signal_consulted", False)
    shown = {name: signal[name] for name in ("type", "confidence")}
    say(ctx, ChunkType.SIGNAL, signal={**shown, **_fields_of(signal)})


def _report_signals(ctx: TickContext, response: dict[str, Any]) -> None:
    """Put every signal on record, whether it counts or not."""
    signals: list[dict[str, Any]] = response.get("signals", [])
    for signal in signals:
        where = {"raw_xml": signal["raw_xml"], "at": signal["at"]}
        problems: list[str] = signal["problems"]
        if "type" not in signal:
            say_system(ctx, f"A signal of the model cannot be read: {'; '.join(problems)}.")
            report(ctx, "signal.malformed", problem="; ".join(problems), **where)
            continue
        is_last = signal["at"] >= len(response["text"])
        report(
            ctx,
            "signal.received" if signal["counts"] else "signal.ignored",
            type=signal["type"],
            confidence=signal["confidence"],
            fields=_fields_of(signal),
            timestamp=signal["timestamp"],
            problems=[*problems, *([] if is_last else [NOT_LAST])],
            **where,
        )
    if (more := response.get("signals_in_all", 0) - len(signals)) > 0:
        problem = f"{more} more signals in this response; only the first ones are on record"
        report(ctx, "signal.malformed", problem=problem, raw_xml="", at=None)


def _fields_of(signal: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in signal.items() if name not in _NOT_FIELDS}


def _say_start(ctx: TickContext, bb: TypedBlackboard) -> None:
    offered: list[str] = bb_get(bb, "offered")
    reasons: dict[str, str] = bb_get(bb, "tool_reasons")
    withheld = [spec for spec in all_tools(bb) if spec.name not in offered]
    gone = {*bb_get(bb, "denied"), *bb_get(bb, "withdrawn")}
    is_for_the_answer: bool = bb_get(bb, "tools_withdrawn")
    ledger, reserve = ledger_of(bb), room_of(ctx).reserve()
    limits = ledger.limits
    seconds = ledger.spent("seconds", ctx.now)
    say(
        ctx,
        ChunkType.TURN_START,
        offered=[{"name": name, "reason": reasons.get(name, "granted")} for name in offered],
        withheld=[
            {
                "name": spec.name,
                "reason": reasons.get(spec.name, "withdrawn")
                if spec.name in gone
                else _why_withheld(spec, is_for_the_answer=is_for_the_answer),
            }
            for spec in withheld
        ],
        budgets={
            "turns": _budget(ledger.turns, limits.turns, 1),
            "tokens": _budget(ledger.tokens, limits.tokens, reserve.tokens),
            "money": _budget(ledger.money, limits.money, reserve.money),
            "seconds": _budget(seconds, limits.seconds, reserve.seconds),
        },
    )


def _budget(used: float, limit: float | None, reserve: float) -> dict[str, float | None]:
    return {"used": used, "limit": limit, "reserve": reserve}


def _why_withheld(spec: ToolSpec, *, is_for_the_answer: bool) -> str:
    if is_for_the_answer:
        return "all tools are withdrawn: this turn is for the answer"
    if spec.writes:
        return "writes: needs a clear request, or a yes"
    return "not part of the first grant: granted on request, or if the search is stuck"

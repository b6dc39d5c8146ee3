"""How a run ends: why, with which answer, and what it says was tried and is missing."""

from __future__ import annotations

from typing import Any

from oracle.bt.actions.budget import STOP_AT
from oracle.bt.actions.oracle import bb_get, bb_set
from oracle.bt.actions.state import (
    AGENT_KEYS,
    agent_state,
    board_of,
    classification_of,
    ledger_of,
)
from oracle.bt.actions.telling import say, say_system
from oracle.bt.actions.turn import book, end_turn, outcome_of
from oracle.bt.conditions.context_needs import has_evidence
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.errors import BoundReached, TimedOut
from oracle.models.stream_chunk import ChunkType
from oracle.services.control.last_words import Remains, last_words
from oracle.services.coverage.parts import left_out

_CLOSING = ["response", "signal", "classification", "evidence", "sources_tried", "ledger"]
_CLOSED = ["stop_reason", "answer", "caveat", "missing", "turn_is_open"]


@action(reads=_CLOSING, writes=_CLOSED)
def close(ctx: TickContext, stop: str = "answered") -> RunStatus:
    """The response is the answer. One that found nothing anywhere is a partial one, whatever it
    says.
    """
    bb = board_of(ctx)
    signal: dict[str, Any] = bb_get(bb, "signal") or {}
    missing = [signal["missing"]] if signal.get("missing") else []
    if stop == "answered" and _found_nothing(bb):
        stop = "partial_answer"
        missing.append(f"anything in {', '.join(bb_get(bb, 'sources_tried'))}")
    elif stop == "partial_answer" and not missing:
        missing.append("evidence: nothing was gathered")
    bb_set(bb, "stop_reason", stop)
    bb_set(bb, "answer", bb_get(bb, "response")["text"])
    bb_set(bb, "missing", missing)
    bb_set(bb, "caveat", signal.get("caveat"))
    end_turn(ctx, "answer")
    return SUCCESS


@action(
    reads=[*_CLOSING, "why_last", "earlier_evidence", "topic_shift", "attachment"],
    writes=_CLOSED,
)
def close_last_turn(ctx: TickContext) -> RunStatus:
    """The tools were withdrawn, so this is the answer; its signal says how good it is."""
    bb = board_of(ctx)
    signal: dict[str, Any] = bb_get(bb, "signal") or {}
    kind = signal.get("type")
    why: str = bb_get(bb, "why_last")
    if kind == "context_sufficient":
        return close(ctx, "answered" if has_evidence(ctx) else "partial_answer")
    if kind == "partial_answer":
        show_caveat(ctx)
    if kind in ("partial_answer", "stuck"):
        return close(ctx, kind)
    return close(ctx, why or "answered")


@action(reads=["signal"])
def show_caveat(ctx: TickContext) -> RunStatus:
    """A partial answer says next to it what is missing."""
    signal: dict[str, Any] = bb_get(board_of(ctx), "signal")
    caveat = f" {signal['caveat']}" if signal.get("caveat") else ""
    say_system(ctx, f"Still open: {signal['missing']}{caveat}", "warning")
    return SUCCESS


@action(reads=["ledger", "stop_reason"], writes=["stop_reason", "stop_detail"])
def stop_at_limit(ctx: TickContext) -> RunStatus:
    """No room is left for another request: completion is forced."""
    bb = board_of(ctx)
    ledger = ledger_of(bb)
    resource = ledger.exhausted(ctx.now) or "turns"
    used, limit = ledger.spent(resource, ctx.now), getattr(ledger.limits, resource)
    _stop(bb, STOP_AT[resource], f"{used:g} of {limit:g} {resource}")
    return SUCCESS


@action(
    reads=["response", "ledger", "is_overdrawn", "model", "weight", "turn_began_at"],
    writes=[
        "ledger",
        "stop_reason",
        "stop_detail",
        "answer_so_far",
        "is_cut",
        "failed",
        "turn_is_open",
    ],
)
def stop_without_response(ctx: TickContext) -> RunStatus:
    """The request was cut short, or could not be made: keep what came, and say why."""
    bb = board_of(ctx)
    failure, limits = ctx.failure, ledger_of(bb).limits
    response: dict[str, Any] = bb_get(bb, "response")
    if not response["is_complete"]:
        book(ctx, bb, response)
        bb_set(bb, "is_cut", bool(response["text"]))
    if response["text"]:
        bb_set(bb, "answer_so_far", response["text"])
    if bb_get(bb, "is_overdrawn"):
        _stop(bb, "token_limit", f"{limits.tokens} tokens")
    elif isinstance(failure, TimedOut) or ledger_of(bb).exhausted(ctx.now) == "seconds":
        _stop(bb, "time_limit", f"{limits.seconds:g} seconds")
    else:
        _stop(bb, "model_unavailable", str(failure or "it did not answer"))
        bb_set(bb, "failed", True)
    end_turn(ctx, "cut")
    return SUCCESS


@action(writes=["stop_reason", "stop_detail"])
def give_up_on_silence(ctx: TickContext) -> RunStatus:
    _stop(board_of(ctx), "stuck", "the model answered nothing, again and again")
    return SUCCESS


@action(
    reads=[
        "stop_reason",
        "stop_detail",
        "response",
        "answer",
        "answer_so_far",
        "is_cut",
        "evidence",
        "gaps",
        "missing",
        "delegations",
        "parts",
        "ledger",
        "model",
        "weight",
        "turn_began_at",
        "turn_is_open",
        *AGENT_KEYS,
    ],
    writes=[
        "ledger",
        "stop_reason",
        "stop_detail",
        "answer",
        "missing",
        "tried",
        "usage",
        "failed",
        "turn_is_open",
    ],
)
def say_last_words(ctx: TickContext) -> RunStatus:
    """Whatever ended the run, there is an answer, a reason, what was tried and what is missing."""
    bb = board_of(ctx)
    _name_the_reason(ctx, bb)
    _book_what_was_cut(ctx, bb)
    state = agent_state(ctx)
    bb_set(bb, "tried", [*state.tools_tried])
    bb_set(bb, "usage", ledger_of(bb).usage(ctx.now) if bb_get(bb, "ledger") else {})
    missing = [*bb_get(bb, "missing"), *bb_get(bb, "gaps")]
    handed_over: list[dict[str, Any]] = bb_get(bb, "delegations")
    undone = [one["scope"] for one in handed_over if not one.get("covered")]
    missing += [f"delegated work was not done: {scope}" for scope in undone]
    if unread := left_out(bb_get(bb, "parts")):
        missing.append(f"not read: {unread}")
    bb_set(bb, "missing", missing)
    if not bb_get(bb, "answer"):
        _answer_for_the_model(ctx, bb, state.tools_tried, missing)
    return SUCCESS


def _name_the_reason(ctx: TickContext, bb: TypedBlackboard) -> None:
    """Where no leaf has said why, the runtime knows."""
    outcome = ctx.outcome
    if bb_get(bb, "stop_reason"):
        return
    if outcome is not None and outcome.stop != "settled":
        _stop(bb, outcome.stop, outcome.detail)
        bb_set(bb, "failed", outcome.stop != "cancelled")
    elif isinstance(ctx.failure, BoundReached):
        _stop(bb, "turn_limit", "the tree allows no more rounds")
    else:
        _stop(bb, "stuck", str(ctx.failure or ""))


def _book_what_was_cut(ctx: TickContext, bb: TypedBlackboard) -> None:
    """A request that was cancelled is paid for as far as it came."""
    response: dict[str, Any] | None = bb_get(bb, "response")
    if bb_get(bb, "turn_is_open") and response is not None and not response["is_complete"]:
        book(ctx, bb, response)


def _answer_for_the_model(
    ctx: TickContext, bb: TypedBlackboard, tried: tuple[str, ...], missing: list[str]
) -> None:
    response: dict[str, Any] = bb_get(bb, "response") or {}
    is_cut = bb_get(bb, "is_cut") or (bool(response) and not response["is_complete"])
    so_far: str = (response.get("text") if is_cut else "") or bb_get(bb, "answer_so_far")
    answer = last_words(
        Remains(
            stop_reason=bb_get(bb, "stop_reason"),
            detail=bb_get(bb, "stop_detail"),
            text=so_far,
            is_cut=is_cut,
            places=bb_get(bb, "evidence"),
            tried=tried,
            missing=missing,
        )
    )
    bb_set(bb, "answer", answer)
    if bb_get(bb, "turn_is_open"):
        end_turn(ctx, "cut" if is_cut else outcome_of(response))
    say(ctx, ChunkType.CONTENT, content=answer)
    end_turn(ctx, "answer")


def _stop(bb: TypedBlackboard, reason: str, detail: str) -> None:
    bb_set(bb, "stop_reason", reason)
    bb_set(bb, "stop_detail", detail)


def _found_nothing(bb: TypedBlackboard) -> bool:
    return (
        bool(bb_get(bb, "sources_tried"))
        and not bb_get(bb, "evidence")
        and classification_of(bb).needs_any_source
    )

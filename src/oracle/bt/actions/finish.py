"""Ways to end: with the response as the answer, at a limit, or with what the tree has gathered.

The tree decides which; a leaf here only writes down the stop reason and the answer.
"""

from __future__ import annotations

from typing import Any

from oracle.bt.board import (
    AGENT_STATE,
    ROOM,
    agent_state,
    bb_get,
    bb_set,
    board_of,
    ledger_of,
    room_of,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.ending import CLOSED, CLOSING, close_as_partial, close_with_the_response
from oracle.bt.report import BOOKED, book_once, end_turn, outcome_of, say, say_system, say_verdict
from oracle.bt.shortfall import (
    GROUNDS,
    NAMED,
    OPEN_END,
    ORDERED,
    SPOKEN_OF,
    left_undone,
    names_not_found,
    only_announces,
    open_end,
    parts_not_spoken_of,
    unwritten,
    why_no_evidence,
    words_for_a_wish,
    words_for_no_evidence,
    words_not_spoken_of,
)
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.tool_calls import answer_without_running
from oracle.errors import BoundReached
from oracle.models.stream_chunk import ChunkType
from oracle.services.control.ledger import RESOURCES, STOP_AT, in_digits, in_seconds
from oracle.services.control.unfinished_answer import UnfinishedRun, unfinished_answer

_GAVE_NOTHING = "gave neither an answer nor a call that could be run, again and again"
_STOPPED = ["stop_reason", "stop_detail"]

# -- the response is the answer --------------------------------------------------------------------


@action(reads=CLOSING, writes=CLOSED)
def answered(ctx: TickContext) -> RunStatus:
    say_verdict(ctx, "believed")
    return close_with_the_response(ctx, "answered", [])


@action(reads=CLOSING, writes=CLOSED)
def partial(ctx: TickContext) -> RunStatus:
    """A part stays open: the signal says which."""
    return close_as_partial(ctx, "", [])


@action(reads=[*CLOSING, "sources_tried", "sources_empty"], writes=CLOSED)
def ungrounded(ctx: TickContext) -> RunStatus:
    """The question needs sources, and nothing was gathered that the model could see."""
    bb = board_of(ctx)
    return close_as_partial(ctx, why_no_evidence(bb), [words_for_no_evidence(bb)])


@action(reads=[*CLOSING, *NAMED], writes=CLOSED)
def beside_the_question(ctx: TickContext) -> RunStatus:
    """What was found does not mention what the question calls by name."""
    names = ", ".join(names_not_found(board_of(ctx)))
    return close_as_partial(
        ctx, "it was not found by its name", [f"anything that mentions {names}"]
    )


@action(reads=[*CLOSING, *SPOKEN_OF], writes=CLOSED)
def about_something_else(ctx: TickContext, of_found: float, of_all: float) -> RunStatus:
    """The text says too little of what was asked: it may answer another question."""
    words = words_not_spoken_of(board_of(ctx), of_found=of_found, of_all=of_all)
    missing = f"an answer that speaks of {', '.join(words)}"
    return close_as_partial(ctx, "the answer hardly speaks of what was asked", [missing])


@action(reads=[*CLOSING, *SPOKEN_OF], writes=CLOSED)
def with_a_part_open(ctx: TickContext) -> RunStatus:
    parts = parts_not_spoken_of(board_of(ctx))
    missing = [f"an answer to “{part}”" for part in parts]
    return close_as_partial(ctx, "the answer does not speak of a part of the question", missing)


@action(reads=CLOSING, writes=CLOSED)
def cut_short(ctx: TickContext) -> RunStatus:
    """The text stops before its end, and there is no room to continue it."""
    is_reported = bb_get(board_of(ctx), "response")["ending"]["kind"] != "whole"
    missing = [] if is_reported else ["the rest of the answer, which stops in mid-sentence"]
    return close_as_partial(ctx, "the answer was cut", missing)


@action(reads=CLOSING, writes=CLOSED)
def unsure(ctx: TickContext) -> RunStatus:
    confidence = bb_get(board_of(ctx), "signal")["confidence"]
    missing = f"certainty, as the model's own confidence in this answer is {confidence:g}"
    return close_as_partial(ctx, "the model is not sure", [missing])


@action(reads=CLOSING, writes=CLOSED)
def wants_more(ctx: TickContext) -> RunStatus:
    """It asked for another turn, a tool or help, and there is none left."""
    wish = words_for_a_wish(bb_get(board_of(ctx), "signal"))
    return close_as_partial(ctx, "the model wanted more", [wish])


@action(reads=[*CLOSING, "calls"], writes=CLOSED)
def with_calls_left(ctx: TickContext) -> RunStatus:
    """Its calls are not run."""
    names = dict.fromkeys(call["name"] for call in bb_get(board_of(ctx), "calls"))
    return close_as_partial(ctx, "its calls were not run", [f"the result of {', '.join(names)}"])


@action(reads=CLOSING, writes=CLOSED)
def without_a_write(ctx: TickContext) -> RunStatus:
    """Something was to be written, and was not. What it is, `sum_up` names."""
    return close_as_partial(ctx, "a write was not done", [])


@action(reads=CLOSING, writes=CLOSED)
def stuck(ctx: TickContext) -> RunStatus:
    say_verdict(ctx, "taken_as_stuck")
    return close_with_the_response(ctx, "stuck", [])


@action(reads=[*CLOSING, "stop_after_last_turn"], writes=[*CLOSED, "stop_detail"])
def as_announced(ctx: TickContext) -> RunStatus:
    """For the reason for which the tools were withdrawn before this turn."""
    stop, detail = _announced(ctx)
    bb_set(board_of(ctx), "stop_detail", detail)
    say_verdict(ctx, "taken_as_the_last_word")
    return close_with_the_response(ctx, stop, [])


@action(reads=["signal"])
def show_what_is_missing(ctx: TickContext) -> RunStatus:
    """Say next to a partial answer what is missing from it."""
    signal: dict[str, Any] = bb_get(board_of(ctx), "signal")
    missing = str(signal["missing"]).strip()
    if caveat := str(signal.get("caveat") or "").strip():
        missing = f"{missing.rstrip('.;')}; caveat: {caveat}"
    say_system(ctx, f"Still open: {missing}")
    return SUCCESS


# -- there is no whole response --------------------------------------------------------------------


@action(reads=ROOM, writes=_STOPPED)
def at_limit(ctx: TickContext) -> RunStatus:
    """No other request can be paid for. The detail names the limit that would have been enough."""
    bb, room = board_of(ctx), room_of(ctx)
    resource = room.spent() or "turns"
    detail = room.ledger.so_far(resource, ctx.now)
    if resource in ("tokens", "money"):
        detail += f"; the next request needs a limit of {in_digits(room.smallest_limit(resource))}"
    return _stop(bb, STOP_AT[resource], detail)


@action(reads=ROOM, writes=_STOPPED)
def at_token_limit(ctx: TickContext) -> RunStatus:
    """The last answer was longer than what could be paid, in tokens or in money."""
    bb, room = board_of(ctx), room_of(ctx)
    resource = "money" if room.pays_less_in_money() else "tokens"
    limit = in_digits(getattr(room.ledger.limits, resource))
    # Less than the limit is spent: what an answer may cost is known before it is written.
    return _stop(bb, STOP_AT[resource], f"the text needs more than was left of {limit} {resource}")


@action(reads=["ledger"], writes=_STOPPED)
def at_time_limit(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    return _stop(bb, "time_limit", in_seconds(ledger_of(bb).limits.seconds))


@action(writes=[*_STOPPED, "failed"])
def model_unavailable(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    bb_set(bb, "failed", True)
    return _stop(bb, "model_unavailable", str(ctx.failure or "it did not answer"))


@action(reads=["stop_after_last_turn", "is_runaway"], writes=_STOPPED)
def gave_empty_responses(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    stop = bb_get(bb, "stop_after_last_turn") or "stuck"
    repeated = bb_get(bb, "is_runaway")
    did = "said the same thing over and over, or without an end" if repeated else _GAVE_NOTHING
    return _stop(bb, stop, f"the model {did}")


@action(reads=["response"], writes=[*_STOPPED])
def declined(ctx: TickContext) -> RunStatus:
    """The model refused, whatever else it wrote."""
    bb = board_of(ctx)
    return _stop(bb, "refusal", bb_get(bb, "response")["ending"]["said"])


@action(reads=["response"], writes=[*_STOPPED, "is_cut"])
def filtered(ctx: TickContext) -> RunStatus:
    bb = board_of(ctx)
    bb_set(bb, "is_cut", bool(bb_get(bb, "response")["text"]))
    return _stop(bb, "content_filter", "put the question in other words")


@action(reads=["stop_after_last_turn", "signal", "ledger"], writes=_STOPPED)
def without_an_answer(ctx: TickContext) -> RunStatus:
    """The last text only announces work that nobody will do, so the tree answers in its place."""
    bb = board_of(ctx)
    say_verdict(ctx, "gave_up", "the last text only announces work")
    stop, detail = _announced(ctx)
    return _stop(bb, stop or "stuck", detail)


@action(reads=["response", *BOOKED], writes=["ledger", "response", "answer_so_far", "is_cut"])
def keep_cut_response(ctx: TickContext) -> RunStatus:
    """Book a response that did not end, and keep its text with the place of the cut."""
    bb = board_of(ctx)
    response: dict[str, Any] = bb_get(bb, "response")
    if not response["is_complete"]:
        book_once(ctx, response)
        bb_set(bb, "is_cut", bool(response["text"]))
    if response["text"]:
        bb_set(bb, "answer_so_far", response["text"])
    return SUCCESS


@action(reads=["ledger", "turn_is_open"], writes=["turn_is_open"])
def end_cut_turn(ctx: TickContext) -> RunStatus:
    end_turn(ctx, "cut")
    return SUCCESS


# -- whatever ended the run ------------------------------------------------------------------------


@action(
    reads=["calls", "missing", *ORDERED],
    writes=["missing", "tool_results", "calls_wait"],
)
def say_which_calls_were_not_run(ctx: TickContext) -> RunStatus:
    """The last response may call tools beside its text: the user learns that they were not run."""
    bb = board_of(ctx)
    answer_without_running(ctx, bb_get(bb, "calls"), "the run has ended")
    return SUCCESS


@action(reads=["stop_reason"], writes=[*_STOPPED, "failed"])
def name_the_reason(ctx: TickContext) -> RunStatus:
    """If no leaf has named the stop reason, the runtime knows it."""
    bb, outcome = board_of(ctx), ctx.outcome
    if bb_get(bb, "stop_reason"):
        return SUCCESS
    if outcome is not None and outcome.stop != "settled":
        bb_set(bb, "failed", outcome.stop != "cancelled")
        return _stop(bb, outcome.stop, outcome.detail)
    if isinstance(ctx.failure, BoundReached):
        return _stop(bb, "turn_limit", "the tree allows no more rounds")
    return _stop(bb, "stuck", str(ctx.failure or ""))


@action(
    reads=[
        "response",
        "turn_is_open",
        "delegations",
        "parts",
        "gaps",
        "missing",
        *BOOKED,
        *AGENT_STATE,
        *ORDERED,
        *OPEN_END,
    ],
    writes=["ledger", "response", "missing", "tried", "usage"],
)
def sum_up(ctx: TickContext) -> RunStatus:
    """Write down what was used, what was tried and what is missing."""
    bb = board_of(ctx)
    response: dict[str, Any] | None = bb_get(bb, "response")
    if bb_get(bb, "turn_is_open") and response is not None and not response["is_complete"]:
        book_once(ctx, response)  # a request that was cancelled is paid for as far as it came
    bb_set(bb, "tried", [*agent_state(ctx).tools_tried])
    bb_set(bb, "usage", ledger_of(bb).usage(ctx.now) if bb_get(bb, "ledger") else {})
    missing = [*bb_get(bb, "missing"), *bb_get(bb, "gaps"), *left_undone(bb), *unwritten(bb)]
    missing += open_end(bb, is_anything_named=bool(missing))
    bb_set(bb, "missing", list(dict.fromkeys(missing)))
    return SUCCESS


@action(
    reads=[
        "response",
        "is_cut",
        "answer_so_far",
        "stop_reason",
        "stop_detail",
        "evidence",
        "tried",
        "missing",
        "turn_is_open",
        "ledger",
        "is_last_turn",
        *GROUNDS,
    ],
    writes=["answer", "turn_is_open"],
)
def answer_from_the_evidence(ctx: TickContext) -> RunStatus:
    """Write the answer in the model's place, from the text so far and the places found."""
    bb = board_of(ctx)
    response: dict[str, Any] = bb_get(bb, "response") or {}
    was_cut = bb_get(bb, "is_cut") or (bool(response) and not response["is_complete"])
    cut_text: str = (response.get("text") or "") if was_cut else ""
    # The text of an earlier turn was complete.
    is_cut = bool(cut_text)
    answer = unfinished_answer(
        UnfinishedRun(
            stop_reason=bb_get(bb, "stop_reason"),
            detail=bb_get(bb, "stop_detail"),
            text=cut_text or bb_get(bb, "answer_so_far") or _last_words(bb),
            is_cut=is_cut,
            places=bb_get(bb, "evidence"),
            tried=bb_get(bb, "tried"),
            missing=bb_get(bb, "missing"),
        )
    )
    bb_set(bb, "answer", answer)
    if bb_get(bb, "turn_is_open"):
        end_turn(ctx, "cut" if was_cut else outcome_of(response or None))
    say(ctx, ChunkType.CONTENT, content=answer)
    end_turn(ctx, "answer")
    return SUCCESS


def _last_words(bb: TypedBlackboard) -> str:
    """At a limit the last response counts, even if it announced more work: it is all there is.

    In a last turn the model knew that no more work follows: "I will look into it" is nothing then.
    """
    is_at_limit = bb_get(bb, "stop_reason") in STOP_AT.values()
    if not is_at_limit or (bb_get(bb, "is_last_turn") and only_announces(bb)):
        return ""
    response: dict[str, Any] = bb_get(bb, "response") or {}
    return response.get("text", "")


def _announced(ctx: TickContext) -> tuple[str, str]:
    """The reason for which the tools were withdrawn, and its detail if it was a limit."""
    bb = board_of(ctx)
    stop: str = bb_get(bb, "stop_after_last_turn")
    ledger = ledger_of(bb)
    spent = (ledger.so_far(each, ctx.now) for each in RESOURCES if STOP_AT[each] == stop)
    return stop, next(spent, "")


def _stop(bb: TypedBlackboard, reason: str, detail: str) -> RunStatus:
    bb_set(bb, "stop_reason", reason)
    bb_set(bb, "stop_detail", detail)
    return SUCCESS

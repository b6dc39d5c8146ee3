"""What the last response contains, and what it leaves undone."""

from __future__ import annotations

from typing import Any, Final

from oracle.bt.board import OFFER, bb_get, board_of, classification_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition
from oracle.bt.shortfall import (
    GROUNDS,
    ORDERED,
    SPOKEN_OF,
    is_write_still_possible,
    only_announces,
    parts_not_spoken_of,
    unwritten,
    words_not_spoken_of,
)
from oracle.services.citations import find_citations
from oracle.services.control import mid_sentence
from oracle.services.control.announcements import LONGEST

_NOT_FINISHED: Final = ("need_turn", "need_capability", "delegation_recommended")


@condition(reads=["response"])
def has_text(ctx: TickContext) -> bool:
    return bool(bb_get(board_of(ctx), "response")["text"])


@condition(reads=["signal"])
def has_a_weak_signal(ctx: TickContext, below: float) -> bool:
    """Whether this response's own signal says that the model is not sure."""
    signal: dict[str, Any] | None = bb_get(board_of(ctx), "signal")
    return signal is not None and signal["confidence"] < below


@condition(reads=["signal"])
def asks_for_more(ctx: TickContext) -> bool:
    """Whether the model itself says that it has not finished."""
    signal: dict[str, Any] = bb_get(board_of(ctx), "signal") or {}
    return signal.get("type") in _NOT_FINISHED


@condition(reads=["signal", "response", "classification"])
def only_asks_for_more(ctx: TickContext) -> bool:
    """Whether the model has not finished, and its text names no place: it says what it lacks.

    Only for a question about sources. What else is asked can be answered without a place.
    """
    bb = board_of(ctx)
    text: str = bb_get(bb, "response")["text"]
    if not asks_for_more(ctx) or not text or len(text) > LONGEST:
        return False
    is_about_sources = (
        bb_get(bb, "classification") is not None and classification_of(bb).needs_any_source
    )
    return is_about_sources and not find_citations(text)


@condition(reads=SPOKEN_OF)
def is_about_something_else(ctx: TickContext, of_found: float, of_all: float) -> bool:
    """Whether the text and the lines that it cites have less than these shares of the question's
    words: of those that were found, or of all.
    """
    return bool(words_not_spoken_of(board_of(ctx), of_found=of_found, of_all=of_all))


@condition(reads=SPOKEN_OF)
def leaves_a_part_open(ctx: TickContext) -> bool:
    """Whether the question has several parts, and neither the text nor the lines that it cites have
    a word of one of them.
    """
    return bool(parts_not_spoken_of(board_of(ctx)))


@condition(reads=["signal", "response"])
def stops_in_mid_sentence(ctx: TickContext) -> bool:
    """Whether it has no signal, not even a malformed one, and no end: it was cut unnoticed."""
    bb = board_of(ctx)
    response: dict[str, Any] = bb_get(bb, "response")
    if bb_get(bb, "signal") is not None or response["malformed"]:
        return False
    return bool(response["text"]) and mid_sentence.stops_in_mid_sentence(response["text"])


@condition(reads=["calls"])
def has_calls_to_run(ctx: TickContext) -> bool:
    """Whether a call is new: a write that was done before is not done again."""
    return any(not call.get("is_repeat") for call in bb_get(board_of(ctx), "calls"))


@condition(reads=["response", "is_last_turn", *GROUNDS])
def only_announces_work(ctx: TickContext) -> bool:
    """Whether it only says what comes next, such as "Let me look at the tests."."""
    return only_announces(board_of(ctx))


@condition(reads=["calls"])
def has_calls(ctx: TickContext) -> bool:
    return bool(bb_get(board_of(ctx), "calls"))


@condition(reads=ORDERED)
def leaves_a_write_undone(ctx: TickContext) -> bool:
    """Whether a write was not done and not made good, or an order was not carried out."""
    return bool(unwritten(board_of(ctx)))


@condition(reads=[*ORDERED, *OFFER])
def has_not_tried_the_ordered_write(ctx: TickContext) -> bool:
    """Whether the question orders a write, none was tried, and a tool for it is on offer."""
    return is_write_still_possible(board_of(ctx))

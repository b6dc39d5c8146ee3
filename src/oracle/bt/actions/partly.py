"""Ways to end with a partial answer because of what the answer itself is: each names its fault."""

from __future__ import annotations

from oracle.bt.answer_faults import (
    JUDGED,
    own_doubt,
    parts_without_a_place,
    unread_parts,
)
from oracle.bt.board import board_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.ending import CLOSED, CLOSING, close_as_partial
from oracle.bt.state.base import RunStatus


@action(reads=[*CLOSING, *JUDGED], writes=CLOSED)
def as_it_says_itself(ctx: TickContext) -> RunStatus:
    said = own_doubt(board_of(ctx))
    return close_as_partial(ctx, "it says so itself", [f"what it lacks by its own words, “{said}”"])


@action(reads=CLOSING, writes=CLOSED)
def without_a_statement(ctx: TickContext) -> RunStatus:
    """It repeats the question, or is a list of places."""
    return close_as_partial(ctx, "it states nothing", ["a statement that answers the question"])


@action(reads=CLOSING, writes=CLOSED)
def from_other_places(ctx: TickContext) -> RunStatus:
    """What it cites has little to do with the question."""
    missing = "a cited place that speaks of what was asked"
    return close_as_partial(ctx, "the cited places are beside the question", [missing])


@action(reads=CLOSING, writes=CLOSED)
def from_nothing_read(ctx: TickContext) -> RunStatus:
    """None of its citations holds. The answer itself has marks next to them."""
    missing = "a citation of something that was read"
    return close_as_partial(ctx, "it cites only what was not read", [missing])


@action(reads=CLOSING, writes=CLOSED)
def as_it_was_forced(ctx: TickContext) -> RunStatus:
    """The tools were withdrawn before the model was ready, and what it cites is too little."""
    missing = "a place for a part of what was asked"
    return close_as_partial(ctx, "it was asked for before the model had finished", [missing])


@action(reads=[*CLOSING, *JUDGED], writes=CLOSED)
def with_parts_unread(ctx: TickContext) -> RunStatus:
    """Every one of a kind was asked for, and not all that was found was read. `sum_up` names it."""
    return close_as_partial(ctx, f"not read: {unread_parts(board_of(ctx))}", [])


@action(reads=[*CLOSING, *JUDGED], writes=CLOSED)
def with_one_part_only(ctx: TickContext) -> RunStatus:
    parts = parts_without_a_place(board_of(ctx))
    missing = [f"a place in the answer for “{part}”" for part in parts]
    return close_as_partial(ctx, "it speaks of one part only", missing)

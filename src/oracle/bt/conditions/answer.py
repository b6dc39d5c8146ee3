"""What is wrong with the response as an answer, as far as it can be seen from outside."""

from __future__ import annotations

from oracle.bt.answer_faults import (
    JUDGED,
    cites_what_was_not_read,
    is_beside_the_question,
    is_covered_by_its_places,
    is_empty_talk,
    own_doubt,
    parts_without_a_place,
    unread_parts,
)
from oracle.bt.board import board_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition


@condition(reads=JUDGED)
def says_itself_that_it_is_none(ctx: TickContext) -> bool:
    """Whether it says that it did not find or check something, asks back, refuses, or announces
    more work (services/control/own_words.py).
    """
    return bool(own_doubt(board_of(ctx)))


@condition(reads=JUDGED)
def says_nothing(ctx: TickContext) -> bool:
    """Whether it only repeats the question, or only names places where something else is asked."""
    return is_empty_talk(board_of(ctx))


@condition(reads=JUDGED)
def cites_places_beside_the_question(ctx: TickContext, part: float) -> bool:
    """Whether each place that it cites, with the lines near it, has less than this part of the
    question's words that the best place has.
    """
    return is_beside_the_question(board_of(ctx), part=part)


@condition(reads=JUDGED)
def cites_only_what_was_not_read(ctx: TickContext) -> bool:
    return cites_what_was_not_read(board_of(ctx))


@condition(reads=JUDGED)
def is_not_covered_by_its_places(ctx: TickContext, share: float) -> bool:
    """Whether the places that it cites have less than this share of those words of the question
    that were found.
    """
    return not is_covered_by_its_places(board_of(ctx), share=share)


@condition(reads=JUDGED)
def lacks_parts_of_a_list(ctx: TickContext) -> bool:
    """Whether every one of a kind is asked for, and some parts were found and not read."""
    return bool(unread_parts(board_of(ctx)))


@condition(reads=JUDGED)
def speaks_of_one_part_only(ctx: TickContext) -> bool:
    """Whether it cites one file although several were read, and a part of the question is not
    there.
    """
    return bool(parts_without_a_place(board_of(ctx)))

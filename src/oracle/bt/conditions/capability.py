"""What a `need_capability` signal asks for, what became of earlier requests, and which calls need a
person's yes.
"""

from __future__ import annotations

from oracle.bt.board import bb_get, board_of, calls_without_a_yes, capability_tools, new_gaps
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition

_ASKED = ("signal", "tool_list", "withdrawn", "denied")


@condition(reads=_ASKED)
def a_reading_tool_can_do_it(ctx: TickContext) -> bool:
    return bool(capability_tools(board_of(ctx), writes=False))


@condition(reads=_ASKED)
def a_writing_tool_can_do_it(ctx: TickContext) -> bool:
    """Whether one can that nobody has refused: a person is asked once about each tool."""
    return bool(capability_tools(board_of(ctx), writes=True))


@condition(reads=[*_ASKED, "granted"])
def all_of_them_are_granted(ctx: TickContext) -> bool:
    bb = board_of(ctx)
    return set(capability_tools(bb, writes=True)) <= set(bb_get(bb, "granted"))


@condition(reads=[*_ASKED, "gaps"])
def a_part_is_beyond_every_tool(ctx: TickContext) -> bool:
    """Whether something is asked for that no tool can do, for the first time."""
    return bool(new_gaps(board_of(ctx)))


@condition(reads=_ASKED)
def no_tool_can_do_it(ctx: TickContext) -> bool:
    """Whether nothing is left to grant or to ask a person for."""
    return not (a_reading_tool_can_do_it(ctx) or a_writing_tool_can_do_it(ctx))


@condition(reads=[*_ASKED, "gaps"])
def all_of_it_was_refused_before(ctx: TickContext) -> bool:
    """Whether nothing is left to grant, to ask a person for, or to admit."""
    return no_tool_can_do_it(ctx) and not a_part_is_beyond_every_tool(ctx)


@condition(reads=["query", "calls", "tool_list"])
def a_call_needs_a_yes(ctx: TickContext) -> bool:
    """Whether a call is of a tool that needs a yes, and the question does not ask for that tool."""
    return bool(calls_without_a_yes(board_of(ctx)))

"""What a `need_capability` signal asks for, and what became of earlier requests."""

from __future__ import annotations

from typing import Any

from oracle.bt.board import bb_get, board_of, capability_tools
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition

_ASKED = ("signal", "tool_list", "withdrawn")


@condition(reads=_ASKED)
def a_reading_tool_can_do_it(ctx: TickContext) -> bool:
    return bool(capability_tools(board_of(ctx), writes=False))


@condition(reads=_ASKED)
def a_writing_tool_can_do_it(ctx: TickContext) -> bool:
    return bool(capability_tools(board_of(ctx), writes=True))


@condition(reads=_ASKED)
def no_tool_can_do_it(ctx: TickContext) -> bool:
    return not a_reading_tool_can_do_it(ctx) and not a_writing_tool_can_do_it(ctx)


@condition(reads=[*_ASKED, "granted"])
def all_of_them_are_granted(ctx: TickContext) -> bool:
    bb = board_of(ctx)
    return set(capability_tools(bb, writes=True)) <= set(bb_get(bb, "granted"))


@condition(reads=[*_ASKED, "denied"])
def none_of_them_was_denied(ctx: TickContext) -> bool:
    """A person is asked once about each tool."""
    bb = board_of(ctx)
    return set(capability_tools(bb, writes=True)).isdisjoint(bb_get(bb, "denied"))


@condition(reads=["signal", "gaps"])
def the_gap_is_new(ctx: TickContext) -> bool:
    bb = board_of(ctx)
    signal: dict[str, Any] = bb_get(bb, "signal")
    gaps: list[str] = bb_get(bb, "gaps")
    return not any(gap.startswith(f"{signal['capability']} (") for gap in gaps)

"""Other ways to an answer; the tree has their order."""

from __future__ import annotations

from oracle.bt.actions.grants import give
from oracle.bt.actions.oracle import add_system_message, bb_get, bb_set
from oracle.bt.actions.state import (
    AGENT_KEYS,
    agent_state,
    all_tools,
    board_of,
    classification_of,
    granted_tools,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.services.control.grants import LAST_RUNG, next_grant


@action(reads=["strategy_applied"], writes=["strategy"])
def move_on(ctx: TickContext) -> RunStatus:
    """To the strategy after the one that was taken last, however many ask for it in a turn."""
    bb = board_of(ctx)
    bb_set(bb, "strategy", bb_get(bb, "strategy_applied") + 1)
    return SUCCESS


@action(writes=["strategy", "strategy_applied"])
def note_strategy(ctx: TickContext, number: int) -> RunStatus:
    """This one was taken; those that had nothing to offer before it are taken too."""
    bb = board_of(ctx)
    bb_set(bb, "strategy", number)
    bb_set(bb, "strategy_applied", number)
    return SUCCESS


@action(
    reads=["messages", "granted", "withdrawn", "tools_withdrawn", "tool_list", *AGENT_KEYS],
    writes=["messages"],
)
def rephrase_the_search(ctx: TickContext) -> RunStatus:
    """FAILURE where nothing is left to search with."""
    bb = board_of(ctx)
    if all(spec.writes for spec in granted_tools(bb)):
        return ctx.fail("there is nothing to search with")
    add_system_message(
        bb,
        "Put the search differently: synonyms, a part of the name, the words that the source "
        f"itself would use, a wider path. {agent_state(ctx).summary}",
    )
    return SUCCESS


@action(
    reads=["classification", "tool_list", "granted", "grant_rung", "messages"],
    writes=["granted", "grant_rung", "messages"],
)
def grant_next_rung(ctx: TickContext) -> RunStatus:
    """The nearest rung that adds a tool; FAILURE where none does."""
    bb = board_of(ctx)
    classification, specs = classification_of(bb), all_tools(bb)
    for rung in range(bb_get(bb, "grant_rung") + 1, LAST_RUNG + 1):
        added = next_grant(rung, classification, specs, bb_get(bb, "granted"))
        bb_set(bb, "grant_rung", rung)
        if added:
            give(ctx, added, "what was granted before did not lead on")
            return SUCCESS
    return ctx.fail("there is no tool that only reads and was not granted")


@action(
    reads=["messages", "granted", "withdrawn", "tools_withdrawn", "tool_list", *AGENT_KEYS],
    writes=["messages"],
)
def point_to_another_source(ctx: TickContext) -> RunStatus:
    """Name a granted source that was not tried; FAILURE where there is none."""
    bb = board_of(ctx)
    offered = dict.fromkeys(spec.source for spec in granted_tools(bb) if spec.source)
    untried = [kind for kind in offered if kind not in bb_get(bb, "sources_tried")]
    if not untried:
        return ctx.fail("every source on offer was tried")
    add_system_message(bb, f"Try another source: {', '.join(untried)}. {agent_state(ctx).summary}")
    return SUCCESS

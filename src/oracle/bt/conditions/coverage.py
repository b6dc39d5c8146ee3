"""Whether a question needs its parts read one by one, and whether another one may be read."""

from __future__ import annotations

from typing import Any, Final

from oracle.bt.board import (
    OFFER,
    bb_get,
    board_of,
    classification_of,
    granted_tools,
    ledger_of,
    purse_of,
    services_of,
    wanted_parts,
)
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition
from oracle.services.coverage.affordable import may_be_read
from oracle.services.coverage.extracts import prompt_for_a_part
from oracle.services.coverage.listing import asks_where_it_is_used, can_cover
from oracle.services.coverage.parts import Part, to_read
from oracle.services.questions.search_words import asks_for_all, asks_for_uses

_PURSE: Final = ("ledger", "weight", "model")


@condition(reads=["was_covered", *OFFER])
def can_be_covered(ctx: TickContext) -> bool:
    """Whether it was not done before, and tools on offer search and read."""
    bb = board_of(ctx)
    return not bb_get(bb, "was_covered") and can_cover(granted_tools(bb))


@condition(reads=["query"])
def every_use_of_a_name_is_asked_for(ctx: TickContext) -> bool:
    """Whether every use of a name is wanted, however narrow that sounds."""
    return asks_where_it_is_used(bb_get(board_of(ctx), "query"))


@condition(reads=["query"])
def every_one_is_asked_for(ctx: TickContext) -> bool:
    """Whether all of a kind, or every use of a name, are wanted."""
    return asks_for_all(bb_get(board_of(ctx), "query")) or every_use_of_a_name_is_asked_for(ctx)


@condition(reads=["query", "classification", "delegations", "evidence"])
def the_question_is_narrow(ctx: TickContext, broad: float) -> bool:
    """Whether the best few places are enough: nothing says that there are many parts.

    Whoever has found something and is sent here has found too much, not too little.
    """
    bb = board_of(ctx)
    is_broad = classification_of(bb).breadth >= broad or every_use_of_a_name_is_asked_for(ctx)
    return not is_broad and not bb_get(bb, "delegations") and not bb_get(bb, "evidence")


@condition(reads=["evidence", "new_by_call", "was_covered"])
def evidence_keeps_spreading(ctx: TickContext, turns: int, calls: int, files: int) -> bool:
    """Whether call after call has found other files, and no end is in sight."""
    bb = board_of(ctx)
    if bb_get(bb, "was_covered") or ctx.turn < turns:
        return False
    last: list[int] = bb_get(bb, "new_by_call")[-calls:]
    places: list[dict[str, Any]] = bb_get(bb, "evidence")
    found = {place.get("path") or place["where"] for place in places}
    return len(last) == calls and all(last) and len(found) >= files


@condition(reads=["parts", "parts_wanted", "parts_until", "ledger"])
def all_readable_parts_are_read(ctx: TickContext) -> bool:
    """Whether none is left, its tool is used up, or the time for it is over."""
    bb = board_of(ctx)
    ledger = ledger_of(bb)
    parts: list[Part] = bb_get(bb, "parts")
    left = any(may_be_read(parts[n], ledger) for n in to_read(parts, wanted_parts(bb)))
    return not left or ctx.now >= bb_get(bb, "parts_until")


@condition(reads=["parts", "parts_wanted", "parts_until", "ledger"])
def enough_is_read_to_follow_imports(ctx: TickContext, parts: int) -> bool:
    """Whether the first parts are there, or no more can be."""
    known: list[Part] = bb_get(board_of(ctx), "parts")
    done = sum(part["state"] in ("read", "failed") for part in known)
    return done >= parts or all_readable_parts_are_read(ctx)


@condition(reads=["parts_wanted", "query", *OFFER])
def parts_may_be_connected(ctx: TickContext, many: int = 0) -> bool:
    """Whether many parts are wanted that belong together, instead of being a list of similar
    places, and their users can be looked up.
    """
    bb = board_of(ctx)
    if wanted_parts(bb) < many:
        return False
    query: str = bb_get(bb, "query")
    is_a_list = asks_for_all(query) or asks_for_uses(query)
    return not is_a_list and any(spec.role == "uses" for spec in granted_tools(bb))


@condition(reads=["parts_wanted", "query", *OFFER])
def parts_stand_alone(ctx: TickContext, many: int) -> bool:
    """Whether a few places are wanted, or a list: what connects them is not asked for."""
    return not parts_may_be_connected(ctx, many)


@condition(reads=["parts", *_PURSE])
def parts_are_too_much(ctx: TickContext) -> bool:
    """Whether they would crowd the conversation as they are, so that extracts are needed."""
    return purse_of(ctx).are_too_much(bb_get(board_of(ctx), "parts"))


@condition(reads=["parts", "parts_until", *_PURSE])
def enough_parts_are_asked_about(ctx: TickContext, at_once: int, failures: int) -> bool:
    """Whether none is left, the model fails to answer, or the rest is kept for the answer."""
    bb = board_of(ctx)
    parts: list[Part] = bb_get(bb, "parts")
    left = [part for part in parts if part["state"] == "read"]
    failed = sum(part["state"] == "unanswered" for part in parts)
    if not left or failed >= failures or ctx.now >= bb_get(bb, "parts_until"):
        return True
    prompt = prompt_for_a_part(services_of(ctx).prompt_segments)
    return not purse_of(ctx).can_ask_about(left[:at_once], prompt)

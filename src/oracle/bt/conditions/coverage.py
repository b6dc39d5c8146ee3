"""Whether a question needs its parts read one by one, and whether another one may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from oracle.bt.actions.oracle import bb_get
from oracle.bt.actions.state import board_of, granted_tools, ledger_of
from oracle.bt.actions.telling import services_of
from oracle.bt.actions.turn import prices_of
from oracle.bt.conditions.budget import LARGE_SHARE, reserve_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition
from oracle.services.control.conversation import rough_tokens
from oracle.services.control.ledger import Ledger, Reserve, Resource
from oracle.services.coverage.extracts import LONGEST_EXTRACT, prompt_for_a_part
from oracle.services.coverage.listing import asks_where_it_is_used
from oracle.services.coverage.merging import MOST_TOKENS_WHOLE, tokens_of
from oracle.services.coverage.parts import ASKED_ABOUT, Part, to_read
from oracle.services.questions.search_words import asks_for_all, asks_for_uses

FILES_OF_A_SPREAD: Final = 10
CALLS_OF_A_SPREAD: Final = 5
TURNS_OF_A_SPREAD: Final = 5
SHARE_KEPT_FOR_THE_MODEL: Final = 5
"""Of the uses of a tool this part is left to the model: a fifth."""

PARTS_TO_FOLLOW: Final = 8
REQUESTS_IN_VAIN: Final = 4
REQUESTS_AT_ONCE: Final = 4


@condition(reads=["query", "coverage"])
def each_use_is_asked_for(ctx: TickContext) -> bool:
    """Say whether every use of a name is wanted, however narrow that sounds."""
    bb = board_of(ctx)
    return not bb_get(bb, "coverage") and asks_where_it_is_used(bb_get(bb, "query"))


@condition(reads=["evidence", "new_by_call", "coverage"])
def evidence_keeps_spreading(ctx: TickContext) -> bool:
    """Say whether call after call has found other files, and no end of it is in sight."""
    bb = board_of(ctx)
    if bb_get(bb, "coverage") or ctx.turn < TURNS_OF_A_SPREAD:
        return False
    last: list[int] = bb_get(bb, "new_by_call")[-CALLS_OF_A_SPREAD:]
    places: list[dict[str, Any]] = bb_get(bb, "evidence")
    files = {place.get("path") or place["where"] for place in places}
    return len(last) == CALLS_OF_A_SPREAD and all(last) and len(files) >= FILES_OF_A_SPREAD


@condition(reads=["parts", "parts_until", "ledger"])
def no_part_may_be_read(ctx: TickContext) -> bool:
    """Say whether none is left, its tool is used up, or the time for it is over."""
    bb = board_of(ctx)
    ledger = ledger_of(bb)
    parts: list[Part] = bb_get(bb, "parts")
    left = any(may_be_read(parts[n], ledger) for n in to_read(parts))
    return not left or ctx.now >= bb_get(bb, "parts_until")


@condition(reads=["parts", "parts_until", "ledger"])
def enough_is_read_to_follow(ctx: TickContext) -> bool:
    """Say whether the first parts are there, or no more can be."""
    parts: list[Part] = bb_get(board_of(ctx), "parts")
    done = sum(part["state"] in ("read", "failed") for part in parts)
    return done >= PARTS_TO_FOLLOW or no_part_may_be_read(ctx)


@condition(reads=["query", "granted", "withdrawn", "tools_withdrawn", "tool_list"])
def something_may_lie_between(ctx: TickContext) -> bool:
    """Say whether the parts belong together, rather than being places of one kind, and what they
    import can be looked up.
    """
    bb = board_of(ctx)
    query: str = bb_get(bb, "query")
    is_a_list = asks_for_all(query) or asks_for_uses(query)
    return not is_a_list and any(spec.role == "uses" for spec in granted_tools(bb))


@condition(reads=["parts", "ledger", "weight", "model"])
def parts_are_too_much(ctx: TickContext) -> bool:
    """Say whether they would crowd the conversation as they are, so that extracts are needed."""
    return are_too_much(ctx)


@condition(reads=["parts", "parts_until", "ledger", "weight", "model"])
def no_part_may_be_asked_about(ctx: TickContext) -> bool:
    """Say whether none is left, the model did not answer, or what is left is for the answer."""
    bb = board_of(ctx)
    parts: list[Part] = bb_get(bb, "parts")
    left = [part for part in parts if part["state"] == "read"]
    in_vain = sum(part["state"] == "unanswered" for part in parts)
    is_late = ctx.now >= bb_get(bb, "parts_until")
    return not left or in_vain >= REQUESTS_IN_VAIN or is_late or _is_scarce(ctx, left)


def may_be_read(part: Part, ledger: Ledger) -> bool:
    most = ledger.limits.uses_of_a_tool
    most -= most // SHARE_KEPT_FOR_THE_MODEL
    return part["state"] == "open" and ledger.uses.get(part["tool"], 0) < most


def how_many_may_be_read(parts: Sequence[Part], ledger: Ledger) -> int:
    """One after the other, as the uses of their tools go down."""
    count = 0
    for part in (parts[n] for n in to_read(parts)):
        if may_be_read(part, ledger):
            ledger = ledger.with_use(part["tool"])
            count += 1
    return count


def are_too_much(ctx: TickContext) -> bool:
    """Still true when some have been made smaller: it was decided for all of them."""
    parts: list[Part] = bb_get(board_of(ctx), "parts")
    was_asked = any(part["state"] in ASKED_ABOUT for part in parts)
    tokens = tokens_of(parts)
    return was_asked or tokens > MOST_TOKENS_WHOLE or not room_for(ctx)(tokens)


def room_for(ctx: TickContext) -> Callable[[int], bool]:
    """Whether that many tokens may be added to the conversation: they are sent with the next
    request and with the last one, and must leave half of the window free.
    """
    bb = board_of(ctx)
    ledger, reserve, prices = ledger_of(bb), reserve_of(bb), prices_of(bb)
    window = bb_get(bb, "model")["context_window"] // LARGE_SHARE - bb_get(bb, "weight")["tokens"]

    def fits(tokens: int) -> bool:
        money = 0.0 if prices is None else 2 * prices.cost(tokens, 0)
        scarce = _scarce_after(ledger.with_usage(2 * tokens, money), ctx.now, reserve)
        return tokens <= window and scarce not in ("tokens", "money")

    return fits


def _is_scarce(ctx: TickContext, left: list[Part]) -> bool:
    """Whether the next few requests, and what is then handed over, would touch the reserve."""
    bb = board_of(ctx)
    prompt = prompt_for_a_part(services_of(ctx).prompt_segments)
    sent = [rough_tokens(prompt + part["text"]) for part in left[:REQUESTS_AT_ONCE]]
    prices = prices_of(bb)
    money = 0.0 if prices is None else sum(prices.cost(n, LONGEST_EXTRACT) for n in sent)
    money += 0.0 if prices is None else prices.cost(MOST_TOKENS_WHOLE, 0)
    tokens = sum(sent) + LONGEST_EXTRACT * len(sent) + MOST_TOKENS_WHOLE
    after = ledger_of(bb).with_usage(tokens, money)
    return not prompt or _scarce_after(after, ctx.now, reserve_of(bb)) is not None


def _scarce_after(ledger: Ledger, now: float, reserve: Reserve) -> Resource | None:
    """What would be scarce besides turns, of which parts take none."""
    return replace(ledger, turns=0).at_reserve(now, reserve)

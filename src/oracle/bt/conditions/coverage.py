"""Whether a question needs its parts read one by one, and whether another one may be."""

from __future__ import annotations

from typing import Any, Final

from oracle.bt.actions.oracle import bb_get
from oracle.bt.actions.state import board_of, ledger_of
from oracle.bt.conditions.budget import reserve_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import condition
from oracle.services.coverage import MOST_PARTS

FILES_OF_A_SPREAD: Final = 10
CALLS_OF_A_SPREAD: Final = 5
TURNS_OF_A_SPREAD: Final = 5
TOKENS_OF_A_BATCH: Final = 10_000


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


@condition(reads=["parts", "ledger", "weight", "model"])
def no_part_may_be_read(ctx: TickContext) -> bool:
    """Say whether none is left, or the ledger needs what is left for the answer."""
    bb = board_of(ctx)
    ledger = ledger_of(bb)
    left = any(
        part["state"] == "open" and ledger.may_use(part["tool"])
        for part in bb_get(bb, "parts")[:MOST_PARTS]
    )
    after = ledger.with_usage(2 * TOKENS_OF_A_BATCH)
    scarce = after.at_reserve(ctx.now, reserve_of(bb)) not in (None, "turns")
    return not left or scarce

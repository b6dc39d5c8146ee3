"""How a response becomes the answer of the run."""

from __future__ import annotations

from typing import Any, Final

from oracle.bt.board import bb_get, bb_set, board_of
from oracle.bt.core.context import TickContext
from oracle.bt.report import end_turn, say, say_verdict
from oracle.bt.shortfall import why_cut
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.models.stream_chunk import ChunkType
from oracle.services.control.unfinished_answer import CUT_HERE

CLOSING: Final = ("response", "signal", "ledger", "turn_is_open")
CLOSED: Final = ("stop_reason", "answer", "caveat", "missing", "turn_is_open")


def close_as_partial(ctx: TickContext, why: str, missing: list[str]) -> RunStatus:
    say_verdict(ctx, "taken_as_partial", why)
    return close_with_the_response(ctx, "partial_answer", missing)


def close_with_the_response(ctx: TickContext, stop: str, missing: list[str]) -> RunStatus:
    """The response's text is the answer, with a mark at its end if it was cut."""
    bb = board_of(ctx)
    signal: dict[str, Any] = bb_get(bb, "signal") or {}
    response: dict[str, Any] = bb_get(bb, "response")
    if signal.get("missing"):
        missing = [signal["missing"], *missing]
    text: str = response["text"]
    if why := why_cut(response["ending"]):
        missing = [*missing, f"the rest of the answer, because {why}"]
        text += CUT_HERE
        say(ctx, ChunkType.CONTENT, content=CUT_HERE)
    bb_set(bb, "stop_reason", stop)
    bb_set(bb, "answer", text)
    bb_set(bb, "missing", missing)
    bb_set(bb, "caveat", signal.get("caveat"))
    end_turn(ctx, "answer")
    return SUCCESS

"""The way to the board under the name that the specification gives it, and chunks left on it."""

from __future__ import annotations

from oracle.bt.board import bb_get, bb_set, services_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.state.schema import Json
from oracle.models.stream_chunk import OracleStreamChunk

__all__ = ["add_pending_chunk", "bb_get", "bb_set", "say_pending_chunks"]


def add_pending_chunk(bb: TypedBlackboard, chunk: dict[str, Json]) -> None:
    """Leave a chunk for the user on the board; `say_pending_chunks` sends it."""
    bb_set(bb, "_pending_chunks", [*(bb_get(bb, "_pending_chunks") or []), chunk])


@action(reads=["_pending_chunks"], writes=["_pending_chunks"])
def say_pending_chunks(ctx: TickContext) -> RunStatus:
    bb = ctx.blackboard
    assert bb is not None
    for chunk in bb_get(bb, "_pending_chunks") or ():
        services_of(ctx).say(OracleStreamChunk.from_dict({**chunk, "turn": ctx.turn}))
    if bb_get(bb, "_pending_chunks"):
        bb_set(bb, "_pending_chunks", [])
    return SUCCESS

"""The way to the board, under the name that the specification gives it."""

from __future__ import annotations

from oracle.bt.board import bb_get, bb_set
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.state.schema import Json

__all__ = ["add_pending_chunk", "bb_get", "bb_set"]


def add_pending_chunk(bb: TypedBlackboard, chunk: dict[str, Json]) -> None:
    """Leave a chunk for the user on the board, until the tree sends it."""
    bb_set(bb, "_pending_chunks", [*(bb_get(bb, "_pending_chunks") or []), chunk])

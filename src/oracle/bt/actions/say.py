"""What the user is shown: chunks that were left on the board, and verdicts on signals."""

from __future__ import annotations

from oracle.bt.board import bb_get, bb_set, services_of
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.report import say_verdict
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.models.stream_chunk import OracleStreamChunk


@action(reads=["_pending_chunks"], writes=["_pending_chunks"])
def pending_chunks(ctx: TickContext) -> RunStatus:
    bb = ctx.blackboard
    assert bb is not None
    for chunk in bb_get(bb, "_pending_chunks") or ():
        services_of(ctx).say(OracleStreamChunk.from_dict({**chunk, "turn": ctx.turn}))
    if bb_get(bb, "_pending_chunks"):
        bb_set(bb, "_pending_chunks", [])
    return SUCCESS


@action(reads=["signal"])
def verdict(ctx: TickContext, verdict: str, reason: str = "") -> RunStatus:
    """Say what the tree made of the signal, for branches that send no other message."""
    say_verdict(ctx, verdict, reason)
    return SUCCESS

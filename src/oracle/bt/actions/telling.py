"""How leaves speak: to the user in chunks, to whoever watches in events."""

from __future__ import annotations

from typing import Any

from oracle.bt.actions.oracle import bb_get, bb_set
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import action
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.agent_services import AgentServices
from oracle.services.ans.bus import get_event_bus
from oracle.services.ans.event import Event, Severity

_NO_SERVICES = AgentServices()


def services_of(ctx: TickContext) -> AgentServices:
    return ctx.services or _NO_SERVICES


def say(ctx: TickContext, type_: ChunkType, **data: Any) -> None:
    services_of(ctx).say(OracleStreamChunk(type=type_, turn=ctx.turn, data=data))


def say_system(ctx: TickContext, text: str, severity: str = "info") -> None:
    say(ctx, ChunkType.SYSTEM, content=text, severity=severity)


def report(type_: str, severity: Severity = Severity.INFO, **payload: Any) -> None:
    get_event_bus().emit(
        Event(type=type_, source="oracle-agent", severity=severity, payload=payload)
    )


@action(reads=["_pending_chunks"], writes=["_pending_chunks"])
def say_pending(ctx: TickContext) -> RunStatus:
    """Hand over what leaves have left for the user on the board."""
    bb = ctx.blackboard
    assert bb is not None
    for chunk in bb_get(bb, "_pending_chunks") or ():
        services_of(ctx).say(OracleStreamChunk.from_dict({**chunk, "turn": ctx.turn}))
    if bb_get(bb, "_pending_chunks"):
        bb_set(bb, "_pending_chunks", [])
    return SUCCESS

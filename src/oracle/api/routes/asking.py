"""Ask, listen, cancel, and answer what a run asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from oracle.agent import answer_of
from oracle.api.door import Door, TheCaller, TheDoor
from oracle.api.run_under_way import RunUnderWay
from oracle.api.server_sent_events import (
    SECONDS_BETWEEN_BEATS,
    as_events,
    check_stream,
    led_by,
    place_after,
    queued,
)
from oracle.bt.wrappers.spending import checked_raise
from oracle.models.source import Given
from oracle.services.attachments.gathering import gather
from oracle.services.background import in_thread

router = APIRouter(prefix="/api", tags=["asking"])

EXAMPLE = 'id: 3f9a:7\nevent: content\ndata: {"type":"content","turn":2,"content":"It is"}\n\n'
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"example": EXAMPLE}}}
}


class Question(BaseModel):
    """A question. It continues after the exchange `context_id`, or at the end of `session_id`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"question": "Where is the login implemented?"}]},
    )

    question: Annotated[str, Field(min_length=1, max_length=1_000_000)]
    context_id: Annotated[str | None, Field(max_length=64)] = None
    session_id: Annotated[str | None, Field(max_length=64)] = None
    attachment: Annotated[str, Field(max_length=1_000_000, description="A text to go with it")] = ""
    attachments: Annotated[
        list[str], Field(max_length=50, description="Files of the project: src/a.py:10-40")
    ] = []
    priority: Annotated[
        int,
        Field(
            ge=-10,
            le=10,
            description="With `--workers 0`: higher ones of the same user begin first; those below "
            "0 after the runs of others",
        ),
    ] = 0


class MoreLimits(BaseModel):
    """What a run may use in all, from now on. A limit is never made smaller."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"money": 2.0}]})

    turns: Annotated[int | None, Field(ge=0, le=10**9)] = None
    tokens: Annotated[int | None, Field(ge=0, le=10**12)] = None
    money: Annotated[float | None, Field(ge=0, le=10**9, allow_inf_nan=False)] = None
    seconds: Annotated[float | None, Field(ge=0, le=10**9, allow_inf_nan=False)] = None


class Reply(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"approve": True}]})

    # A yes is `true`, and nothing that could be taken for it.
    approve: Annotated[bool, Field(strict=True)]


@router.post("/oracle/stream", responses=EVENTS, response_class=StreamingResponse)
async def stream(
    asked: Question,
    door: TheDoor,
    last_event_id: Annotated[str | None, Header(max_length=200)] = None,
) -> StreamingResponse:
    """Ask, and hear the run as server-sent events; the last one is `done`.

    The run goes on if the client leaves. With the header `Last-Event-ID` nothing is asked: the
    events that follow that one are sent. If many ask at once, `queued` says so before the run
    begins.
    """
    if last_event_id is not None:
        run_id, after = place_after(last_event_id)
        return await _events(door, run_id, after)
    live = await _asked(asked, door)
    run_id, ahead = live.run_id, live.ahead
    events = as_events(run_id, live.follow(beat=SECONDS_BETWEEN_BEATS))
    if ahead:
        first = queued(run_id, ahead, is_stored=await live.stored())
        return _event_stream(run_id, led_by(first, events))
    # So that what is wrong with a question is an error of its request, and not an event.
    await live.begun()
    return _event_stream(run_id, events)


@router.post("/oracle")
async def ask(asked: Question, door: TheDoor) -> dict[str, Any]:
    """Ask, and wait for the whole answer. The run goes on if the client leaves."""
    live = await _asked(asked, door)
    await live.begun()
    await live.end()
    return asdict(answer_of(live.chunks))


@router.get("/runs/{run_id}/stream", responses=EVENTS, response_class=StreamingResponse)
async def listen(
    run_id: str,
    door: TheDoor,
    after: Annotated[
        int, Query(ge=-1, le=10**12, description="The number of the last chunk seen")
    ] = -1,
    last_event_id: Annotated[str | None, Header(max_length=200)] = None,
) -> StreamingResponse:
    """Hear a run that is under way, or one that has ended, from any place on."""
    named = ""
    if last_event_id is not None:
        named, after = place_after(last_event_id)
    return await _events(door, run_id, after, named)


@router.post("/runs/{run_id}/cancel", status_code=202)
async def cancel(run_id: str, door: TheDoor) -> dict[str, str]:
    """End a run. It still ends with an answer from what it has found."""
    await door.runs.cancel(run_id, "cancelled over HTTP")
    return {"run_id": run_id, "status": "cancelling"}


@router.post("/runs/{run_id}/limits", status_code=202)
async def raise_limits(run_id: str, more: MoreLimits, door: TheDoor) -> dict[str, Any]:
    """Let a run that is under way use more. What it may cost is taken from the budgets at once."""
    wanted = checked_raise(more.model_dump(exclude_none=True))
    await door.runs.raise_limits(run_id, wanted)
    return {"run_id": run_id, "limits": wanted}


@router.get("/runs/{run_id}/approvals")
async def approvals(run_id: str, door: TheDoor) -> list[dict[str, Any]]:
    """What the run waits for a person to allow."""
    run = await door.run(run_id)
    return [dict(asked) for asked in await door.approvals.of_run(run.id)]


@router.post("/runs/{run_id}/approvals/{approval_id}")
async def approve(
    run_id: str, approval_id: str, reply: Reply, door: TheDoor, caller: TheCaller
) -> dict[str, Any]:
    """Allow it, or refuse it. To allow a tool that writes needs the scope `write`."""
    asked = await door.approvals.get(run_id, approval_id)
    if reply.approve and not _only_reads(asked["tools"], door):
        caller.check("write", "to allow a tool that writes")
    await door.approvals.answer(run_id, approval_id, is_yes=reply.approve)
    return {"run_id": run_id, "id": approval_id, "approve": reply.approve}


def _only_reads(tools: Sequence[str], door: Door) -> bool:
    """A tool that is not known may write."""
    live = door.agent.setup.live.tools
    reading = {spec.name for spec in live.specs if not spec.writes} if live else set[str]()
    return reading.issuperset(tools)


async def _asked(asked: Question, door: Door) -> RunUnderWay:
    # The disk is read for files only.
    given = Given(text=asked.attachment)
    if asked.attachments:
        given = await in_thread(lambda: _given(asked, door))
    return door.runs.ask(
        asked.question,
        asked.context_id,
        session_id=asked.session_id,
        given=given,
        priority=asked.priority,
    )


def _given(asked: Question, door: Door) -> Given:
    sources = gather(reach=door.reach, files=asked.attachments).sources
    return Given(text=asked.attachment, sources=sources)


async def _events(door: Door, run_id: str, after: int, named: str = "") -> StreamingResponse:
    if door.runs.asked(run_id) is None:
        # Before the response begins, so that an unknown run is a 404.
        run_id = (await door.run(run_id)).id
    check_stream(named, run_id)
    batches = door.runs.follow(run_id, after, beat=SECONDS_BETWEEN_BEATS)
    return _event_stream(run_id, as_events(run_id, batches))


def _event_stream(run_id: str, events: Any) -> StreamingResponse:
    # Proxies must not collect what is meant to be seen at once.
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "Oracle-Run": run_id}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)

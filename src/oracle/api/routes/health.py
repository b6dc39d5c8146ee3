"""For whoever runs the server: is it alive, can it answer, what has it done."""

from __future__ import annotations

import asyncio
import time

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse

from oracle.api.door import TheDoor
from oracle.api.metrics import CONTENT_TYPE, queue_rows
from oracle.api.workers.queued_runs import QueuedRuns
from oracle.services.dispatch.queue import Queue
from oracle.services.dispatch.workers import Workers

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def alive() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz")
async def ready(door: TheDoor) -> dict[str, str]:
    """Whether the database can be read. If not, the answer is an error."""
    await door.store.runs.newest(1)
    return {"status": "ready"}


# Without a `response_class`: with one, errors would be described as plain text too.
@router.get(
    "/metrics",
    response_model=None,
    responses={200: {"content": {"text/plain": {"example": "oracle_runs_live 0"}}}},
)
async def metrics(door: TheDoor) -> PlainTextResponse:
    queue: list[str] = []
    if isinstance(door.runs, QueuedRuns):
        database = door.store.database
        entries = await Queue(database, door.project).entries()
        queue = queue_rows(entries, await Workers(database).all(), time.time())
    text = door.metrics.text(
        live=len(door.runs),
        waiting=len(door.approvals),
        tasks=len(asyncio.all_tasks()),
        queue=queue,
    )
    return PlainTextResponse(text, media_type=CONTENT_TYPE)

"""Lines of a file that an answer cites, for a client that follows the citation."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse

from oracle.api.door import TheDoor
from oracle.services.attachments.gathering import gather
from oracle.services.background import in_thread

router = APIRouter(prefix="/api", tags=["runs"])

Line = Annotated[int | None, Query(ge=1, le=10**9)]


@router.get(
    "/source",
    responses={200: {"content": {"text/plain": {"example": "def login():"}}}},
    response_model=None,
)
async def source(
    door: TheDoor,
    path: Annotated[str, Query(min_length=1, max_length=1000, description="From the root")],
    start: Line = None,
    end: Line = None,
) -> PlainTextResponse:
    """A file of the project, or some of its lines, as the tools read it: without secrets."""
    lines = f":{start}-{end or ''}" if start else ""

    def read() -> str:
        return gather(reach=door.reach, files=[f"{path}{lines}"]).sources[0]["text"]

    # Nobody shall take a file of the project for a page of this server.
    headers = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox"}
    return PlainTextResponse(await in_thread(read), headers=headers)

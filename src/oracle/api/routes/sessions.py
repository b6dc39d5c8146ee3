"""Conversations: list, search, read, rename, export and delete them.

Continuing and branching need no route of their own: a question with a `session_id` goes on at the
end of the session, one with a `context_id` after that exchange.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

from oracle.api.door import TheDoor
from oracle.services.storage.export import as_markdown
from oracle.services.storage.purge import forget_session
from oracle.services.storage.sessions import Sessions

router = APIRouter(prefix="/api/sessions", tags=["sessions"])


class Title(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"title": "Login"}]})

    title: Annotated[str, Field(min_length=1, max_length=1000)]


@router.get("")
async def sessions(
    door: TheDoor,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    search: Annotated[str, Query(max_length=200, description="Words of a title")] = "",
) -> list[dict[str, Any]]:
    """Those of this project, the most recently used first."""
    found = await Sessions(door.store.database).newest(
        None if search else limit, project=door.project
    )
    words = search.lower().split()
    chosen = [one for one in found if all(word in one.session.title.lower() for word in words)]
    return [{**asdict(one.session), "exchanges": one.exchanges} for one in chosen[:limit]]


@router.get("/{session_id}")
async def session(session_id: str, door: TheDoor) -> dict[str, Any]:
    """A session with all its exchanges. Those with the same `parent_id` are branches."""
    found = await Sessions(door.store.database).get(session_id)
    exchanges = await door.store.exchanges_of(found.id)
    return {**asdict(found), "exchanges": [asdict(each) for each in exchanges]}


@router.get(
    "/{session_id}/export",
    response_model=None,
    responses={200: {"content": {"text/markdown": {"example": "# Login"}}}},
)
async def export(session_id: str, door: TheDoor) -> PlainTextResponse:
    """As Markdown."""
    found = await Sessions(door.store.database).get(session_id)
    text = as_markdown(found, await door.store.exchanges_of(found.id))
    return PlainTextResponse(text, media_type="text/markdown; charset=utf-8")


@router.patch("/{session_id}")
async def rename(session_id: str, new: Title, door: TheDoor) -> dict[str, Any]:
    return asdict(await Sessions(door.store.database).rename(session_id, new.title))


@router.delete("/{session_id}")
async def delete(session_id: str, door: TheDoor) -> dict[str, Any]:
    """Delete it for good, with its exchanges, its runs and their records."""
    return asdict(await forget_session(door.store.database, session_id))

"""What can be seen of a run: its tree at work, live or from the record."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from oracle.api.compression import ENCODED, gzipped_stream, wants_gzip
from oracle.api.door import TheDoor
from oracle.api.minds import encoded_frames, in_batches
from oracle.api.server_sent_events import NOT_ENDED, check_stream, kept_alive, place_after
from oracle.bt.wrappers.mind.breaks import Breaks
from oracle.bt.wrappers.mind.shape import hash_of
from oracle.bt.wrappers.recipe import Recipe

router = APIRouter(prefix="/api/runs", tags=["mind"])

EXAMPLE = 'id: 3f9a:m:7\nevent: decision\ndata: {"at":1.5,"turn":2,"verdict":"granted"}\n\n'
FRAMES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"example": EXAMPLE}}}
}


@router.get("/{run_id}/mind", responses=FRAMES, response_class=StreamingResponse)
async def mind(
    run_id: str,
    request: Request,
    door: TheDoor,
    after: Annotated[
        int, Query(ge=-1, le=10**12, description="The number of the last frame seen")
    ] = -1,
    last_event_id: Annotated[str | None, Header(max_length=200)] = None,
) -> StreamingResponse:
    """The tree, each change of a node, and why: of a run that is under way, or of a recorded one.

    The last event is `end`.
    """
    named = ""
    if last_event_id is not None:
        named, after = place_after(last_event_id)
    run = await door.run(run_id)
    check_stream(named, f"{run.id}:m")
    live = door.runs.live(run.id)
    if live is None:
        batches = in_batches(await door.minds.recorded(door.store, run), after)
    else:
        batches = (await door.minds.live(door.store, live)).follow(after)
    events = kept_alive(
        batches, lambda batch: encoded_frames(run.id, batch) if batch else NOT_ENDED
    )
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "Oracle-Run": run.id}
    if wants_gzip(request):
        # The tree alone has hundreds of nodes, each with its path and its description.
        events, headers = gzipped_stream(events), {**headers, **ENCODED}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


@router.get("/{run_id}/trees")
async def trees(run_id: str, door: TheDoor) -> dict[str, Any]:
    """The Lua of the tree that the run began with, by file, and whether the next one has the same.

    `current` has the files that the next run would have, where they differ.
    """
    recipe = Recipe.from_records(*await door.store.record_of(run_id))
    now = await door.minds.current()
    files = {**recipe.sources}
    return {
        "name": recipe.tree,
        "hash": hash_of(files),
        "is_current": hash_of(files) == hash_of(now),
        "files": files,
        "current": {name: text for name, text in now.items() if files.get(name) != text},
    }


class Break(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"path": "question/turns/turn"}]}
    )

    path: Annotated[str, Field(min_length=1, max_length=1000, description="The path of a node")]


class GoOn(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"step": True}]})

    step: Annotated[bool, Field(description="Hold it again before whatever is sent next")] = False


@router.get("/{run_id}/breaks")
async def breaks(run_id: str, door: TheDoor) -> dict[str, Any]:
    """Where a run under way is to be held, and where it is held now."""
    return _breaks(door.runs.under_way(run_id).breaks)


@router.post("/{run_id}/breaks")
async def add_break(run_id: str, wanted: Break, door: TheDoor) -> dict[str, Any]:
    """Hold a run under way before a node: before the first request or call that it leads to.

    The clock of the run goes on, and so do its limits.
    """
    live = door.runs.under_way(run_id)
    live.breakable().add(wanted.path)
    # What is held is seen in its mind, which somebody may ask for only later.
    await door.minds.live(door.store, live)
    return _breaks(live.breaks)


@router.delete("/{run_id}/breaks")
async def remove_break(
    run_id: str,
    door: TheDoor,
    path: Annotated[str | None, Query(max_length=1000, description="All, if none is given")] = None,
) -> dict[str, Any]:
    """Remove it. A run that is held stays so until it may go on."""
    found = door.runs.under_way(run_id).breaks
    if found is not None:
        found.remove(path)
    return _breaks(found)


@router.post("/{run_id}/continue", status_code=202)
async def go_on(run_id: str, how: GoOn, door: TheDoor) -> dict[str, Any]:
    """Let a run that is held go on, to its next break or by one step."""
    live = door.runs.under_way(run_id)
    live.breakable().go_on(step=how.step)
    return _breaks(live.breaks)


def _breaks(found: Breaks | None) -> dict[str, Any]:
    return {
        "breaks": [] if found is None else found.paths,
        "held": None if found is None else found.held,
    }

"""Two runs side by side, and a run on a changed tree."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from oracle.api.door import Door, TheDoor
from oracle.api.routes.runs import row_of
from oracle.bt.wrappers.decisions.change import Change
from oracle.bt.wrappers.mind.comparing import changed_replay, compared_runs
from oracle.errors import InputError
from oracle.models.session import StoredRun
from oracle.services.comparison.comparing import rows_of

router = APIRouter(prefix="/api", tags=["comparing"])

FileName = Annotated[
    str, Field(min_length=1, max_length=200, pattern=r"^[^/\\\x00]+(/[^/\\\x00]+)*\.lua$")
]


class Changed(BaseModel):
    """Tree files by their names, as they would be; those that are not given stay as recorded."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"set": ["limits.turns=5"]}]}
    )

    tree_lua: Annotated[dict[FileName, str], Field(max_length=50)] = {}
    set: Annotated[
        list[Annotated[str, Field(max_length=200)]],
        Field(max_length=50, description="Values of the run: limits.turns=5"),
    ] = []


@router.get("/compare/{first}/{second}")
async def compare(first: str, second: str, door: TheDoor) -> dict[str, Any]:
    """The decisions in which two recorded runs differ, and both trees as one shape.

    For a run and its shadow, `shadow` has what was measured of both.
    """
    a, b = [await door.run(typed) for typed in (first, second)]
    records = [await door.store.record_of(run.id) for run in (a, b)]
    async with door.minds.replaying:
        found = await compared_runs(records[0], records[1], leaves=door.store.leaves)
    return {"a": asdict(a), "b": asdict(b), **found, "shadow": await _shadow(door, a, b)}


@router.post("/runs/{run_id}/replay")
async def replay(run_id: str, changed: Changed, door: TheDoor) -> dict[str, Any]:
    """What a recorded run would decide with changed trees or values. Nothing is asked or written.

    `mind` has the frames of the replay. Where the recording has no answer, `missing` says so.
    """
    if not changed.tree_lua and not changed.set:
        raise InputError("nothing is changed; give `tree_lua` with a file, or `set` with a value")
    change = Change(sources=changed.tree_lua, settings=changed.set)
    run = await door.run(run_id)
    record = await door.store.record_of(run.id)
    async with door.minds.replaying:
        found = await changed_replay(record, change, leaves=door.store.leaves)
    return {"a": asdict(run), "b": None, **found}


async def _shadow(door: Door, a: StoredRun, b: StoredRun) -> dict[str, Any] | None:
    pair = {a.id, b.id}
    if a.shadow_of not in pair and b.shadow_of not in pair:
        return None
    reports = await door.store.shadow_reports.newest(None, project=door.project)
    found = (each for each in reports if {each.run_id, each.shadow_run_id} == pair)
    # What the gate measures over many pairs, of this one.
    return next(
        ({**asdict(each), "rows": [row_of(row) for row in rows_of([each])]} for each in found), None
    )

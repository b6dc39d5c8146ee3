"""Runs and events: what happened, from the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse

from oracle.api.door import Door, TheCaller, TheDoor
from oracle.bt.wrappers.decisions.playing import recorded
from oracle.bt.wrappers.decisions.recording_file import exported
from oracle.bt.wrappers.retelling import retold
from oracle.models.session import Exchange, StoredRun
from oracle.services.ans.event_types import select_types
from oracle.services.ans.query import EventQuery
from oracle.services.background import in_thread
from oracle.services.comparison.choosing import chosen
from oracle.services.comparison.comparing import Row, is_passed, rows_of
from oracle.services.storage.exchanges import Exchanges
from oracle.services.storage.spend_report import spend_rows

router = APIRouter(prefix="/api", tags=["runs"])

Limit = Annotated[int, Query(ge=1, le=1000)]


@router.get("/runs")
async def runs(
    door: TheDoor, limit: Limit = 50, session_id: Annotated[str | None, Query(max_length=64)] = None
) -> list[dict[str, Any]]:
    """The newest runs of this project."""
    found = await door.store.runs.newest(limit, session_id=session_id, project=door.project)
    return await listed(found, door)


@router.get("/runs/{run_id}")
async def run(run_id: str, door: TheDoor) -> dict[str, Any]:
    """A run with its story: turns, calls, decisions with their nodes, and costs."""
    found = await door.run(run_id)
    told = await retold(door.store, found)
    return {**told.as_data(), "is_live": door.runs.is_under_way(found)}


@router.get("/runs/{run_id}/export", response_model=None)
async def export(run_id: str, door: TheDoor) -> PlainTextResponse:
    """A recording without secrets, for `oracle replay`."""
    text = await exported(await recorded(*await door.store.record_of((await door.run(run_id)).id)))
    return PlainTextResponse(text, media_type="application/json")


@router.get("/spend")
async def spend(door: TheDoor, caller: TheCaller) -> list[dict[str, Any]]:
    """What the caller and the project have spent today and this month, and what is left."""
    budgets = door.agent.setup.budgets
    rows = await spend_rows(door.store.database, caller.user, door.project, budgets)
    return [asdict(row) for row in rows]


@router.get("/events")
async def events(
    door: TheDoor,
    run_id: Annotated[str | None, Query(max_length=64)] = None,
    types: Annotated[
        list[str] | None, Query(alias="type", max_length=50, description="Such as fallback.*")
    ] = None,
    after: Annotated[int, Query(ge=0, le=2**62, description="The id of the last event seen")] = 0,
    limit: Limit = 200,
) -> list[dict[str, Any]]:
    """Stored events, oldest first."""
    query = EventQuery(
        types=select_types(types) if types else None, run_id=run_id, after=after, limit=limit
    )

    def read() -> list[dict[str, Any]]:
        with closing(door.open_events()) as table:
            return [stored.as_data() for stored in table.read(query)]

    return await in_thread(read)


@router.get("/shadow-reports")
async def shadow_reports(door: TheDoor, limit: Limit = 50) -> list[dict[str, Any]]:
    """Comparisons of the tree with the plain loop, newest first."""
    return [
        asdict(each) for each in await door.store.shadow_reports.newest(limit, project=door.project)
    ]


@router.get("/shadow")
async def shadow(door: TheDoor, limit: Limit = 1000) -> dict[str, Any]:
    """What the comparisons say together: a row for each measure, and whether the tree is as good.

    Each run counts once, and `left_out` are those in which a loop broke down. `passed` is null if
    nothing was compared yet.
    """
    found = chosen(await door.store.shadow_reports.newest(limit, project=door.project))
    counted = found.counted
    rows = rows_of(counted) if counted else []
    return {
        "compared": len(counted),
        "questions": found.questions,
        "left_out": found.left_out(),
        "passed": is_passed(counted) if counted else None,
        "served": door.settings.loop.answers,
        "rows": [row_of(row) for row in rows],
        "pairs": [
            {
                "run_id": each.run_id,
                "shadow_run_id": each.shadow_run_id,
                "question": each.question,
                "served": each.served,
            }
            for each in counted
        ],
    }


def row_of(row: Row) -> dict[str, Any]:
    measure = row.measure
    return {
        "name": measure.name,
        "tree": row.tree,
        "baseline": row.baseline,
        "digits": measure.digits,
        "more_is_better": measure.more_is_better,
        "is_counted": measure.is_counted,
        "allowed": measure.allowed,
        "is_kept": row.is_kept,
        "verdict": row.verdict,
    }


async def listed(runs: Sequence[StoredRun], door: Door) -> list[dict[str, Any]]:
    """Rows of a list, with the signals of each run and how many citations of its answer hold, as
    far as its exchange has kept that.
    """
    kept = await Exchanges(door.store.database).of_runs([run.id for run in runs])
    return [_listed(run, door, kept.get(run.id)) for run in runs]


def _listed(run: StoredRun, door: Door, exchange: Exchange | None) -> dict[str, Any]:
    metadata: Mapping[str, Any] = {} if exchange is None else exchange.metadata
    kept: Sequence[Mapping[str, Any]] = metadata.get("signals", ())
    signals = [
        signal.get("type") or "malformed"
        for signal in kept
        if signal.get("event") != "signal.ignored"
    ]
    return {
        **asdict(run),
        "is_live": door.runs.is_under_way(run),
        "signals": signals,
        "citations": metadata.get("citations"),
    }

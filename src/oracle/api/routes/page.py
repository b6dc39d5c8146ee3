"""The page, and what it needs before anything was asked."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from oracle.api.door import Door, TheDoor
from oracle.api.page_files import INDEX, page_file
from oracle.api.routes.runs import listed
from oracle.bt.core.leaves import LEAVES
from oracle.bt.wrappers.mind.outline import outline
from oracle.bt.wrappers.recorded_tree import definition_from
from oracle.services.background import in_thread

router = APIRouter(tags=["page"])

METHODS: Final = ["GET", "HEAD"]
NEWEST_RUNS: Final = 5


# One page for all of them: which part of it is shown, its scripts decide by the address.
@router.api_route("/", methods=METHODS, include_in_schema=False)
@router.api_route("/s/{session_id}", methods=METHODS, include_in_schema=False)
@router.api_route("/runs", methods=METHODS, include_in_schema=False)
@router.api_route("/runs/{run_id}", methods=METHODS, include_in_schema=False)
@router.api_route("/trees", methods=METHODS, include_in_schema=False)
@router.api_route("/trees/{name}", methods=METHODS, include_in_schema=False)
@router.api_route("/compare", methods=METHODS, include_in_schema=False)
@router.api_route("/compare/{first}/{second}", methods=METHODS, include_in_schema=False)
async def index(request: Request) -> Response:
    return page_file(request, INDEX)


@router.api_route("/page/{path:path}", methods=METHODS, include_in_schema=False)
async def asset(request: Request, path: str) -> Response:
    return page_file(request, path)


@router.get("/api/page")
async def first_visit(door: TheDoor) -> dict[str, Any]:
    """The project, its model, questions that could be asked, its tree at rest, the newest runs."""
    project = await door.visit.project()
    runs = await door.store.runs.newest(NEWEST_RUNS, project=door.project)
    return {
        "project": door.project,
        # With several roots a path does not say where its file is.
        "root": None if door.settings.roots else str(door.root),
        "index": {
            "is_ready": project.files is not None,
            "files": project.files,
            "problem": project.problem,
        },
        "model": door.visit.model(is_configured=door.has_language_model),
        "questions": project.questions,
        "tree": await _tree(door),
        "runs": await listed(runs, door),
    }


async def _tree(door: Door) -> dict[str, Any]:
    sources = await door.minds.current()
    name = door.agent.setup.tree

    def read() -> dict[str, Any]:
        definition = definition_from(name, tuple(sources.items()), LEAVES)
        return {"name": name, "nodes": len(definition), "outline": outline(definition)}

    return await in_thread(read)

"""The page, and what it needs before anything was asked."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from oracle.api.door import Door, TheDoor
from oracle.api.page_files import INDEX, page_file
from oracle.api.routes.runs import listed
from oracle.bt.core.leaves import LEAVES
from oracle.bt.wrappers.mind.outline import outline
from oracle.bt.wrappers.recorded_tree import definition_from
from oracle.errors import NotFound, ToolProblem
from oracle.services.background import in_thread
from oracle.services.project.roots import Roots
from oracle.services.tools.files import FileText, ProjectFiles
from oracle.services.tools.rooted_files import RootedFiles

router = APIRouter(tags=["page"])

METHODS: Final = ["GET", "HEAD"]
NEWEST_RUNS: Final = 5
MOST_LINES: Final = 2_000


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
        "index": {"is_ready": project.files is not None, "files": project.files},
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


@router.get("/api/lines")
async def lines(
    door: TheDoor,
    path: Annotated[str, Query(min_length=1, max_length=1000, description="A file")],
    first: Annotated[int, Query(ge=1, le=10**9)] = 1,
    last: Annotated[int | None, Query(ge=1, le=10**9)] = None,
    digest: Annotated[
        str, Query(max_length=64, description="Of the file as it was read, to see if it changed")
    ] = "",
) -> dict[str, Any]:
    """Lines of a file, as data. Secrets and ignored files are not shown."""
    text = await in_thread(lambda: _read(door, path))
    total = len(text.lines)
    first = min(first, max(1, total))
    last = min(total if last is None else last, total, first + MOST_LINES - 1)
    shown = enumerate(text.lines[first - 1 : last], start=first)
    return {
        "path": text.path,
        "lines": [{"n": number, "text": line} for number, line in shown],
        "first": first,
        "last": last,
        "total": total,
        "changed": not text.digest.startswith(digest) if digest else None,
    }


def _read(door: Door, path: str) -> FileText:
    settings = door.settings
    kept, secrets = settings.vault.kept, settings.secrets.rules
    files = ProjectFiles(door.root, kept=kept, secrets=secrets)
    if settings.roots:
        roots = Roots(main=door.root, others=settings.roots)
        files = RootedFiles(roots, kept=kept, secrets=secrets)
    try:
        return files.read(path)
    except ToolProblem as problem:
        # Its next step is for a model.
        raise NotFound(str(problem).partition(";")[0]) from None

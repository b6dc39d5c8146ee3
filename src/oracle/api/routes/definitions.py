"""What the agent is made of: trees, prompts and settings. Read-only."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query

from oracle.api.door import Door, TheDoor
from oracle.bt.lua.declarations import declared_trees
from oracle.bt.lua.library import TreeLibrary
from oracle.bt.render.json import as_json
from oracle.bt.wrappers.own_trees import trees_in_use
from oracle.services.background import in_thread
from oracle.services.classification.classifier import classify_query
from oracle.services.prompting.segment_files import load_segments
from oracle.settings import setting_named

router = APIRouter(prefix="/api", tags=["definitions"])


@router.get("/trees")
async def trees(door: TheDoor) -> list[dict[str, str]]:
    """The trees in use, and the file of each."""

    def read() -> list[dict[str, str]]:
        return [
            {"name": tree.name, "file": file, "description": tree.description or ""}
            for file, text in _sources(door).items()
            for tree in declared_trees(text, file)
        ]

    return await in_thread(read)


@router.get("/trees/{name}")
async def tree(name: str, door: TheDoor) -> dict[str, Any]:
    """A tree's nodes with their ids, and the Lua that it was made from."""

    def read() -> dict[str, Any]:
        sources = _sources(door)
        library = TreeLibrary(sources=sources)
        described: dict[str, Any] = json.loads(as_json(library.as_it_stands(name)))
        file = next(
            file
            for file, text in sources.items()
            if any(declared.name == name for declared in declared_trees(text, file))
        )
        return {**described, "file": file, "source": sources[file]}

    return await in_thread(read)


@router.get("/prompts")
async def prompts(door: TheDoor) -> list[dict[str, Any]]:
    """The segments that prompts are composed of."""

    def read() -> list[dict[str, Any]]:
        segments = load_segments(door.settings.path("prompts.folder"))
        return [{"id": each.id, "content": each.content} for each in segments]

    return await in_thread(read)


@router.get("/classify")
async def classify(
    question: Annotated[str, Query(min_length=1, max_length=10_000)],
) -> dict[str, Any]:
    """What kind of question this is taken for."""
    return asdict(await in_thread(lambda: classify_query(question)))


@router.get("/settings")
async def settings(door: TheDoor) -> list[dict[str, Any]]:
    """Each setting, its value and where that comes from. Keys and passwords are not shown."""
    return [
        {
            "name": name,
            "value": door.settings.shown(name),
            "source": origin.source,
            "meaning": setting_named(name).meaning,
        }
        for name, origin in door.settings.origins.items()
    ]


def _sources(door: Door) -> dict[str, str]:
    return dict(trees_in_use(door.settings)[0])

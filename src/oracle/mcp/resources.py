"""What clients can read as resources: trees, runs and notes of the project."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, unquote

import mcp_types as types
from mcp.shared.exceptions import MCPError

from oracle.bt.lua.declarations import declared_trees
from oracle.bt.wrappers.own_trees import trees_in_use
from oracle.bt.wrappers.retelling import retold
from oracle.errors import NotFound, OracleError, named
from oracle.mcp.desk import Desk
from oracle.services.background import in_thread
from oracle.services.project.redaction import redacted
from oracle.services.search.roles import kind_of
from oracle.services.tools.files import ProjectFiles
from oracle.services.tools.vault import Vault

ADDRESS: Final = "oracle://"
NEWEST_RUNS: Final = 50
ON_A_PAGE: Final = 200

TEMPLATES: Final = (
    types.ResourceTemplate(
        name="notes",
        uri_template=f"{ADDRESS}notes/{{+path}}",
        description="A note or a document of the project, by its path.",
    ),
    types.ResourceTemplate(
        name="runs",
        uri_template=f"{ADDRESS}runs/{{id}}",
        description="What a run did and what it cost: turns, calls and decisions.",
        mime_type="application/json",
    ),
    types.ResourceTemplate(
        name="trees",
        uri_template=f"{ADDRESS}trees/{{name}}",
        description="A behavior tree, in Lua.",
        mime_type="text/x-lua",
    ),
)


async def listed(desk: Desk, cursor: str | None) -> types.ListResourcesResult:
    """Trees first, then the newest runs, then all notes, page by page."""
    start = _place(cursor)
    found = [*await _trees(desk), *await _runs(desk), *await _notes(desk)]
    end = start + ON_A_PAGE
    more = str(end) if end < len(found) else None
    return types.ListResourcesResult(resources=found[start:end], next_cursor=more)


async def read(desk: Desk, uri: str) -> types.ReadResourceResult:
    kind, _, name = uri.removeprefix(ADDRESS).partition("/")
    reading = {"notes": _note, "runs": _run, "trees": _tree}.get(kind)
    if reading is None or not uri.startswith(ADDRESS) or not name:
        raise _unknown(f"there is no resource {named(uri)}; `resources/list` has them")
    try:
        mime, text = await reading(desk, unquote(name))
    except OracleError as problem:
        raise _unknown(str(problem)) from None
    content = types.TextResourceContents(uri=uri, mime_type=mime, text=text)
    return types.ReadResourceResult(contents=[content])


async def _trees(desk: Desk) -> Sequence[types.Resource]:
    def look() -> list[types.Resource]:
        return [
            types.Resource(
                uri=f"{ADDRESS}trees/{quote(tree.name)}",
                name=tree.name,
                description=tree.description or None,
                mime_type="text/x-lua",
            )
            for file, text in trees_in_use(desk.settings)[0].items()
            for tree in declared_trees(text, file)
        ]

    return await in_thread(look)


async def _runs(desk: Desk) -> Sequence[types.Resource]:
    return [
        types.Resource(
            uri=f"{ADDRESS}runs/{run.id}",
            name=run.id,
            title=redacted(run.question[:200]),
            description=run.stop_reason or run.status,
            mime_type="application/json",
        )
        for run in await desk.store.runs.newest(NEWEST_RUNS, project=desk.project)
    ]


async def _notes(desk: Desk) -> Sequence[types.Resource]:
    def look() -> list[types.Resource]:
        return [
            types.Resource(
                uri=f"{ADDRESS}notes/{quote(note.entry.path)}",
                name=note.entry.path,
                title=redacted(note.title),
                mime_type=_mime(note.entry.path),
                size=note.entry.size,
            )
            for note in Vault(_files(desk)).notes()
        ]

    return await in_thread(look)


async def _tree(desk: Desk, name: str) -> tuple[str, str]:
    def look() -> str:
        for file, text in trees_in_use(desk.settings)[0].items():
            if any(tree.name == name for tree in declared_trees(text, file)):
                return text
        raise NotFound(f"there is no tree {named(name)}")

    return "text/x-lua", await in_thread(look)


async def _run(desk: Desk, id_: str) -> tuple[str, str]:
    run = await desk.store.runs.get(id_)
    if desk.project not in (None, run.project):
        raise NotFound(f"there is no run {named(id_)} in this project")
    told = (await retold(desk.store, run)).as_data()
    # The records are for a replay: they are long, and the story has what they say.
    del told["records"]
    return "application/json", json.dumps(redacted(told), ensure_ascii=False)


async def _note(desk: Desk, path: str) -> tuple[str, str]:
    if kind_of(path) != "vault":
        raise NotFound(f"{named(path)} is not a note; the tool read_file reads code")
    text = await in_thread(lambda: _files(desk).read(path))
    # Only the lines may leave the process: in the raw text secrets are not redacted.
    return _mime(path), "\n".join(text.lines)


def _files(desk: Desk) -> ProjectFiles:
    settings = desk.settings
    return ProjectFiles(desk.root, kept=settings.vault.kept, secrets=settings.secrets.rules)


def _mime(path: str) -> str:
    return "text/markdown" if path.endswith((".md", ".markdown")) else "text/plain"


def _place(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isdecimal() or len(cursor) > 9:
        raise MCPError(types.INVALID_PARAMS, "the cursor is not one of this server")
    return int(cursor)


def _unknown(message: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, message)

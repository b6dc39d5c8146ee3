"""The tools that clients are offered. A tool exists if it is listed here."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, Final

import mcp_types as types
from mcp.shared.exceptions import MCPError

from oracle.api.live_run import NotBegun
from oracle.errors import InputError, OracleError, did_you_mean, named
from oracle.mcp import asking
from oracle.mcp.desk import Desk
from oracle.mcp.persons import Context
from oracle.services.ans.event import Event
from oracle.services.ans.event_types import select_types
from oracle.services.ans.query import EventQuery
from oracle.services.background import in_thread
from oracle.services.project.redaction import redact
from oracle.services.storage.naming import Naming
from oracle.services.story.event_words import event_words, node_of
from oracle.services.tools.results import well_formed

LOOKING: Final[Mapping[str, str]] = {
    "search_code": "search_code",
    "search_vault": "search_vault",
    "find_definition": "find_definition",
    "read_file": "read_file",
    "repo_map": "get_repo_map",
}
"""Tools of the project that a client may call without a run: the name there, and the one here."""

ASK: Final = types.Tool(
    name="ask",
    title="Ask about the project",
    description=(
        "Answer a question about this project from its code, notes, threads and the web. It "
        "searches and reads by itself, and cites the places that it used. Use it for questions "
        "that need more than one look-up; it takes seconds to minutes. It may ask the user before "
        "it writes a note or runs a tool that changes something."
    ),
    input_schema=dict(asking.SCHEMA),
    annotations=types.ToolAnnotations(read_only_hint=False, destructive_hint=False),
)
AUDIT: Final = types.Tool(
    name="audit",
    title="What a run did",
    description=(
        "The events of a run, oldest first: turns, tool calls, what was decided and by which node "
        "of the behavior tree."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "run": {
                "type": "string",
                "maxLength": 64,
                "default": "last",
                "description": "The id of a run or the start of it, or last.",
            },
            "types": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 50,
                "description": "Only these types; fallback.* for a group of types.",
            },
            "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 200},
        },
        "additionalProperties": False,
    },
    annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
)


def offered(desk: Desk) -> list[types.Tool]:
    own = desk.agent.setup.live.tools
    specs = {spec.name: spec for spec in (own.specs if own is not None else ())}
    looking = [
        types.Tool(
            name=name,
            description=specs[ours].description,
            input_schema=dict(specs[ours].parameters),
            annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
        )
        for name, ours in LOOKING.items()
        if ours in specs
    ]
    return [ASK, *looking, AUDIT]


async def called(
    desk: Desk, context: Context, params: types.CallToolRequestParams
) -> asking.Outcome:
    """What is wrong with a call is a result that the model of the client can read."""
    known = {tool.name for tool in offered(desk)}
    if params.name not in known:
        hint = did_you_mean(params.name[:100], known)
        raise MCPError(types.INVALID_PARAMS, f"there is no tool {named(params.name)}{hint}")
    arguments = params.arguments or {}
    try:
        if params.name == ASK.name:
            check_arguments(ASK, arguments)
            return await asking.ask(desk, context, arguments, params)
        if params.name == AUDIT.name:
            check_arguments(AUDIT, arguments)
            return as_text(await _audit(desk, arguments))
        return await _looked(desk, LOOKING[params.name], arguments)
    except NotBegun as problem:
        return as_text(f"{problem.kind}: {problem}", is_error=True)
    except OracleError as problem:
        return as_text(str(problem), is_error=True)


async def _looked(desk: Desk, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
    tools, sources = desk.agent.setup.live.tools, desk.agent.setup.sources
    assert tools is not None
    if sources is None:
        result = well_formed(await tools.run(name, arguments))
    else:
        async with sources.at_hand():
            result = well_formed(await tools.run(name, arguments))
    return as_text(result["content"], is_error=not result["success"])


async def _audit(desk: Desk, arguments: Mapping[str, Any]) -> str:
    run = await Naming(desk.store.database, desk.project).run(arguments.get("run") or "last")
    if desk.project not in (None, run.project):
        raise InputError(f"run {run.id} belongs to another project")
    types_ = arguments.get("types")
    query = EventQuery(
        run_id=run.id,
        types=select_types(types_) if types_ else None,
        limit=int(arguments.get("limit") or 200),
    )

    def read() -> list[Event]:
        with closing(desk.open_events()) as table:
            return [stored.event for stored in table.read(query)]

    lines = [_line(event) for event in await in_thread(read)]
    return "\n".join([f"Run {run.id}: {redact(run.question)}", *(lines or ["no events match"])])


def _line(event: Event) -> str:
    at = datetime.fromtimestamp(event.at, UTC).isoformat(" ", "milliseconds")
    turn = "" if event.turn is None else f"turn {event.turn}"
    node = node_of(event)
    parts = (at, turn, event.type, event_words(event), f"by {node}" if node else "")
    return "  ".join(filter(None, parts))


def check_arguments(tool: types.Tool, arguments: Mapping[str, Any]) -> None:
    """Raises `InputError`, which says what is wrong. The SDK brings the validator."""
    from jsonschema import Draft202012Validator

    validator: Any = Draft202012Validator(tool.input_schema)
    for mistake in validator.iter_errors(dict(arguments)):
        place = ".".join(map(str, mistake.absolute_path)) or "the arguments"
        raise InputError(f"{tool.name} was not run: {place}: {mistake.message[:300]}")


def as_text(text: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=redact(text))], is_error=is_error)

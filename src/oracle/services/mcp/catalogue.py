"""Which tools a server has: asked once, and remembered for this user.

A question is never held up by a server that was asked before. The list is kept among the user's own
files, not in the project: a project could otherwise say that a tool that writes only reads. Each
call compares it with what the server says now.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from oracle.errors import StoreError
from oracle.lazy_dataclass import dataclass
from oracle.logs import logger_of
from oracle.patterns import lazy_pattern
from oracle.services.mcp.schemas import plain_schema, words
from oracle.services.project.redaction import redact
from oracle.services.settings.mcp_servers import McpServer
from oracle.services.user_files import recall, remember

if TYPE_CHECKING:
    from mcp_types import Tool

log = logger_of(__name__)

BETWEEN: Final = "__"
"""Between the names of server and tool. None of our own tools has it."""
MOST_TOOLS: Final = 40
_TOPIC: Final = "tools of servers"
_LONGEST_WORDS: Final = 800
_LONGEST_NAME: Final = 64
_NAME: Final = lazy_pattern(r"[A-Za-z0-9_-]{1,50}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Offered:
    """A tool of a server. `name` is the server's own name for it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    writes: bool


def offered_by(server: McpServer, tools: Iterable[Tool]) -> tuple[list[Offered], list[str]]:
    """The tools that can be used, and at most two lines about those that cannot: a server that
    lists nothing else must not fill the screen.
    """
    found: dict[str, Offered] = {}
    problems: list[str] = []
    unusable: list[str] = []
    for tool in tools:
        parameters = plain_schema(tool.input_schema)
        whole = f"{server.name}{BETWEEN}{tool.name}"
        if len(found) == MOST_TOOLS:
            problems.append(f"{server.name} has more than {MOST_TOOLS} tools; the rest is left out")
            break
        if not _NAME.fullmatch(tool.name) or len(whole) > _LONGEST_NAME or tool.name in found:
            unusable.append(f"the name {tool.name[:60]!r}")
        elif parameters is None:
            unusable.append(f"{tool.name}, whose arguments are not described as an object")
        else:
            said = redact(words(tool.description or tool.title or tool.name, _LONGEST_WORDS))
            found[tool.name] = Offered(
                name=tool.name,
                description=f"{said} (as the server {server.name} describes it)",
                parameters=parameters,
                writes=_writes(server, tool),
            )
    if unusable:
        count = "1 tool" if len(unusable) == 1 else f"{len(unusable)} tools"
        more = "" if len(unusable) == 1 else ", and so on"
        problems.append(f"{count} of {server.name} cannot be used: {unusable[0]}{more}")
    return list(found.values()), problems


def _writes(server: McpServer, tool: Tool) -> bool:
    """What the settings say counts. Otherwise only a tool that is said to be read-only reads."""
    if tool.name in server.writes:
        return True
    hints = tool.annotations
    return tool.name not in server.reads and not (hints is not None and hints.read_only_hint)


def remembered(digest: str) -> list[Offered] | None:
    """None if the server was never asked, or if what was remembered cannot be read."""
    rows: object = recall(_TOPIC).get(digest)
    if not isinstance(rows, list):
        return None
    try:
        return [Offered(**row) for row in cast("list[dict[str, Any]]", rows)]
    except TypeError:
        return None


def keep(digest: str, tools: Iterable[Offered]) -> None:
    rows = [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
            "writes": tool.writes,
        }
        for tool in tools
    ]
    try:
        remember(_TOPIC, digest, rows)
    except StoreError as problem:
        log.info("the tools of a server are asked for again next time: %s", problem)

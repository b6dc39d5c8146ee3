"""The tools of a project together with those of other servers, as the loop sees them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from oracle.errors import BadArguments, InputError, ToolProblem
from oracle.lazy_dataclass import dataclass
from oracle.logs import logger_of
from oracle.models.query_classification import QueryType
from oracle.models.tool_spec import ToolSpec
from oracle.services.background import in_thread
from oracle.services.mcp.catalogue import BETWEEN, Offered, keep, offered_by, remembered
from oracle.services.mcp.connection import Connection, check_installed
from oracle.services.own_code.found import answer_of
from oracle.services.project.redaction import redact
from oracle.services.settings.mcp_servers import McpServer
from oracle.services.tools.answer import Answer
from oracle.services.tools.arguments import read_arguments
from oracle.services.tools.executor import ToolBox
from oracle.services.tools.protocol import ToolResult
from oracle.services.tools.registry import Tool
from oracle.services.tools.tickets import Mark

if TYPE_CHECKING:
    from mcp_types import CallToolResult

log = logger_of(__name__)

SECONDS_TO_LIST: Final = 10.0
"""How long the first question that could use a server waits for its list of tools."""
SECONDS_AFTER_FAILURE: Final = 300.0
"""How long a server that failed to list its tools is not asked again by this process."""
_LONGEST_TEXT: Final = 400_000
_LONGEST_PROBLEM: Final = 1_000


@dataclass(frozen=True, kw_only=True)
class ServerTool(Tool[Mapping[str, Any]]):
    """A tool whose arguments are described by a schema and not by a class."""

    parameters: Mapping[str, Any]

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name=self.name,
            description=self.description,
            parameters=self.parameters,
            query_types=self.query_types or frozenset(),
            writes=self.is_writing,
            role=self.role,
            needs_yes=self.needs_yes,
        )

    def read(self, arguments: Mapping[str, object] | str) -> Mapping[str, Any]:
        try:
            given = read_arguments(arguments)
        except BadArguments as problem:
            raise ToolProblem(f"{self.name} was not run: {problem}") from None
        if lacking := self.spec.lacking(given):
            raise ToolProblem(f"{self.name} was not run: {', '.join(lacking)} is missing")
        return given


class ServerTools:
    """The tools of one server. Nothing is started or sent before `prepare` or a call."""

    def __init__(
        self, server: McpServer, root: Path | None, environment: Mapping[str, str], *, dry_run: bool
    ) -> None:
        self.server = server
        self._dry_run = dry_run
        self._digest = server.digest(root)
        self._connection = Connection(server, environment, root)
        self._offered = remembered(self._digest)
        self._failed_at: float | None = None
        self.box = self._boxed()

    @property
    def needs_asking(self) -> bool:
        """Whether its tools are not known, and it has not failed to list them lately."""
        if self._offered is not None:
            return False
        failed = self._failed_at
        return failed is None or time.monotonic() - failed > SECONDS_AFTER_FAILURE

    async def ask(self) -> None:
        """Ask for its tools, within a bound. A failure is in the log, and no question fails."""
        try:
            # Not counted: it is our own time, and not the server's.
            await in_thread(check_installed)
            async with asyncio.timeout(min(SECONDS_TO_LIST, self.server.timeout)):
                await self._refresh()
        except (ToolProblem, InputError, TimeoutError) as problem:
            self._failed_at = time.monotonic()
            why = str(problem) or f"the server {self.server.name} did not list its tools in time"
            log.warning("%s", redact(why))

    async def _refresh(self) -> Mapping[str, Offered]:
        """What it offers now. A list that has changed counts from the next question on."""
        tools, problems = offered_by(self.server, await self._connection.tools())
        if tools != self._offered:
            for problem in problems:
                log.warning("%s", problem)
            is_known = self._offered is not None
            self._offered = tools
            await in_thread(keep, self._digest, tools)
            # During a run its tools stay as they were when it began.
            if not is_known:
                self.box = self._boxed()
        return {tool.name: tool for tool in tools}

    def _boxed(self) -> ToolBox:
        return ToolBox(self._tool(each) for each in self._offered or ())

    def _tool(self, offered: Offered) -> ServerTool:
        return ServerTool(
            name=f"{self.server.name}{BETWEEN}{offered.name}",
            description=offered.description,
            arguments=dict,
            run=partial(self._run, offered),
            source=None,
            # Only the model calls it: what its arguments mean is not known to the tree.
            role="write" if offered.writes else "other",
            query_types=(
                frozenset({QueryType.ACTION}) if offered.writes else self.server.query_types
            ),
            timeout=self.server.timeout,
            needs_yes=offered.writes,
            parameters=offered.parameters,
        )

    async def _run(self, offered: Offered, given: Mapping[str, Any]) -> Answer:
        whole = f"{self.server.name}{BETWEEN}{offered.name}"
        if self._dry_run and offered.writes:
            shown = json.dumps(given, ensure_ascii=False)[:1_000]
            return Answer(summary=f"{whole} would be called with {shown}.", plan=True)
        known = (await self._refresh()).get(offered.name)
        if known is None:
            raise ToolProblem(f"the server {self.server.name} has no tool {offered.name} any more")
        if known.writes and not offered.writes:
            # A yes was not asked for, because it was said to only read.
            raise ToolProblem(f"{whole} was not run: it says now that it writes; ask again")
        result = await self._connection.call(offered.name, given)
        return await in_thread(_answer, whole, result, offered.writes)


def _answer(name: str, result: CallToolResult, writes: bool) -> Answer:
    text = _text(result)
    if result.is_error:
        raise ToolProblem(f"{name} failed: {' '.join(text.split())[:_LONGEST_PROBLEM]}")
    return answer_of(name, text or None, writes=writes)


def _text(result: CallToolResult) -> str:
    """Texts, and the names of what is not text. Data without a text is written as JSON."""
    parts: list[str] = []
    for block in result.content:
        resource = getattr(block, "resource", None)
        text = getattr(block, "text", None) or getattr(resource, "text", None)
        parts.append(text if isinstance(text, str) else f"[{block.type}, which is not text]")
    if not parts and result.structured_content is not None:
        parts.append(json.dumps(result.structured_content, ensure_ascii=False, indent=1))
    return "\n\n".join(parts)[:_LONGEST_TEXT]


class WithServers:
    """`own` are the tools of the project. Those of servers have the server's name in front."""

    def __init__(self, own: ToolBox, servers: Sequence[ServerTools]) -> None:
        self._own = own
        self._servers = {each.server.name: each for each in servers}

    @property
    def specs(self) -> Sequence[ToolSpec]:
        ours = self._own.specs
        taken = {spec.name for spec in ours}
        theirs = [spec for each in self._servers.values() for spec in each.box.specs]
        return (*ours, *(spec for spec in theirs if spec.name not in taken))

    @property
    def needs_preparation(self) -> bool:
        return any(each.needs_asking for each in self._servers.values())

    async def prepare(self, query_type: QueryType) -> None:
        """Ask servers that were never asked, all at once, if the question could use them."""
        asked = [
            each.ask()
            for each in self._servers.values()
            if each.needs_asking
            and (query_type in each.server.query_types or query_type == QueryType.ACTION)
        ]
        await asyncio.gather(*asked)

    def _box(self, name: str) -> ToolBox:
        server, between, _ = name.partition(BETWEEN)
        is_ours = not between or any(spec.name == name for spec in self._own.specs)
        return self._own if is_ours or server not in self._servers else self._servers[server].box

    async def run(
        self, name: str, arguments: Mapping[str, object] | str, mark: Mark | None = None
    ) -> ToolResult:
        return await self._box(name).run(name, arguments, mark)

    async def mark(self, name: str, arguments: Mapping[str, object] | str) -> Mark | None:
        return await self._box(name).mark(name, arguments)

    async def was_done(
        self, name: str, arguments: Mapping[str, object] | str, mark: Mark | None = None
    ) -> ToolResult | None:
        return await self._box(name).was_done(name, arguments, mark)

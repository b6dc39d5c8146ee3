"""Runs tools by name. Wrong arguments and failures are results too, never exceptions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from oracle.errors import InterruptedWrite, ToolProblem, did_you_mean, named
from oracle.logs import logger_of
from oracle.models.tool_spec import ToolSpec
from oracle.services.background import is_being_cancelled
from oracle.services.project.redaction import redacted_traceback
from oracle.services.tools.answer import LONGEST_CONTENT, Answer, as_result, failure, one_line
from oracle.services.tools.protocol import ToolResult
from oracle.services.tools.registry import Tool
from oracle.services.tools.tickets import Mark

_Work = Callable[[], Awaitable[Answer]]
_log: Final = logger_of(__name__)


def took_too_long(name: str, seconds: float, *, writes: bool) -> str:
    if writes:
        # The thread that writes cannot be stopped.
        return (
            f"{name} took longer than {seconds:g} s, and it is not known whether it was done; look "
            "before you call it again"
        )
    return (
        f"{name} took longer than {seconds:g} s and was stopped; ask for less (a narrower path, "
        "fewer results), or try another way"
    )


class ToolBox:
    """The tools of a project, as the loop sees them (`Tools`). Calls may run at the same time."""

    def __init__(self, tools: Iterable[Tool[Any]], *, longest: int = LONGEST_CONTENT) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._specs = tuple(tool.spec for tool in self._tools.values())
        self._longest = longest

    @property
    def specs(self) -> Sequence[ToolSpec]:
        return self._specs

    async def run(
        self, name: str, arguments: Mapping[str, object] | str, mark: Mark | None = None
    ) -> ToolResult:
        tool = self._tools.get(name)
        if tool is None:
            return self._unknown(name)
        writes = tool.writes
        if writes is None or mark is None:
            return await self._guarded(tool, lambda: tool.run(tool.read(arguments)))
        return await self._guarded(tool, lambda: writes.run(tool.read(arguments), mark))

    async def mark(self, name: str, arguments: Mapping[str, object] | str) -> Mark | None:
        """Before a write. None if the call cannot succeed; `run` will say why."""
        tool = self._tools.get(name)
        if tool is None or tool.writes is None:
            return None
        try:
            async with asyncio.timeout(tool.timeout):
                return await tool.writes.mark(tool.read(arguments))
        except (ToolProblem, TimeoutError, OSError) as problem:
            _log.info("%s gets no mark: %s", name, problem)
            return None

    async def was_done(
        self, name: str, arguments: Mapping[str, object] | str, mark: Mark | None = None
    ) -> ToolResult | None:
        tool = self._tools.get(name)
        if tool is None:
            raise InterruptedWrite(f"there is no tool {named(name)} that could look")
        try:
            given = tool.read(arguments)
        except ToolProblem:
            return None  # a call with wrong arguments is never run
        if not tool.is_writing:
            return None
        if tool.writes is None or mark is None:
            raise InterruptedWrite(f"{name} cannot find out whether it was done")
        try:
            async with asyncio.timeout(tool.timeout):
                answer = await tool.writes.was_done(given, mark)
        except (ToolProblem, TimeoutError, OSError) as problem:
            raise InterruptedWrite(str(problem)) from problem
        return answer and as_result(answer, longest=self._longest)

    async def _guarded(self, tool: Tool[Any], call: _Work) -> ToolResult:
        """Cancellation passes through. Every other exception becomes a result."""
        limit = asyncio.timeout(tool.timeout)
        try:
            async with limit:
                answer = await call()
            return as_result(answer, longest=self._longest)
        except ToolProblem as problem:
            return failure(str(problem))
        except InterruptedWrite as problem:
            return {**failure(str(problem)), "is_unknown": True}
        except asyncio.CancelledError:
            if is_being_cancelled():
                raise
            return failure(f"{tool.name} cancelled itself; try another way")
        except TimeoutError:
            # A `TimeoutError` can also come from the network, before our own limit is reached.
            if not limit.expired():
                return failure(f"{tool.name}: the server did not respond in time; try later")
            late = failure(took_too_long(tool.name, tool.timeout, writes=tool.is_writing))
            return {**late, "is_unknown": True} if tool.is_writing else late
        except Exception as problem:
            _log.error("tool %s failed:\n%s", tool.name, redacted_traceback(problem))
            return failure(
                f"{tool.name} failed internally ({type(problem).__name__}: "
                f"{one_line(str(problem))}); this call will fail again, so try another way"
            )

    def _unknown(self, name: str) -> ToolResult:
        step = "call one of those you were given"
        hint = did_you_mean(name[:100], self._tools, step=step)
        return failure(f"there is no tool {named(name)}{hint}")

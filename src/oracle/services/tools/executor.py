"""Runs tools by name. Wrong arguments and failures are results too, never exceptions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from oracle.errors import ToolProblem, did_you_mean, named
from oracle.models.tool_spec import ToolSpec
from oracle.services.project.redaction import redacted_traceback
from oracle.services.tools.answer import LONGEST_CONTENT, Answer, as_result, failure, one_line
from oracle.services.tools.protocol import ToolResult
from oracle.services.tools.registry import Tool

_Work = Callable[[], Awaitable[Answer | None]]
_log: Final = logging.getLogger(__name__)


class ToolBox:
    """The tools of a project, as the loop sees them (`Tools`). Calls may run at the same time."""

    def __init__(self, tools: Iterable[Tool[Any]], *, longest: int = LONGEST_CONTENT) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._specs = tuple(tool.spec for tool in self._tools.values())
        self._longest = longest

    @property
    def specs(self) -> Sequence[ToolSpec]:
        return self._specs

    async def run(self, name: str, arguments: Mapping[str, object] | str) -> ToolResult:
        tool = self._tools.get(name)
        if tool is None:
            return self._unknown(name)
        result = await self._guarded(tool, lambda: tool.run(tool.read(arguments)))
        assert result is not None
        return result

    async def was_done(self, name: str, arguments: Mapping[str, object] | str) -> ToolResult | None:
        """None for a tool that only reads: it can simply run again."""
        tool = self._tools.get(name)
        ask = tool and tool.was_done
        if tool is None or ask is None:
            return None
        result = await self._guarded(tool, lambda: ask(tool.read(arguments)))
        return result if result and result["success"] else None

    async def _guarded(self, tool: Tool[Any], call: _Work) -> ToolResult | None:
        """Cancellation passes through. Every other exception becomes a result."""
        limit = asyncio.timeout(tool.timeout)
        try:
            async with limit:
                answer = await call()
            return answer and as_result(answer, longest=self._longest)
        except ToolProblem as problem:
            return failure(str(problem))
        except TimeoutError:
            # A `TimeoutError` can also come from the network, before our own limit is reached.
            if not limit.expired():
                return failure(f"{tool.name}: the server did not respond in time; try later")
            return failure(
                f"{tool.name} took longer than {tool.timeout:g} s and was stopped; ask for less "
                "(a narrower path, fewer results), or try another way"
            )
        except Exception as problem:
            _log.error("tool %s failed:\n%s", tool.name, redacted_traceback(problem))
            return failure(
                f"{tool.name} failed internally ({type(problem).__name__}: "
                f"{one_line(str(problem))}); this call will fail again, so try another way"
            )

    def _unknown(self, name: str) -> ToolResult:
        hint = did_you_mean(name[:100], self._tools)
        return failure(f"there is no tool {named(name)}{hint}; call one of those you were given")

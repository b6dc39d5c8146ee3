"""A language model and tools that play a script.

model = ScriptedModel(
    Reply(calls=[("search_code", {"query": "login"})], text=signal("need_turn", reason="look")),
    "It is in auth.py:3. " + signal("context_sufficient", sources_found=1),
)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oracle.errors import InterruptedWrite
from oracle.models.query_classification import QueryType
from oracle.models.source import Source
from oracle.models.source_kind import kind_named
from oracle.models.tool_spec import ToolSpec, role_by_name
from oracle.services.llm.endings import Kind
from oracle.services.llm.protocol import ModelRequest, Part, Prices, Usage
from oracle.services.tools.protocol import ToolResult


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """One response of the model.

    With `hold` it waits after its text until the event is set. `raises` is also raised after the
    text. `piece` is the number of characters in each streamed part. `ending` is why it ended, such
    as "length"; by default it is whole.
    """

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, object] | str]] = ()
    reasoning: str = ""
    usage: Usage | None = None
    raises: Exception | None = None
    hold: asyncio.Event | None = None
    seconds: float = 0.0
    piece: int = 24
    ending: Kind = "whole"


class ScriptedModel:
    """Plays its replies in order and remembers the requests. A function makes its own reply.

    A request after the last reply fails the test. `check_played_out` fails it if some are left.
    """

    def __init__(
        self,
        *replies: Reply | str | Callable[[ModelRequest], Reply | str],
        name: str = "scripted",
        context_window: int = 200_000,
        longest_output: int = 4_096,
        prices: Prices | None = None,
        repeats_last: bool = False,
    ) -> None:
        self._replies = replies
        self._repeats_last = repeats_last
        self.name = name
        self.context_window = context_window
        self.longest_output = longest_output
        self.prices = prices
        self.requests: list[ModelRequest] = []
        self.closed = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        place = len(self.requests)
        self.requests.append(request)
        if place >= len(self._replies) and not self._repeats_last:
            raise AssertionError(f"asked more often than the {len(self._replies)} times scripted")
        reply = self._replies[min(place, len(self._replies) - 1)]
        reply = reply if isinstance(reply, Reply | str) else reply(request)
        reply = Reply(text=reply) if isinstance(reply, str) else reply
        try:
            async for part in _parts(reply, place):
                yield part
        finally:
            self.closed += 1

    def check_played_out(self) -> None:
        left = len(self._replies) - len(self.requests)
        assert left <= 0, f"{left} of {len(self._replies)} replies were never asked for"


async def _parts(reply: Reply, place: int) -> AsyncIterator[Part]:
    if reply.seconds:
        await asyncio.sleep(reply.seconds)
    if reply.reasoning:
        yield {"reasoning": reply.reasoning}
    for start in range(0, len(reply.text), reply.piece):
        yield {"text": reply.text[start : start + reply.piece]}
    if reply.hold is not None:
        await reply.hold.wait()
    if reply.raises is not None:
        raise reply.raises
    for number, (name, arguments) in enumerate(reply.calls):
        given = dict(arguments) if isinstance(arguments, Mapping) else arguments
        yield {"tool_call": {"id": f"call-{place}-{number}", "name": name, "arguments": given}}
    if reply.ending != "whole":
        yield {"ending": {"kind": reply.ending, "said": reply.ending}}
    if reply.usage is not None:
        yield {"usage": reply.usage}


def signal(type_: str, confidence: float = 0.9, **fields: object) -> str:
    """A signal as a model writes it."""
    written = {**fields, "confidence": confidence}
    inside = "".join(
        f"<{name}>{value if isinstance(value, str) else json.dumps(value)}</{name}>"
        for name, value in written.items()
    )
    return f'\n<signal type="{type_}">{inside}</signal>'


_KINDS: Mapping[str, str] = {
    "search_vault": "vault",
    "read_note": "vault",
    "list_notes": "vault",
    "write_note": "vault",
    "search_threads": "threads",
    "read_thread": "threads",
    "push_thread": "threads",
    "web_search": "web",
    "web_fetch": "web",
}
"""The kind of source of each tool. A tool that is not listed reads code."""

Answer = str | ToolResult | Exception
Tool = Answer | Sequence[Answer] | Callable[[Mapping[str, object] | str], Any]


class ScriptedTools:
    """Tools by name: one answer for every call, a list of answers in order, or a function.

    A string is a successful result with one source, named by its first word. An empty string is
    a search that found nothing. An exception is raised.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self.calls: list[tuple[str, Mapping[str, object] | str]] = []
        self.specs = [tool_spec(name) for name in tools]

    async def run(self, name: str, arguments: Mapping[str, object] | str) -> ToolResult:
        place = sum(called == name for called, _ in self.calls)
        self.calls.append((name, arguments))
        tool = self._tools[name]
        if callable(tool):
            answer = tool(arguments)
            answer = await answer if asyncio.iscoroutine(answer) else answer
        elif isinstance(tool, list | tuple):
            answer = tool[min(place, len(tool) - 1)]  # the last answer is repeated
        else:
            answer = tool
        return self._result(name, answer)

    async def was_done(self, name: str, arguments: Mapping[str, object] | str) -> ToolResult | None:
        raise InterruptedWrite(f"the script does not say whether {name} was done")

    def _result(self, name: str, answer: Any) -> ToolResult:
        if isinstance(answer, Exception):
            raise answer
        if not isinstance(answer, str):
            return answer
        if not answer:
            return {"success": True, "content": "Nothing was found.", "sources": [], "empty": True}
        where = answer.split(None, 1)[0]
        source = Source(kind=_KINDS.get(name, "code"), where=where, text=answer)
        return {"success": True, "content": answer, "sources": [source]}


def tool_spec(name: str) -> ToolSpec:
    """A tool whose kind of source and role follow from its name."""
    kind = kind_named(_KINDS.get(name, "code"))
    writes = role_by_name(name) == "write"
    return ToolSpec(
        name=name,
        description=f"{name.replace('_', ' ').capitalize()}.",
        parameters={"type": "object", "properties": {"query": {"type": "string"}}},
        query_types=frozenset({QueryType.ACTION}) if writes else kind.query_types,
        writes=writes,
        source=kind.name,
    )

"""Ask the agent a question with a scripted model, and look at all that came of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from oracle.bt.core.context import TickContext
from oracle.bt.core.definition import TreeDefinition
from oracle.bt.lua.library import TreeLibrary
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.bt.wrappers.recipe import TREE, built_in_trees
from oracle.models.source import Given
from oracle.models.stream_chunk import OracleStreamChunk
from oracle.services.ans.bus import event_bus_replaced
from oracle.services.classification.classifier import classify_query
from oracle.services.control.ledger import Limits
from oracle.testing import RecordingBus, Reply, ScriptedModel, ScriptedTools, signal

CODE = "How does the login function in auth.py work?"
LONG = (
    "How does the login function in auth.py work when a token that was refreshed twice by one "
    "client is then used by two other clients at the same time?"
)

TALK = "Thanks, that helps!"
"""Needs no source, so that any text is an answer."""

SOON = Limits(seconds=0.8)
"""Time for a run to begin and to come to what it waits for, on a busy machine too."""

classify_query("What takes long the first time is not to be measured.")


@dataclass
class Heard:
    chunks: list[OracleStreamChunk]
    model: ScriptedModel
    tools: ScriptedTools
    bus: RecordingBus

    @property
    def done(self) -> dict[str, Any]:
        return dict(self.chunks[-1].data)

    @property
    def stop(self) -> str:
        return self.done["stop_reason"]

    @property
    def offered(self) -> list[list[str]]:
        """The tools of each request."""
        return [[spec.name for spec in request.tools] for request in self.model.requests]

    @property
    def ran(self) -> list[str]:
        return [name for name, _ in self.tools.calls]

    def of_type(self, type_: str) -> list[dict[str, Any]]:
        return [dict(chunk.data) for chunk in self.chunks if chunk.type == type_]

    def events(self, type_: str) -> list[dict[str, Any]]:
        return [dict(event.payload) for event in self.bus.events if event.type == type_]

    def told(self, request: int = -1) -> str:
        """What the tree had told the model in mid-run by that request."""
        later = self.model.requests[request].messages[1:]
        return "\n".join(m["content"] for m in later if m["role"] == "system")

    def results(self, request: int = -1) -> list[str]:
        messages = self.model.requests[request].messages
        return [m["content"] for m in messages if m["role"] == "tool"]


async def ask(
    *replies: Any, tools: Any = None, query: str = CODE, model: Any = None, **options: Any
) -> Heard:
    """Play the replies; tools are a mapping for `ScriptedTools`, or such tools themselves."""
    given = {"search_code": "auth.py:3 def login()", "web_search": "https://x.example found"}
    tools = given if tools is None else tools
    tools = ScriptedTools(tools) if isinstance(tools, dict) else tools
    model = model or ScriptedModel(*replies)
    given = Given(text=options.pop("attachment", ""), sources=options.pop("attached", ()))
    with event_bus_replaced(RecordingBus()) as bus:
        wrapper = OracleBTWrapper(model=model, tools=tools, **options)
        chunks = [chunk async for chunk in wrapper.process_query(query, given=given)]
    heard = Heard(chunks, model, tools, bus)
    check_the_end(heard)
    return heard


def check_the_end(heard: Heard) -> None:
    """What holds for every run, whatever happened in it."""
    assert [chunk.type for chunk in heard.chunks].count("done") == 1
    assert heard.chunks[-1].type == "done"
    assert heard.done["answer"].strip()
    assert heard.stop
    for request in heard.model.requests:
        check_results_stand_behind_their_calls(request.messages)


def check_results_stand_behind_their_calls(messages: Any) -> None:
    for place, message in enumerate(messages):
        asked = [call["id"] for call in message.get("tool_calls", ())]
        behind = messages[place + 1 : place + 1 + len(asked)]
        assert [answer.get("call_id") for answer in behind] == asked


def look(what: object = "login", reason: str | None = None, tool: str = "search_code") -> Reply:
    """A search, with a signal that asks for the turn that it takes."""
    return Reply(
        text=signal("need_turn", reason=reason or f"look for {what}"),
        calls=[(tool, {"query": str(what)})],
    )


def enough(text: str = "It is in auth.py:3.") -> str:
    return text + signal("context_sufficient", sources_found=1)


def stuck(text: str = "Hm.", blocker: str = "no such file") -> str:
    return text + signal("stuck", attempted=["search_code"], blocker=blocker)


def edited(file: str, *changes: tuple[str, str]) -> dict[str, str]:
    """Our trees with a text replaced; what is to be replaced must be there."""
    trees = dict(built_in_trees())
    for old, new in changes:
        assert old in trees[file], f"{file} has no {old!r}"
        trees[file] = trees[file].replace(old, new)
    return trees


def context(now: float = 0.0, services: Any = None, **state: Any) -> TickContext:
    """A context for one leaf, with the board that the agent's tree declares."""
    board = TypedBlackboard(scope_name="test", schema=agent_tree().schema)
    for key, value in {"query": CODE, "limits": Limits().to_dict(), **state}.items():
        board.set(key, value)
    ctx = TickContext(blackboard=board, services=services)
    ctx.now = now
    return ctx


@cache
def agent_tree() -> TreeDefinition:
    return TreeLibrary(sources=built_in_trees())[TREE]

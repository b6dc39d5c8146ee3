"""One script, and the loops that play it: ours, those of two peers, and a bare one.

All of them get the same text in the same chunks, run the same tool and share one script for all of
their runs. The script fails a loop that does not hand the tool's result back to the model.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from oracle.services.tools.protocol import ToolResult
from oracle.testing import signal

CHUNKS = 8
QUESTION = "How does the login function in auth.py work?"
TOOL = "search_code"

Play: TypeAlias = Callable[[], Awaitable[None]]
"""One run, from the question to the answer, with everything it streams consumed."""


@dataclass(frozen=True, kw_only=True)
class Script:
    """So many turns that call the tool, then an answer. `before_answer` holds a run there."""

    tool_turns: int
    seconds: float = 0.0
    before_answer: Callable[[], Awaitable[None]] | None = None
    chunks: list[list[str]] = field(init=False)

    def __post_init__(self) -> None:
        texts = [_searching(turn) for turn in range(self.tool_turns)] + [_answering(self._parts)]
        object.__setattr__(self, "chunks", [_cut(text) for text in texts])

    @property
    def question(self) -> str:
        """It names each part that a turn looks for: the tree ends a search that brings nothing."""
        return f"{QUESTION} It goes through {self._parts}."

    @property
    def _parts(self) -> str:
        return ", ".join(_place(asked(turn)["query"]) for turn in range(self.tool_turns))

    async def text(self, turn: int, last_result: str | None) -> AsyncIterator[str]:
        """What the model says in a turn, if it was given what its last call found."""
        if turn:
            assert last_result is not None, f"no result before turn {turn}"
            assert found(turn - 1) in last_result, f"turn {turn} was told {last_result!r}"
        if self.seconds:
            await asyncio.sleep(self.seconds)
        if self.before_answer is not None and self.is_answer(turn):
            await self.before_answer()
        for chunk in self.chunks[turn]:
            yield chunk

    def is_answer(self, turn: int) -> bool:
        return turn == self.tool_turns

    def check(self, results: int) -> None:
        assert results == self.tool_turns, f"{results} tool results, not {self.tool_turns}"


def _searching(turn: int) -> str:
    prose = f"I look for the place where part {turn} of the login is done, and who calls it. "
    return prose + signal("need_turn", reason=f"part {turn} was not read yet")


def _answering(parts: str) -> str:
    """It speaks of each part: an answer that leaves out what was asked for is not whole."""
    prose = f"The login is done in login_0.py:3, which goes through {parts} and returns the user. "
    return prose + signal("context_sufficient", sources_found=5)


def _cut(text: str) -> list[str]:
    size = -(-len(text) // CHUNKS)
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    assert len(chunks) == CHUNKS
    return chunks


def asked(turn: int) -> dict[str, str]:
    return {"query": f"login {turn}"}


def found(turn: int) -> str:
    return _search(f"login {turn}")


def _place(query: str) -> str:
    return query.replace(" ", "_")


def _search(query: str) -> str:
    place = _place(query)
    return f"{place}.py:3 def {place}(request): return the session of the user"


# -- ours ------------------------------------------------------------------------------------------


class _Model:
    name = "script"
    context_window = 200_000
    longest_output = 4_096

    def __init__(self, script: Script) -> None:
        from oracle.services.llm.protocol import Prices

        self._script = script
        self.prices = Prices(input=1.0, output=1.0)

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        results = [m["content"] for m in request.messages if m["role"] == "tool"]
        turn = len(results)
        async for chunk in self._script.text(turn, results[-1] if results else None):
            yield {"text": chunk}
        if not self._script.is_answer(turn):
            call = {"id": f"call-{turn}", "name": TOOL, "arguments": asked(turn)}
            yield {"tool_call": call}
        yield {"usage": {"input_tokens": 100, "output_tokens": 50}}


class _Tools:
    def __init__(self) -> None:
        from oracle.testing.models import tool_spec

        self.specs = [tool_spec(TOOL)]

    async def run(self, name: str, arguments: Mapping[str, object] | str) -> ToolResult:
        assert name == TOOL
        assert isinstance(arguments, Mapping)
        text = _search(str(arguments["query"]))
        place = text.split(None, 1)[0]
        source: Any = {"kind": "code", "where": place, "text": text}
        return {"success": True, "content": text, "sources": [source]}

    async def was_done(self, name: str, arguments: Mapping[str, object] | str) -> ToolResult | None:
        return None


def scripted(script: Script) -> dict[str, Any]:
    """The model and the tools of the script, as arguments for an agent."""
    return {"model": _Model(script), "tools": _Tools()}


def ours(script: Script) -> Play:
    """The whole tree, with the ledger, the events and a journal in memory."""
    from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
    from oracle.services.control.ledger import Limits

    limits = Limits(turns=40, tokens=10_000_000, uses_of_a_tool=40)
    wrapper = OracleBTWrapper(**scripted(script), limits=limits)

    async def play() -> None:
        results = 0
        chunk = None
        async for chunk in wrapper.process_query(script.question):
            results += chunk.type == "tool_result"
        assert chunk is not None
        assert chunk.data["stop_reason"] == "answered", chunk.data
        assert "login_0.py:3" in chunk.data["answer"]
        script.check(results)

    return play


def bare(script: Script) -> Play:
    """The least that any loop must do with the same model and the same tool."""
    model, tools = _Model(script), _Tools()

    async def play() -> None:
        messages: list[dict[str, Any]] = [{"role": "user", "content": script.question}]
        while (call := await _bare_turn(model, messages)) is not None:
            result = await tools.run(call["name"], call["arguments"])
            messages.append({"role": "tool", "call_id": call["id"], "content": result["content"]})
        script.check(sum(message["role"] == "tool" for message in messages))

    return play


async def _bare_turn(model: _Model, messages: list[dict[str, Any]]) -> Any:
    text: list[str] = []
    call = None
    async for part in model.stream(_Request(messages)):
        text.append(part.get("text", ""))
        call = part.get("tool_call", call)
    messages.append({"role": "assistant", "content": "".join(text), "tool_calls": [call]})
    return call


@dataclass(frozen=True, slots=True)
class _Request:
    messages: list[dict[str, Any]]


# -- peers -----------------------------------------------------------------------------------------


def pydantic_ai(script: Script) -> Play:
    """An Agent on a FunctionModel, by `iter`, every event of every node consumed."""
    from pydantic_ai import Agent
    from pydantic_ai.messages import FunctionToolResultEvent, ModelResponse
    from pydantic_ai.models.function import DeltaToolCall, FunctionModel

    async def stream(messages: Any, info: Any) -> AsyncIterator[Any]:
        turn = sum(isinstance(message, ModelResponse) for message in messages)
        last = messages[-1].parts[-1].content
        async for chunk in script.text(turn, last):
            yield chunk
        if not script.is_answer(turn):
            arguments = json.dumps(asked(turn))
            yield {0: DeltaToolCall(name=TOOL, json_args=arguments, tool_call_id=f"call-{turn}")}

    agent = Agent(FunctionModel(stream_function=stream))

    @agent.tool_plain
    async def search_code(query: str) -> str:
        return _search(query)

    async def play() -> None:
        results = 0
        async with agent.iter(script.question) as run:
            async for node in run:
                if Agent.is_model_request_node(node) or Agent.is_call_tools_node(node):
                    async with node.stream(run.ctx) as events:
                        async for event in events:
                            results += isinstance(event, FunctionToolResultEvent)
        assert run.result is not None
        assert run.result.output == "".join(script.chunks[-1])
        script.check(results)

    return play


def direct(script: Script) -> Play:
    """pydantic-ai's direct requests on the same FunctionModel, with a bare loop around them."""
    from pydantic_ai.direct import model_request_stream
    from pydantic_ai.messages import ModelRequest, ModelResponse, ToolReturnPart, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.function import DeltaToolCall, FunctionModel
    from pydantic_ai.tools import ToolDefinition

    async def stream(messages: Any, info: Any) -> AsyncIterator[Any]:
        turn = sum(isinstance(message, ModelResponse) for message in messages)
        async for chunk in script.text(turn, messages[-1].parts[-1].content):
            yield chunk
        if not script.is_answer(turn):
            arguments = json.dumps(asked(turn))
            yield {0: DeltaToolCall(name=TOOL, json_args=arguments, tool_call_id=f"call-{turn}")}

    model = FunctionModel(stream_function=stream)
    tool = ToolDefinition(name=TOOL, parameters_json_schema={"type": "object", "properties": {}})
    given = ModelRequestParameters(function_tools=[tool])

    async def play() -> None:
        messages: list[Any] = [ModelRequest(parts=[UserPromptPart(script.question)])]
        for _ in range(script.tool_turns + 1):
            async with model_request_stream(
                model, messages, model_request_parameters=given
            ) as parts:
                async for _part in parts:
                    pass
            response = parts.get()
            messages.append(response)
            calls = [part for part in response.parts if part.part_kind == "tool-call"]
            results = [
                ToolReturnPart(
                    tool_name=call.tool_name,
                    content=_search(call.args_as_dict()["query"]),
                    tool_call_id=call.tool_call_id,
                )
                for call in calls
            ]
            if results:
                messages.append(ModelRequest(parts=results))
        script.check(sum(isinstance(message, ModelRequest) for message in messages) - 1)

    return play


def langgraph(script: Script) -> Play:
    """A StateGraph with a ToolNode and no checkpointer, its chunks sent by a stream writer.

    This is its fastest form: the prebuilt agent, and a chat model streamed as messages, take two
    to five times as long for a turn.
    """
    from langchain_core.messages import AIMessage, HumanMessage
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition
    from langgraph.types import StreamWriter

    async def call_model(state: Any, writer: StreamWriter) -> dict[str, Any]:
        messages = state["messages"]
        turn = sum(isinstance(message, AIMessage) for message in messages)
        text: list[str] = []
        async for chunk in script.text(turn, messages[-1].content):
            writer(chunk)
            text.append(chunk)
        call = {"name": TOOL, "args": asked(turn), "id": f"call-{turn}"}
        calls = [] if script.is_answer(turn) else [call]
        return {"messages": [AIMessage(content="".join(text), tool_calls=calls)]}

    async def search_code(query: str) -> str:
        """Search the code."""
        return _search(query)

    graph = StateGraph(MessagesState)
    graph.add_node("model", call_model)
    graph.add_node("tools", ToolNode([search_code]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    agent = graph.compile()
    config: Any = {"recursion_limit": 2 * script.tool_turns + 5}

    async def play() -> None:
        results = 0
        text: list[str] = []
        given: Any = {"messages": [HumanMessage(script.question)]}
        async for mode, part in agent.astream(given, config, stream_mode=["custom", "updates"]):
            if mode == "custom":
                text.append(part)
            elif "tools" in part:
                results += len(part["tools"]["messages"])
                text.clear()
        assert "".join(text) == "".join(script.chunks[-1])
        script.check(results)

    return play

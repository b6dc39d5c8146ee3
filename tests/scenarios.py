"""Questions, what the model and the tools answer to them, and how that must end."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import pytest

from oracle.bt.wrappers.oracle_wrapper import OracleBTWrapper
from oracle.errors import ModelError, ModelRefused
from oracle.models.stream_chunk import OracleStreamChunk
from oracle.services.control.ledger import Limits
from oracle.services.llm.protocol import ModelRequest
from oracle.services.tools.answer import Answer, as_result
from oracle.testing import Reply, ScriptedModel, ScriptedTools, signal

CODE = "How does the login function in auth.py work?"
LONG = (
    "How does the login function in auth.py work when a token that was refreshed twice is used by "
    "two clients at once?"
)
TOOLS = {"search_code": "auth.py:3 def login()", "search_vault": "", "web_search": "x.y found"}
WRITING = {"search_code": "auth.py:1", "write_note": "notes/x.md"}
NUMBERED = {"search_code": lambda a: f"f{a['query']}.py:1 x", "web_search": "w"}
BROAD = "How does an order travel from the CLI to the database?"
PARTS = {
    "search_code": lambda a: f"f{len(a['query'])}.py:1 x",
    "read_file": lambda a: f"{a['path']}:1 order",
}
BAD = '<signal type="done"><confidence>2</confidence></signal>'


def search(number: object) -> Reply:
    reason = signal("need_turn", reason=f"look {number}")
    return Reply(text=reason, calls=[("search_code", {"query": str(number)})])


def searches(count: int) -> list[Reply]:
    return [search(number) for number in range(count)]


def read_lines(path: str, lines: Sequence[str]) -> dict[str, Any]:
    """As `read_file` answers: the lines in words and as data."""
    source: Any = {"kind": "code", "where": f"{path}:1-{len(lines)}", "path": path}
    source |= {"start": 1, "end": len(lines), "text": "\n".join(lines)}
    return dict(as_result(Answer(summary=f"{path}:", findings=[source])))


def large_part(path: str) -> str:
    """Too long for several to be handed over whole."""
    return read_large_part({"path": path})["content"]


def read_large_part(arguments: Mapping[str, str]) -> dict[str, Any]:
    lines = [f"save_order(order, {n})" for n in range(1, 121)]
    return read_lines(arguments["path"], lines)


def part_of(request: ModelRequest) -> str | None:
    """The file of the part that a request asks about; None where it asks about none."""
    message = request.messages[-1]
    return message["sources"][0]["path"] if "question" in message else None


def reader(about_a_part: Callable[[str], Any], answer: Any) -> Callable[[ModelRequest], Any]:
    """A model that is asked about parts, in whatever order, and then for the answer."""

    def reply(request: ModelRequest) -> Any:
        if path := part_of(request):
            return about_a_part(path)
        return answer(request) if callable(answer) else answer

    return reply


def extract_of(path: str) -> str:
    return f"- `{path}:7`: {path} saves the order."


def most_extracts(path: str) -> Reply | str:
    """One request fails, one brings nothing, one part does not bear on the question."""
    if path == "f1.py":
        return Reply(text="- `f1", raises=ModelError("overloaded"))
    return {"f2.py": "", "f3.py": "Nothing."}.get(path, extract_of(path))


def held(text: str) -> Callable[[Any], Reply]:
    """Says this, and then nothing more."""
    return lambda _: Reply(text=text, hold=asyncio.Event())


def never_ends(_: str) -> Reply:
    return Reply(text="- ", hold=asyncio.Event())


async def yes(_: Mapping[str, Any]) -> bool:
    return True


async def no_answer(_: Mapping[str, Any]) -> bool:
    await asyncio.Event().wait()
    return True


async def broken_terminal(_: Mapping[str, Any]) -> bool:
    raise EOFError("nobody is there")


async def slower_first(arguments: Mapping[str, str]) -> str:
    """The first call of several ends last, by rounds of the event loop rather than by time."""
    for _ in range(20 - 5 * int(arguments["query"])):
        await asyncio.sleep(0)
    return f"f{arguments['query']}.py:1 x"


async def never(_: Any) -> str:
    await asyncio.Event().wait()
    return ""


async def one_never(arguments: Mapping[str, str]) -> str:
    return await never(arguments) if arguments["query"] == "1" else "f0.py:1 x"


def says(type_: str) -> Callable[[OracleStreamChunk], bool]:
    return lambda chunk: chunk.type == type_


def has_text(text: str) -> Callable[[OracleStreamChunk], bool]:
    return lambda chunk: text in chunk.content


@dataclass(frozen=True, kw_only=True)
class Scene:
    """`cancel_at` says at which chunk it is cancelled."""

    replies: list[Any]
    stop: str
    tools: Mapping[str, Any] = field(default_factory=lambda: TOOLS)
    query: str = CODE
    repeats_last: bool = False
    limits: Limits = field(default_factory=Limits)
    approve: Any = None
    cancel_at: Callable[[OracleStreamChunk], bool] = lambda _: False

    def model(self) -> ScriptedModel:
        return ScriptedModel(*self.replies, repeats_last=self.repeats_last)

    def wrapper(self, **more: Any) -> OracleBTWrapper:
        parts = {"model": self.model(), "tools": ScriptedTools(self.tools)} | more
        return OracleBTWrapper(limits=self.limits, approve=self.approve, **parts)


async def play(
    scene: Scene, context_id: str | None = None, *, nodes: bool = False, **more: Any
) -> list[OracleStreamChunk]:
    """All chunks of a scene."""
    wrapper = scene.wrapper(**more)
    said: list[OracleStreamChunk] = []
    async with aclosing(wrapper.process_query(scene.query, context_id, nodes=nodes)) as chunks:
        async for chunk in chunks:
            said.append(chunk)
            if scene.cancel_at(chunk):
                wrapper.cancel("stop it")
    return said


LARGE_PARTS = {
    "search_code": {
        "success": True,
        "content": "found",
        "sources": [{"kind": "code", "where": f"f{n}.py:1", "text": "order"} for n in range(9)],
    },
    "read_file": read_large_part,
}
BETWEEN = {"kind": "code", "where": "relay.py:9", "path": "relay.py", "start": 9}
FLOW_PARTS = {
    **LARGE_PARTS,
    "read_file": lambda a: read_lines(
        a["path"], ["from core.relay import Relay", f"class Part{a['path'][1]}: ..."]
    ),
    "find_definition": {
        "success": True,
        "content": "used",
        "sources": [{**BETWEEN, "text": "    Part3(order)"}],
    },
}
STUCK = signal("stuck", attempted=["a"], blocker="b")
ENOUGH = signal("context_sufficient", sources_found=3)
WRITE = "need" + signal("need_capability", capability="write a note", reason="save")
MORE = signal("need_turn", reason="more")
SAME = [
    Reply(text=signal("need_turn", reason=f"r{i}"), calls=[("search_code", {"query": "same"})])
    for i in range(6)
]
TWO = Reply(calls=[("search_code", {"query": "0"}), ("search_code", {"query": "1"})])
TWICE = Reply(calls=[("search_code", {"query": "0"}), ("search_code", {"query": "0"})])

SCENES: Mapping[str, Scene] = {
    "29 of 30": Scene(
        replies=[*searches(29), "final" + MORE],
        tools=NUMBERED,
        limits=Limits(uses_of_a_tool=30),
        stop="turn_limit",
    ),
    "5 turns": Scene(
        replies=[*searches(4), "final" + MORE],
        tools=NUMBERED,
        limits=Limits(turns=5),
        stop="turn_limit",
    ),
    "the last turn is empty": Scene(
        replies=[*searches(4), MORE], tools=NUMBERED, limits=Limits(turns=5), stop="turn_limit"
    ),
    "the model refuses": Scene(
        replies=[Reply(raises=ModelRefused("bad key"))], stop="model_unavailable"
    ),
    "cancelled in mid-word": Scene(
        replies=[search(1), held("It is in the fi")],
        cancel_at=has_text("It is in"),
        stop="cancelled",
    ),
    "cancelled in a tool": Scene(
        replies=[search(1)],
        tools={"search_code": never},
        cancel_at=says("tool_call"),
        stop="cancelled",
    ),
    "cancelled between two results": Scene(
        replies=[TWO],
        tools={"search_code": one_never},
        cancel_at=says("tool_result"),
        stop="cancelled",
    ),
    "cancelled while a person thinks": Scene(
        replies=[WRITE],
        tools=WRITING,
        approve=no_answer,
        cancel_at=says("approval"),
        stop="cancelled",
    ),
    "cancelled by the first chunk": Scene(
        replies=["It is"], cancel_at=says("system"), stop="cancelled"
    ),
    "the model dies": Scene(
        replies=[search(1), Reply(text="It is in", raises=ModelError("connection lost"))],
        stop="model_unavailable",
    ),
    "tools fail": Scene(
        replies=[*searches(3), "I could not." + STUCK, "honest"],
        tools={"search_code": RuntimeError("disk")},
        stop="partial_answer",
    ),
    "unbelieved": Scene(
        replies=["It is X." + ENOUGH, search(1), "It is Y." + ENOUGH], stop="answered"
    ),
    "insists": Scene(replies=["It is X." + ENOUGH] * 3, stop="partial_answer"),
    "sufficient and searching": Scene(
        replies=[search(1), Reply(text="enough" + ENOUGH, calls=search("z").calls), "final"],
        stop="answered",
    ),
    "stuck": Scene(
        replies=[
            Reply(text="hm" + STUCK, calls=search("z").calls),
            *["x" + STUCK] * 5,
            "end",
        ],
        repeats_last=True,
        stop="stuck",
    ),
    "granted": Scene(
        replies=[
            "need" + signal("need_capability", capability="web search", reason="look up"),
            Reply(calls=[("web_search", {"query": "q"})]),
            "found",
        ],
        stop="answered",
    ),
    "refused": Scene(replies=[WRITE, search(1), "ok, not done"], tools=WRITING, stop="answered"),
    "allowed": Scene(
        replies=[WRITE, Reply(calls=[("write_note", {"query": "q"})]), "done"],
        tools=WRITING,
        approve=yes,
        stop="answered",
    ),
    "asking failed": Scene(
        replies=[WRITE, search(1), "ok, not done"],
        tools=WRITING,
        approve=broken_terminal,
        stop="answered",
    ),
    "impossible": Scene(
        replies=[
            "need" + signal("need_capability", capability="run the tests", reason="see"),
            search(1),
            "ok",
        ],
        stop="answered",
    ),
    "partial": Scene(
        replies=["half" + signal("partial_answer", missing="who?", caveat="old")],
        stop="partial_answer",
    ),
    "delegation": Scene(
        replies=[
            "so far" + signal("delegation_recommended", reason="large", scope="src/api"),
            search(1),
            "rest",
        ],
        stop="answered",
    ),
    "a broad question": Scene(
        replies=["From the CLI to the database." + ENOUGH],
        query=BROAD,
        tools=PARTS,
        stop="answered",
    ),
    "cancelled among the parts": Scene(
        replies=["never asked"],
        query=BROAD,
        tools={**PARTS, "read_file": never},
        cancel_at=has_text("Reading"),
        stop="cancelled",
    ),
    "a part that lies between": Scene(
        replies=["From the CLI to the database." + ENOUGH],
        query=BROAD,
        tools=FLOW_PARTS,
        stop="answered",
    ),
    "a broad question in extracts": Scene(
        replies=[reader(extract_of, "From the CLI to the database." + ENOUGH)],
        repeats_last=True,
        query=BROAD,
        tools=LARGE_PARTS,
        stop="answered",
    ),
    "extracts of some parts": Scene(
        replies=[reader(most_extracts, "From the CLI to the database." + ENOUGH)],
        repeats_last=True,
        query=BROAD,
        tools=LARGE_PARTS,
        stop="answered",
    ),
    "a model that is down, asked about parts": Scene(
        replies=[Reply(raises=ModelError("down"))],
        repeats_last=True,
        query=BROAD,
        tools=LARGE_PARTS,
        stop="model_unavailable",
    ),
    "time among the extracts": Scene(
        replies=[reader(never_ends, "From what there is." + ENOUGH)],
        repeats_last=True,
        query=BROAD,
        tools=LARGE_PARTS,
        # Half of it is for reading the parts, and some are read on the busiest machine.
        limits=Limits(seconds=10.0),
        stop="answered",
    ),
    "cancelled among the extracts": Scene(
        replies=[reader(never_ends, "never asked")],
        repeats_last=True,
        query=BROAD,
        tools=LARGE_PARTS,
        cancel_at=has_text("Asking"),
        stop="cancelled",
    ),
    "malformed": Scene(replies=[search(1), "text" + BAD, "text2" + BAD], stop="answered"),
    "a text that nothing backs": Scene(replies=["text"] * 2, stop="partial_answer"),
    "the longest output": Scene(
        replies=[search(1), Reply(text="It is in au", ending="length"), "th.py:3" + ENOUGH],
        stop="answered",
    ),
    "a refusal": Scene(replies=[search(1), Reply(ending="refusal")], stop="refusal"),
    "a filter": Scene(
        replies=[search(1), Reply(text="It", ending="filter")], stop="content_filter"
    ),
    "silence": Scene(replies=["", "", ""], stop="stuck"),
    "the same call": Scene(replies=[*SAME, "end"], repeats_last=True, stop="stuck"),
    "the same reason": Scene(
        replies=[*["x" + signal("need_turn", reason="Same.")] * 3, search(1), "end"],
        query=LONG,
        stop="answered",
    ),
    "tools without a word": Scene(
        replies=[*(Reply(calls=search(i).calls) for i in range(7)), "end"],
        tools=NUMBERED,
        stop="answered",
    ),
    "thanks": Scene(
        replies=["You are welcome." + signal("context_sufficient", sources_found=0)],
        query="Thanks, that helps!",
        stop="answered",
    ),
    "not granted": Scene(
        replies=[Reply(calls=[("web_search", {"q": 1}), ("rm_rf", {})]), search(1), "ok"],
        stop="answered",
    ),
    "runaway": Scene(replies=[held("loop line\n" * 50), search(1), "ok"], stop="answered"),
    "time": Scene(
        replies=[held("started "), held("again ")], limits=Limits(seconds=0.8), stop="time_limit"
    ),
    "time for the last answer": Scene(
        replies=[held("started "), "The end."], limits=Limits(seconds=0.8), stop="time_limit"
    ),
    "time in a tool": Scene(
        replies=[TWO, held("It ")],
        tools={"search_code": one_never},
        limits=Limits(seconds=0.8),
        stop="time_limit",
    ),
    "one turn": Scene(replies=["direct"], limits=Limits(turns=1), stop="partial_answer"),
    "tokens": Scene(
        replies=[*searches(9), "end"],
        tools=NUMBERED,
        limits=Limits(tokens=40_000),
        stop="token_limit",
    ),
    "nothing found": Scene(
        replies=[*searches(5), "nothing there" + ENOUGH],
        repeats_last=True,
        tools={"search_code": "", "web_search": ""},
        stop="partial_answer",
    ),
    "two at once": Scene(
        replies=[TWO, "both"], tools={"search_code": slower_first}, stop="answered"
    ),
    "one call twice": Scene(
        replies=[TWICE, "both"], tools={"search_code": slower_first}, stop="answered"
    ),
    "reasoning, and odd letters": Scene(
        replies=[Reply(reasoning="hm \ud800", text="é\u202e\x00 \ud83d", piece=1)],
        query="Thanks \x00 \ud800!",
        stop="answered",
    ),
    "a large question": Scene(replies=["short"] * 2, query="why? " * 40_000, stop="partial_answer"),
}

_WAITS = ("time among the extracts",)
NAMES: Sequence[Any] = [
    pytest.param(name, marks=pytest.mark.extra) if name in _WAITS else name for name in SCENES
]
"""Of all scenes, for `parametrize`. Those that wait for seconds are `extra`."""

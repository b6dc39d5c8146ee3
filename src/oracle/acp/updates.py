"""Chunks of a run as an editor shows them: plan, thoughts, tool calls, and the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import quote

from acp.helpers import (
    plan_entry,
    start_tool_call,
    text_block,
    tool_content,
    update_agent_message_text,
    update_agent_thought_text,
    update_plan,
    update_tool_call,
)
from acp.schema import AgentPlanUpdate, ToolCallLocation, ToolKind

from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.models.tool_spec import Role, ToolSpec, role_by_name
from oracle.services.story.words import budget_words, call_words

Update: TypeAlias = Any
"""A session update of the protocol, in one of its forms."""

PIECE: Final = 400
""""Characters of an answer that are sent together. It is complete when the first one is sent,
because only then is it known to be the answer and not a draft.
"""
MOST_PLACES: Final = 50
"""Of one tool call. An editor may follow each of them."""
MOST_CITED: Final = 20
REMARK: Final = 200
"""Characters that a model may say before it calls a tool. More looks like an answer."""

KINDS: Final[Mapping[Role, ToolKind]] = {
    "search": "search",
    "read": "read",
    "uses": "search",
    "map": "search",
    "list": "search",
    "facts": "read",
    "members": "search",
    "write": "edit",
    "other": "other",
}

STEPS: Final = ("Understand the question", "Search and read", "Write the answer", "Check it")
Step = Literal[0, 1, 2, 3, 4]


def kind_of(name: str, specs: Mapping[str, ToolSpec]) -> ToolKind:
    spec = specs.get(name)
    if spec is None:
        return KINDS[role_by_name(name)]
    return "fetch" if spec.source == "web" else KINDS[spec.role or "other"]


class Updates:
    """Turns the chunks of one question into updates. `ids` number the calls of the session."""

    def __init__(self, root: Path, specs: Sequence[ToolSpec], ids: count[int]) -> None:
        self._root = root
        self._specs = {spec.name: spec for spec in specs}
        self._ids = ids
        self._calls: dict[str, str] = {}
        self._asked_about: dict[str, str] = {}
        self._draft = ""
        self._step: Step | None = None
        self._cited: Sequence[Mapping[str, Any]] = ()

    def of(self, chunk: OracleStreamChunk) -> Iterator[Update]:
        match chunk.type:
            case ChunkType.QUESTION:
                yield from self._plan(1)
            case ChunkType.CONTENT:
                self._draft += str(chunk["content"])
                if len(self._draft) > REMARK:
                    yield from self._plan(2)
            case ChunkType.REASONING:
                yield update_agent_thought_text(str(chunk["content"]))
            case ChunkType.TOOL_CALL:
                yield from self._plan(1)
                yield self._call(chunk)
            case ChunkType.TOOL_RESULT:
                yield self._result(chunk)
            case ChunkType.SYSTEM:
                yield _thought(str(chunk["content"]))
            case ChunkType.BUDGET:
                yield _thought(budget_words(chunk["budget"], chunk["used"], chunk["limit"]))
            case ChunkType.TURN_END:
                yield from self._end_of_turn(chunk["outcome"])
            case ChunkType.SOURCES:
                yield from self._plan(3)
                self._cited = [each for each in chunk["sources"] if each.get("cited")]
            case ChunkType.DONE:
                yield from self._plan(4)
                yield from self._answer(chunk)
            case _:
                pass

    def call_asked_about(self, name: str, arguments: object) -> str:
        """The id for a call that a person is asked to allow. It keeps it when it is run."""
        id_ = self._asked_about[call_words(name, arguments)] = self.new_id()
        return id_

    def new_id(self) -> str:
        return f"call-{next(self._ids)}"

    def kind(self, name: str) -> ToolKind:
        return kind_of(name, self._specs)

    def _call(self, chunk: OracleStreamChunk) -> Update:
        name, arguments = str(chunk["name"]), chunk["arguments"]
        title = call_words(name, arguments)
        id_ = self._calls[chunk["id"]] = self._asked_about.pop(title, None) or self.new_id()
        return start_tool_call(
            id_,
            title,
            kind=self.kind(name),
            status="in_progress",
            locations=self._place_in(arguments),
            raw_input=arguments,
        )

    def _result(self, chunk: OracleStreamChunk) -> Update:
        id_ = self._calls.pop(chunk["id"], None) or self.new_id()
        return update_tool_call(
            id_,
            status="completed" if chunk["success"] else "failed",
            content=[tool_content(text_block(str(chunk["content"])))],
            locations=self._places(chunk["sources"]) or None,
        )

    def _end_of_turn(self, outcome: str) -> Iterator[Update]:
        """A draft is progress. The answer comes with `done`, where its citations are checked."""
        draft, self._draft = self._draft.strip(), ""
        if draft and outcome != "answer":
            yield _thought(draft)

    def _answer(self, done: OracleStreamChunk) -> Iterator[Update]:
        answer = str(done["answer"])
        unsaid = [each for each in done["missing"] if each not in answer]
        if done["stop_reason"] != "answered" and unsaid:
            answer += f"\n\n*Not complete. Missing: {'; '.join(unsaid)}.*"
        if links := self._links():
            answer += f"\n\nSources: {links}"
        for at in range(0, len(answer), PIECE):
            yield update_agent_message_text(answer[at : at + PIECE])

    def _links(self) -> str:
        """What the answer cites, as links that an editor opens at the line."""
        links: dict[str, str] = {}
        for source in self._cited[:MOST_CITED]:
            where = str(source.get("where") or source.get("path") or source.get("url") or "")
            address = source.get("url") or self._address(source)
            if where and address:
                links[where] = f"[{where}]({address})"
        return ", ".join(links.values())

    def _address(self, source: Mapping[str, Any]) -> str:
        path = self._absolute(source.get("path"))
        if path is None:
            return ""
        first, last = source.get("start"), source.get("end")
        lines = f"#L{first}:{last or first}" if first else ""
        return f"file://{quote(path)}{lines}"

    def _places(self, sources: Sequence[Mapping[str, Any]]) -> list[ToolCallLocation]:
        found: dict[tuple[str, int | None], ToolCallLocation] = {}
        for source in sources:
            path = self._absolute(source.get("path"))
            if path is not None and len(found) < MOST_PLACES:
                line = source.get("start")
                found.setdefault((path, line), ToolCallLocation(path=path, line=line))
        return [*found.values()]

    def _place_in(self, arguments: Any) -> list[ToolCallLocation] | None:
        """Where a tool that takes a path is about to look."""
        if not isinstance(arguments, Mapping):
            return None
        path = self._absolute(arguments.get("path"))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        line = arguments.get("start")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if path is None:
            return None
        return [ToolCallLocation(path=path, line=line if isinstance(line, int) else None)]

    def _absolute(self, path: object) -> str | None:
        """None for a path that an editor could not open, such as a guess of the model."""
        if not isinstance(path, str) or not path or "\0" in path:
            return None
        place = self._root / path
        return str(place) if place.exists() else None

    def _plan(self, step: Step) -> Iterator[AgentPlanUpdate]:
        """The steps before `step` are done, and it is under way."""
        if step == self._step:
            return
        self._step = step
        yield update_plan(
            plan_entry(
                text,
                status="completed" if at < step else "in_progress" if at == step else "pending",
            )
            for at, text in enumerate(STEPS)
        )


def _thought(text: str) -> Update:
    """A line of its own: editors put thoughts that follow each other together."""
    return update_agent_thought_text(f"{text}\n\n")

"""The state of a run, read from its messages: the question, the calls and their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from oracle.lazy_dataclass import dataclass
from oracle.models.source import MoreUses, Source
from oracle.models.source_kind import SourceKind, kind_named
from oracle.models.tool_spec import Role, ToolSpec, role_by_name
from oracle.services.llm.protocol import CoverageReport, Message, ModelRequest, ToolCall
from oracle.services.quoting.quotation import Quotation, quotations_of
from oracle.services.signals.parser import strip_signal
from oracle.services.tools import offered


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A call and its result. `success` is None until there is a result; `was_run` is false if the
    tree did not run the call. `role` and `kind` are those of the tool.
    """

    name: str
    arguments: Mapping[str, object]
    role: Role
    kind: SourceKind
    content: str = ""
    success: bool | None = None
    was_run: bool = True
    sources: Sequence[Source] = ()
    more_uses: MoreUses | None = None
    is_extract: bool = False

    @property
    def quotations(self) -> list[Quotation]:
        """The quotations of its result; none for an extract, which has only single lines."""
        return [] if self.is_extract else quotations_of(self.sources)

    @property
    def extracted(self) -> list[Quotation]:
        return quotations_of(self.sources) if self.is_extract else []

    @property
    def summary(self) -> str:
        """The first line of the result."""
        return self.content.split("\n", 1)[0].strip()

    @property
    def searches_the_web(self) -> bool:
        return self.role == "search" and not self.kind.is_local


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """`had_attachment` means that files or texts were sent with the question, and not again."""

    question: str
    answer: str
    had_attachment: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Situation:
    """`attached` are files and diffs of the user. `turns` are this run's responses so far, each
    with its calls; the newest is last. `coverage` is the tree's report on the parts of a broad
    question; None if there is none. `lacks` is the kind of source that is needed and cannot be
    searched. `is_pipe_empty` says that the user meant to attach a text, but there was none.
    """

    question: str
    attachment: str
    history: Sequence[Exchange]
    turns: Sequence[Sequence[Call]]
    tools: Sequence[ToolSpec]
    coverage: CoverageReport | None = None
    lacks: str = ""
    attached: Sequence[Source] = ()
    is_pipe_empty: bool = False

    @property
    def attached_files(self) -> list[Quotation]:
        return quotations_of(source for source in self.attached if source["kind"] != "diff")

    @property
    def attached_texts(self) -> list[str]:
        """Text that is counted and not searched: piped input, and diffs."""
        diffs = (source["text"] for source in self.attached if source["kind"] == "diff")
        return [text for text in (self.attachment, *diffs) if text]

    @property
    def calls(self) -> list[Call]:
        return [call for turn in self.turns for call in turn]

    @property
    def failed(self) -> list[Call]:
        """Calls that failed. A call that the tree did not run has not failed."""
        return [call for call in self.calls if call.success is False and call.was_run]

    @property
    def earlier_answers(self) -> list[str]:
        return [exchange.answer for exchange in self.history]

    def calls_of(self, *roles: Role) -> list[Call]:
        return [call for call in self.calls if call.role in roles]

    def tool(self, role: Role, kind: str | None = None) -> ToolSpec | None:
        """The first tool on offer with this role; None if there is none."""
        found = offered.with_role(self.tools, role, kind)
        return found[0] if found else None

    def local_tools(self, *roles: Role) -> list[ToolSpec]:
        """The tools on offer with these roles that look into the project itself."""
        return [tool for role in roles for tool in offered.local(self.tools, role)]


def read_situation(request: ModelRequest) -> Situation:
    """The last message of the user is the question. Before it is history, after it the run."""
    messages = request.messages
    place = max((n for n, message in enumerate(messages) if message["role"] == "user"), default=-1)
    asked: Message = messages[place] if place >= 0 else {"role": "user", "content": ""}
    run = messages[place + 1 :]
    return Situation(
        question=asked.get("question", asked["content"]).strip(),
        attachment=asked.get("attachment", ""),
        attached=asked.get("sources", ()),
        history=_exchanges(messages[: max(place, 0)]),
        turns=_turns(run, {tool.name: tool for tool in request.tools}),
        tools=request.tools,
        coverage=next((m["coverage"] for m in run if "coverage" in m), None),
        lacks=next((m["lacks"] for m in run if "lacks" in m), ""),
        is_pipe_empty=asked.get("is_pipe_empty", False),
    )


def _exchanges(messages: Sequence[Message]) -> list[Exchange]:
    pairs = pairwise(messages)
    return [
        Exchange(
            question=one.get("question", one["content"]),
            answer=strip_signal(other["content"]).strip(),
            # Otherwise the content is the question: there is no note about what was sent with it.
            had_attachment="question" in one,
        )
        for one, other in pairs
        if one["role"] == "user" and other["role"] == "assistant"
    ]


def _turns(messages: Iterable[Message], tools: Mapping[str, ToolSpec]) -> list[list[Call]]:
    turns: list[list[Call]] = []
    places: dict[str, tuple[int, int]] = {}
    for message in messages:
        if message["role"] == "assistant":
            made = message.get("tool_calls", [])
            places |= {call["id"]: (len(turns), number) for number, call in enumerate(made)}
            turns.append([_call(call, tools.get(call["name"])) for call in made])
        elif message["role"] == "tool" and (place := places.get(message.get("call_id", ""))):
            turn, number = place
            turns[turn][number] = _with_result(turns[turn][number], message)
    return turns


def _call(call: ToolCall, spec: ToolSpec | None) -> Call:
    """The role of a tool that is not on offer any more is guessed; its result may correct it."""
    arguments = call["arguments"]
    return Call(
        name=call["name"],
        arguments=arguments if isinstance(arguments, dict) else {},
        role=(spec and spec.role) or role_by_name(call["name"]),
        kind=kind_named(spec.source if spec else None),
    )


def _with_result(call: Call, message: Message) -> Call:
    return replace(
        call,
        role=message.get("tool_role", call.role),
        kind=kind_named(message["tool_kind"]) if "tool_kind" in message else call.kind,
        content=message["content"],
        success=message.get("success", True),
        was_run=message.get("was_run", True),
        sources=message.get("sources", ()),
        more_uses=message.get("more_uses"),
        is_extract=message.get("is_extract", False),
    )

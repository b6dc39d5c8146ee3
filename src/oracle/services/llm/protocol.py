"""What a language model is to us: messages and tools in; text, reasoning, calls and usage out.

Both sides are JSON-shaped, so that a journal can hold them and a replay can give them back.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, Protocol, Self, TypedDict

from oracle.models.source import MoreUses, Source
from oracle.models.tool_spec import Role as ToolRole
from oracle.models.tool_spec import ToolSpec

Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(TypedDict):
    """`arguments` is the object that the model wrote; where it wrote no object, it is the text."""

    id: str
    name: str
    arguments: dict[str, object] | str


class FileUse(TypedDict):
    """One file uses another, as the `names` show."""

    user: str
    used: str
    names: list[str]


class CoverageReport(TypedDict):
    """What became of the parts of a broad question: those with `nothing` about it, those that were
    `left_out` and how many more there are, and which file uses which.
    """

    nothing: list[str]
    left_out: list[str]
    more_left_out: int
    uses: list[FileUse]


class Message(TypedDict):
    """One message. The first of a conversation is the composed prompt, with the role `system`.

    A later `system` message comes from the tree in mid-run; a provider that has only one system
    prompt gets it as a tagged user message. `tool_calls` belong to the assistant, `call_id`, `name`
    and `success` to a tool's answer.

    The other keys say in data what the content says in words. They are not sent to providers and
    not counted as tokens; `embedded` reads them. `sources` are the quotations in the content, of a
    tool's answer or of a part to extract from. `tool_role` and `tool_kind` describe the tool, and
    `was_run` is false where the tree did not run the call; the sources of an answer that
    `is_extract` are only the best lines of what was read. `question` is the user's question where
    the content says more, and `attachment` is what was attached to it. `coverage` belongs to the
    tree's message about the parts of a broad question.
    """

    role: Role
    content: str
    tool_calls: NotRequired[list[ToolCall]]
    call_id: NotRequired[str]
    name: NotRequired[str]
    success: NotRequired[bool]
    sources: NotRequired[list[Source]]
    more_uses: NotRequired[MoreUses]
    tool_role: NotRequired[ToolRole]
    tool_kind: NotRequired[str | None]
    was_run: NotRequired[bool]
    is_extract: NotRequired[bool]
    question: NotRequired[str]
    attachment: NotRequired[str]
    coverage: NotRequired[CoverageReport]


class Usage(TypedDict):
    """What a request used. Input that a provider served from its cache counts as input."""

    input_tokens: int
    output_tokens: int


class Part(TypedDict, total=False):
    """A piece of a response; exactly one of these. A call comes whole, usage comes last."""

    text: str
    reasoning: str
    tool_call: ToolCall
    usage: Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRequest:
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    longest_output: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """Money for a million tokens.

    Some rise with the input: then a request beyond `above` tokens costs `then` as a whole.
    """

    input: float
    output: float
    above: int | None = None
    then: Prices | None = None

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Of one request; of the sum of several it would be another."""
        if self.above is not None and self.then is not None and input_tokens > self.above:
            return self.then.cost(input_tokens, output_tokens)
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Back from `dataclasses.asdict`, the form on a blackboard."""
        known: dict[str, Any] = dict(data)
        if known.get("then") is not None:
            known["then"] = cls.from_dict(known["then"])
        return cls(**known)


class Model(Protocol):
    """`prices` is None where they are unknown; then no money budget can be kept."""

    @property
    def name(self) -> str: ...
    @property
    def context_window(self) -> int: ...
    @property
    def longest_output(self) -> int: ...
    @property
    def prices(self) -> Prices | None: ...

    def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Answer in parts. What goes wrong is raised as a `ModelError`; closing the iterator closes
        the connection.
        """
        ...

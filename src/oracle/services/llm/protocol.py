"""The protocol of a language model: messages and tools in; text, reasoning, calls and usage out.

Both sides are plain JSON data, so that the journal can store them and a replay can return them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Literal, NotRequired, Protocol, Self, TypedDict

from oracle.lazy_dataclass import dataclass
from oracle.models.source import MoreUses, Source
from oracle.models.tool_spec import Role as ToolRole
from oracle.models.tool_spec import ToolSpec
from oracle.services.llm.endings import Ending

Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(TypedDict):
    """`arguments` is the object that the model wrote, or its text if that is not an object."""

    id: str
    name: str
    arguments: dict[str, object] | str


class FileUse(TypedDict):
    """The file `user` uses the `names` that the file `used` defines."""

    user: str
    used: str
    names: list[str]


class CoverageReport(TypedDict):
    """The result for the parts of a broad question: parts with `nothing` about it, parts that were
    `left_out` and how many more, and which file uses which.
    """

    nothing: list[str]
    left_out: list[str]
    more_left_out: int
    uses: list[FileUse]


class Message(TypedDict):
    """One message. The first of a conversation is the composed prompt, with the role `system`.

    A later `system` message comes from the tree during the run. A provider with only one system
    prompt gets it as a tagged user message. `tool_calls` belong to the assistant; `call_id`, `name`
    and `success` belong to a tool result.

    The other keys hold the content as structured data. They are not sent to providers and not
    counted as tokens; the `embedded` model reads them.

    - `sources`: the quotations in the content.
    - `tool_role`, `tool_kind`: describe the tool.
    - `was_run`: false if the tree did not run the call. `empty`: it found nothing.
    - `turn`: the turn in which a result arrived; the request of the next turn carries it first.
    - `is_extract`: the sources are only the best lines of what was read.
    - `question`, `attachment`: the user's question and its attachment, if the content says more.
    - `is_pipe_empty`: the user meant to attach a text, but there was none.
    - `is_facts`: the facts about the project, which we wrote and not the user.
    - `coverage`: in the tree's message about the parts of a broad question.
    - `lacks`: in the tree's message that a kind of source is needed and no tool searches it.
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
    empty: NotRequired[bool]
    turn: NotRequired[int]
    is_extract: NotRequired[bool]
    question: NotRequired[str]
    attachment: NotRequired[str]
    is_pipe_empty: NotRequired[bool]
    is_facts: NotRequired[bool]
    coverage: NotRequired[CoverageReport]
    lacks: NotRequired[str]


class Usage(TypedDict):
    """The tokens of a request. Input from the provider's cache counts as input."""

    input_tokens: int
    output_tokens: int


class Part(TypedDict, total=False):
    """A piece of a response, with exactly one key. A call is always complete.

    `ending` and `usage` come last. A response without an `ending` is whole.
    """

    text: str
    reasoning: str
    tool_call: ToolCall
    usage: Usage
    ending: Ending


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRequest:
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    longest_output: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """Money for a million tokens.

    Some providers charge more for long input: a request with more than `above` input tokens has
    the prices `then`, for all of its tokens.
    """

    input: float
    output: float
    above: int | None = None
    then: Prices | None = None

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """The cost of one request. For the sum of several requests it would be wrong."""
        if self.above is not None and self.then is not None and input_tokens > self.above:
            return self.then.cost(input_tokens, output_tokens)
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the form of `dataclasses.asdict`, which the blackboard holds."""
        known: dict[str, Any] = dict(data)
        if known.get("then") is not None:
            known["then"] = cls.from_dict(known["then"])
        return cls(**known)


class Model(Protocol):
    """`prices` is None if they are unknown; then there is no money budget."""

    @property
    def name(self) -> str: ...
    @property
    def context_window(self) -> int: ...
    @property
    def longest_output(self) -> int: ...
    @property
    def prices(self) -> Prices | None: ...

    def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Stream the response in parts. Raises `ModelError`. Closing the iterator closes the
        connection.
        """
        ...

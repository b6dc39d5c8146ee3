"""What a set of tools is to the loop. A result is a value, also where a tool failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, Protocol, TypedDict

from oracle.models.tool_spec import ToolSpec

SourceKind = Literal["code", "vault", "threads", "web"]


class Source(TypedDict):
    """A place that a result quotes. `where` names it as an answer would cite it.

    A file has `path`, `start` and `end` (lines, from 1); a note has its `title` besides; an entry
    of a thread has `entry`, its time; a page has its `url`. `digest` is of the content that was
    read. `score` says how well it matches, from 0 to 1.
    """

    kind: SourceKind
    where: str
    text: str
    path: NotRequired[str]
    start: NotRequired[int]
    end: NotRequired[int]
    title: NotRequired[str]
    entry: NotRequired[str]
    url: NotRequired[str]
    digest: NotRequired[str]
    score: NotRequired[float]


class ToolResult(TypedDict):
    """`content` is what the model reads: the result, or what went wrong and what to do instead.

    A search that found nothing succeeded, and is `empty`.
    """

    success: bool
    content: str
    sources: list[Source]
    empty: NotRequired[bool]


class Tools(Protocol):
    @property
    def specs(self) -> Sequence[ToolSpec]: ...

    async def run(self, name: str, arguments: Mapping[str, object] | str) -> ToolResult:
        """Run one tool. Whatever goes wrong, wrong arguments included, is a result too."""
        ...

    async def was_done(self, name: str, arguments: Mapping[str, object] | str) -> ToolResult | None:
        """After a crash in the middle of a write: its result if it was done, None if it was not."""
        ...

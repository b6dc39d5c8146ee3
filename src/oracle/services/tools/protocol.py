"""The tools as the loop sees them. A failure is a result too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, Protocol, TypedDict, runtime_checkable

from oracle.models.query_classification import QueryType
from oracle.models.source import MoreUses, Source
from oracle.models.tool_spec import ToolSpec
from oracle.services.tools.tickets import Mark


class ToolResult(TypedDict):
    """`content` is what the model reads: the result, or what went wrong and what to do instead. Its
    first line is a summary. `sources` are its quotations as data; no code parses the content.

    A search that found nothing is a success and `empty`. `more_uses` is set if a list of uses does
    not show all of them. With `plan`, nothing was done: it was a dry run. With `is_unknown`, nobody
    knows whether a write was done.
    """

    success: bool
    content: str
    sources: list[Source]
    empty: NotRequired[bool]
    more_uses: NotRequired[MoreUses]
    plan: NotRequired[bool]
    is_unknown: NotRequired[bool]


class Tools(Protocol):
    @property
    def specs(self) -> Sequence[ToolSpec]: ...

    async def run(self, name: str, arguments: Mapping[str, object] | str) -> ToolResult:
        """Run one tool. Failures and wrong arguments are results too."""
        ...

    async def was_done(self, name: str, arguments: Mapping[str, object] | str) -> ToolResult | None:
        """After a crash during a write: its result if it was done, None if certainly nothing was.

        Tools that cannot know raise `InterruptedWrite`. Then nothing is written, and the model and
        the user are asked to look.
        """
        ...


@runtime_checkable
class PreparedTools(Tools, Protocol):
    """Tools that may have to be asked for, before a question is answered."""

    @property
    def needs_preparation(self) -> bool: ...

    async def prepare(self, query_type: QueryType) -> None:
        """Ask for those that a question of this type could use, within a bound of time."""
        ...


@runtime_checkable
class MarkingTools(Tools, Protocol):
    """Tools that can tell their own writes from any other, by a mark."""

    async def mark(self, name: str, arguments: Mapping[str, object] | str) -> Mark | None:
        """Called before a write is recorded as intended. The mark is recorded with it."""
        ...

    async def run(
        self, name: str, arguments: Mapping[str, object] | str, mark: Mark | None = None
    ) -> ToolResult: ...

    async def was_done(
        self, name: str, arguments: Mapping[str, object] | str, mark: Mark | None = None
    ) -> ToolResult | None: ...

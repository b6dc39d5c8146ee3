"""What a set of tools is to the loop. A result is a value, also where a tool failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, Protocol, TypedDict

from oracle.models.source import MoreUses, Source
from oracle.models.tool_spec import ToolSpec


class ToolResult(TypedDict):
    """`content` is what the model reads: the result, or what went wrong and what to do instead. Its
    first line sums it up. `sources` are its quotations as data: nothing reads the content back.

    A search that found nothing succeeded, and is `empty`. `more_uses` is there where a list of uses
    ends before the uses do.
    """

    success: bool
    content: str
    sources: list[Source]
    empty: NotRequired[bool]
    more_uses: NotRequired[MoreUses]


class Tools(Protocol):
    @property
    def specs(self) -> Sequence[ToolSpec]: ...

    async def run(self, name: str, arguments: Mapping[str, object] | str) -> ToolResult:
        """Run one tool. Whatever goes wrong, wrong arguments included, is a result too."""
        ...

    async def was_done(self, name: str, arguments: Mapping[str, object] | str) -> ToolResult | None:
        """After a crash in the middle of a write: its result if it was done, None if it was not."""
        ...

"""The tools as the loop sees them. A failure is a result too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, Protocol, TypedDict

from oracle.models.source import MoreUses, Source
from oracle.models.tool_spec import ToolSpec


class ToolResult(TypedDict):
    """`content` is what the model reads: the result, or what went wrong and what to do instead. Its
    first line is a summary. `sources` are its quotations as data; no code parses the content.

    A search that found nothing is a success and `empty`. `more_uses` is set if a list of uses does
    not show all of them.
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
        """Run one tool. Failures and wrong arguments are results too."""
        ...

    async def was_done(self, name: str, arguments: Mapping[str, object] | str) -> ToolResult | None:
        """After a crash during a write: its result if it was done, None if it was not."""
        ...

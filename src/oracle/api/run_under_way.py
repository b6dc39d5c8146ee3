"""What a door needs of a run that it has asked for, wherever the run is worked on."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from oracle.api.live_run import Numbered
from oracle.models.stream_chunk import OracleStreamChunk


class RunUnderWay(Protocol):
    chunks: list[OracleStreamChunk]
    """What was heard so far; all of it after `end`."""

    run_id: str
    """Known from the first moment on."""

    @property
    def id(self) -> str:
        """Empty until the run has begun."""
        ...

    ahead: int
    """How many begin before it in this process; 0 if it need not wait here."""

    @property
    def has_ended(self) -> bool: ...

    async def begun(self) -> str:
        """Returns the id of the run, or raises why it has none."""
        ...

    async def stored(self) -> bool:
        """Of one that waits: whether it is on disk, so that another process could begin it."""
        ...

    def follow(self, after: int = -1, *, beat: float | None = None) -> AsyncGenerator[Numbered]:
        """What it says after that chunk; with a `beat`, `NOTHING_YET` after so many seconds."""
        ...

    async def end(self) -> OracleStreamChunk:
        """Wait for the last chunk, which has the answer."""
        ...

    def cancel(self, reason: str) -> None: ...

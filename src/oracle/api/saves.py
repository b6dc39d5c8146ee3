"""Saves what the runs of this process have said, for all of them together.

A listener hears nothing that is not on disk. With hundreds of runs, a wait for the disk for each of
them costs more than all that is sent. So there is one for all that were said in the same moment.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from oracle.errors import OracleError

SECONDS_BETWEEN_SAVES: Final = 0.05
MOST_SECONDS_BETWEEN_SAVES: Final = 0.1
SECONDS_FOR_A_RUN: Final = 0.001
"""How long what a run says is collected before it is saved and shown. The more runs there are, the
longer it is, up to the most: what is saved together costs little.
"""


class Saved(Protocol):
    def write(self) -> int:
        """Hand the records of all that was said to the disk. Returns how many chunks that were."""
        ...

    def are_safe(self, said: int) -> None:
        """So many chunks are on disk, unless the record of this run has failed."""
        ...


class Saves:
    """`committed` returns when all that was written before it is on disk."""

    def __init__(
        self, committed: Callable[[], Awaitable[None]], *, pause: float = SECONDS_BETWEEN_SAVES
    ) -> None:
        self._committed = committed
        self._pause = pause
        # In the order in which they spoke.
        self._due: dict[Saved, None] = {}
        self._saving: asyncio.Task[None] | None = None

    def soon(self, run: Saved) -> None:
        """Save what the run has said: at once, or when the others are saved again."""
        self._due[run] = None
        if self._saving is None:
            self._saving = asyncio.create_task(self._save())

    async def _save(self) -> None:
        try:
            while self._due:
                due, self._due = self._due, {}
                said = [run.write() for run in due]
                # Without a commit nobody knows what is on disk. A journal that fails ends its run.
                with contextlib.suppress(OracleError):
                    await self._committed()
                    for run, count in zip(due, said, strict=True):
                        run.are_safe(count)
                more = min(MOST_SECONDS_BETWEEN_SAVES - self._pause, SECONDS_FOR_A_RUN * len(due))
                await asyncio.sleep(self._pause and self._pause + more)
        finally:
            self._saving = None

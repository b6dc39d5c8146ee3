"""The chunks that a run has said and its listener has not taken yet."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from oracle.models.stream_chunk import OracleStreamChunk

Hear: TypeAlias = Callable[[OracleStreamChunk | None], None]


class Chunks:
    """From the run to its listener, without a limit: a slow listener must not stop the tree.

    `asyncio.Queue` does the same for ten times the calls, and a run says a dozen chunks a turn.
    """

    __slots__ = ("_arrival", "_hearing", "_waiting")

    def __init__(self) -> None:
        self._hearing: tuple[Hear, ...] = ()
        self._waiting: deque[OracleStreamChunk | None] = deque()
        self._arrival: asyncio.Future[None] | None = None

    def put(self, chunk: OracleStreamChunk | None) -> None:
        """None means that no chunk follows."""
        self._waiting.append(chunk)
        for hear in self._hearing:
            hear(chunk)
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)

    def overheard_by(self, hear: Hear) -> None:
        """Call it with each further chunk at the moment it is said, before its listener has it."""
        self._hearing = (*self._hearing, hear)

    def waiting(self) -> list[OracleStreamChunk]:
        """What was said and is not taken yet."""
        return [chunk for chunk in self._waiting if chunk is not None]

    async def get(self) -> OracleStreamChunk | None:
        while not self._waiting:
            self._arrival = asyncio.get_running_loop().create_future()
            await self._arrival
        return self._waiting.popleft()

"""The chunks that a run has said and its listener has not taken yet."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from oracle.models.stream_chunk import OracleStreamChunk


class Chunks:
    """From the run to its listener, without a limit: a slow listener must not stop the tree.

    `asyncio.Queue` does the same for ten times the calls, and a run says a dozen chunks a turn.
    """

    __slots__ = ("_arrival", "_take", "_waiting", "is_cut")

    def __init__(self) -> None:
        self._waiting: deque[OracleStreamChunk | None] = deque()
        self._arrival: asyncio.Future[None] | None = None
        self._take: Callable[[OracleStreamChunk], None] | None = None
        self.is_cut = False

    def hand_to(self, take: Callable[[OracleStreamChunk], None]) -> None:
        """From now on `take` gets each chunk as it is said, without a round of the event loop."""
        self._take = take

    def cut(self) -> None:
        """The run is given up here, and its leaves are cut off. What they say then is on no record,
        so nobody hears it: a process that goes on with the run says something else in its place.
        """
        self.is_cut = True

    def hear(self, chunk: OracleStreamChunk) -> None:
        """From a leaf."""
        if not self.is_cut:
            self.put(chunk)

    def put(self, chunk: OracleStreamChunk | None) -> None:
        """None means that no chunk follows."""
        if self._take is not None and chunk is not None:
            self._take(chunk)
            return
        self._waiting.append(chunk)
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)

    async def get(self) -> OracleStreamChunk | None:
        while not self._waiting:
            self._arrival = asyncio.get_running_loop().create_future()
            await self._arrival
        return self._waiting.popleft()

"""One run under way, and those who listen to it.

A run does not belong to the request that began it. It goes on when its listener leaves, any number
of listeners can follow it, and each reads at its own pace from the same list of chunks: a slow one
costs nothing. The number of a chunk is its place in the run. A chunk is handed over when its record
is on disk: even if this process is killed, no listener has heard anything that the record does not
say.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Final, TypeAlias

from oracle.api.live_mind import LiveMind
from oracle.api.saves import Saves
from oracle.api.starts import Place, Starts
from oracle.bt.wrappers.mind.breaks import Breaks
from oracle.bt.wrappers.run import Run
from oracle.errors import OracleError, RunHandedOver, SpendLimitReached
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk

Numbered: TypeAlias = Sequence[tuple[int, OracleStreamChunk]]
"""Chunks with their numbers, or `UNNUMBERED`. Without any it is the last one of a run that was
interrupted.
"""

NOTHING_YET: Final[Numbered] = ()
"""Handed over, by identity, when nothing was said for a while."""

UNNUMBERED: Final = -1
"""The number of what is not on record: why a run broke off. Another process may go on with the run,
and then says something else in its place.
"""

MOST_AT_ONCE: Final = 64
"""Chunks that are handed over together. More would hold up those who wait for their turn."""


class NotBegun(OracleError):  # noqa: N818 - the name is a sentence
    """Why a run has no id. `kind` is the name of the error's class, since a chunk is data."""

    def __init__(self, kind: str | None, message: str) -> None:
        super().__init__(message)
        self.kind = kind or type(self).__name__


class LiveRun:
    """A run under way, with the chunks that it has said so far.

    It begins when it is the turn of its `place` in the line. It has the id `run_id` from the first
    moment on.
    """

    def __init__(
        self,
        run: Run,
        user: str,
        saves: Saves,
        *,
        place: Place | None = None,
        run_id: str = "",
    ) -> None:
        self.user = user
        self.run_id = run_id
        self.place = place or Starts().place()
        self.ahead = self.place.ahead
        self.chunks: list[OracleStreamChunk] = []
        self.has_ended = False
        self.mind: LiveMind | None = None
        self.breaks: Breaks | None = None
        self._run = run
        self._saves = saves
        self._safe = 0
        self._on_record = 0
        self._listeners: set[asyncio.Future[bool]] = set()
        self._begun = asyncio.Event()
        self.task = asyncio.create_task(self._listen())

    @property
    def id(self) -> str:
        """Empty until the run has begun, and for one that could not be begun."""
        return "" if self._run.tree is None else self._run.tree.id

    @property
    def owner(self) -> str | None:
        """The owner of its lease; None until it has one."""
        lease = None if self._run.tree is None else self._run.tree.lease
        return None if lease is None else lease.owner

    async def begun(self) -> str:
        """Wait for its first chunk. Returns the id of the run, or raises why it has none."""
        await self._begun.wait()
        if not self.id:
            done = await self.end()
            if isinstance(self._run.problem, SpendLimitReached):
                raise self._run.problem
            raise NotBegun(done["error_kind"], done["detail"])
        return self.id

    async def follow(
        self, after: int = -1, *, beat: float | None = None
    ) -> AsyncGenerator[Numbered]:
        """What it says after that chunk, with the numbers of the chunks. What has arrived together
        is handed over together; with a `beat`, `NOTHING_YET` after so many seconds of silence.
        """
        at = after + 1
        while True:
            while at < self._safe:
                some = range(at, min(self._safe, at + MOST_AT_ONCE))
                yield [(self._number(each), self.chunks[each]) for each in some]
                at += len(some)
            if self.has_ended:
                if not self._is_whole:
                    yield []
                return
            if not await self._has_news(beat):
                yield NOTHING_YET

    def _number(self, place: int) -> int:
        return place if place < self._on_record else UNNUMBERED

    async def _has_news(self, within: float | None) -> bool:
        """Wait for the next chunk, or so long. A future and a timer: `asyncio.wait_for` would make
        a task of each wait, and there is one for each chunk of each listener.
        """
        loop = asyncio.get_running_loop()
        news: asyncio.Future[bool] = loop.create_future()
        timer = None if within is None else loop.call_later(within, _resolve, news, False)
        self._listeners.add(news)
        self._save_soon()
        try:
            return await news
        finally:
            self._listeners.discard(news)
            if timer is not None:
                timer.cancel()

    async def end(self) -> OracleStreamChunk:
        """Wait for the last chunk, which has the answer."""
        await asyncio.shield(self.task)
        if not self._is_whole:
            raise RunHandedOver(
                f"the server stops; the next one goes on with run {self.id}, and "
                f"GET /api/runs/{self.id}/stream has its answer then"
            )
        return self.chunks[-1]

    @property
    def _is_whole(self) -> bool:
        return bool(self.chunks) and self.chunks[-1].type == ChunkType.DONE

    def cancel(self, reason: str) -> None:
        self._run.cancel(reason)

    def raise_limits(self, wanted: Mapping[str, float]) -> None:
        self._run.raise_limits(wanted)

    def watched(self) -> LiveMind:
        """Watch its tree from now on, for all who ask. Until the first call nothing is spent on it.

        Only for a run that has begun.
        """
        if self.mind is None:
            assert self._run.tree is not None
            self.mind = mind = LiveMind(self._run.tree)
            mind.begin(self.chunks)
            self.task.add_done_callback(lambda _: mind.close())
        return self.mind

    def breakable(self) -> Breaks:
        """Its breaks. From the first call on it is watched, and can be held."""
        if self.breaks is None:
            assert self._run.tree is not None
            mind = self.watched()
            self.breaks = Breaks(
                self._run.tree, lambda type_, data: mind.watcher.put(type_, **data)
            )
        return self.breaks

    async def hand_over(self, *, parked_for: float | None = None) -> None:
        """Stop without an end, so that another process can resume it (`Run.hand_over`)."""
        self._run.hand_over(parked_for=parked_for)
        if not self._begun.is_set():
            self.place.leave()
        await asyncio.wait({self.task})

    async def _listen(self) -> None:
        try:
            if await self.place.turn():
                self._run.said.hand_to(self._take)
                async for _ in self._run.chunks():
                    pass
        finally:
            self.place.leave()
            self._end()
            self._begun.set()
            self._wake()

    def _end(self) -> None:
        if self._is_whole:
            self._safe = len(self.chunks)
            # Its end is on disk, and all before it, unless it has broken.
            if self._run.problem is None:
                self._on_record = self._safe
        self.has_ended = True

    def _take(self, chunk: OracleStreamChunk) -> None:
        self.chunks.append(chunk)
        if self.mind is not None:
            self.mind.watcher.hear(chunk)
        if len(self.chunks) == 1:
            self._begun.set()
            self.place.leave()
        self._save_soon()

    def _save_soon(self) -> None:
        """Only while somebody listens. Otherwise the journal saves in its own time."""
        if self._listeners and self._safe < len(self.chunks):
            self._saves.soon(self)

    def write(self) -> int:
        if self._run.tree is not None:
            # A journal that fails ends its run, or lets it go on in memory.
            with contextlib.suppress(OracleError):
                self._run.tree.journal.write()
        return len(self.chunks)

    def are_safe(self, said: int) -> None:
        if self.has_ended:
            return
        if self._run.problem is None:
            if not self._has_record():
                # It ends in a moment, and then says why.
                return
            self._on_record = max(self._on_record, said)
        self._safe = max(self._safe, said)
        self._wake()

    def _has_record(self) -> bool:
        try:
            if self._run.tree is not None:
                self._run.tree.check_record()
        except OracleError:
            return False
        return True

    def _wake(self) -> None:
        for news in self._listeners:
            _resolve(news, True)


def _resolve(news: asyncio.Future[bool], value: bool) -> None:
    if not news.done():
        news.set_result(value)

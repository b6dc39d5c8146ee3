"""What is seen of a run under way, for all who watch it.

It is watched from the first request on. What happened before that comes from the record, up to the
tick and the chunk at which the watching began; so nothing is missing and nothing comes twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Final, TypeAlias

from oracle.bt.wrappers.mind.frame import Frame
from oracle.bt.wrappers.mind.recorded import Seen, Until
from oracle.bt.wrappers.mind.watcher import MindWatcher, makes_frames
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.models.stream_chunk import OracleStreamChunk

MOST_AT_ONCE: Final = 256
"""Frames that are encoded together. More would hold up other requests."""

Frames: TypeAlias = Sequence[tuple[int, Frame]]
"""Frames with their numbers. Without any it is the last batch of a run that was interrupted."""


class LiveMind:
    """`frames` are complete from `recall` on. Before that nobody reads them."""

    def __init__(self, tree: RecordedTree) -> None:
        self.frames: list[Frame] = []
        self.watcher = MindWatcher(tree, self._put)
        self.until = Until(ticks=0, chunks=0)
        self.recalling: asyncio.Task[None] | None = None
        self._tree = tree
        self._has_past = False
        self._has_ended = False
        self._statuses: list[Frame] = []
        self._news = asyncio.Event()

    def begin(self, said: Sequence[OracleStreamChunk]) -> None:
        """Watch from now on, between two ticks. `said` is what the run has said so far."""
        run = self._tree.tree_run
        self.until = Until(ticks=run.context.ticks, chunks=sum(map(makes_frames, said)))
        now = {**self.watcher.now(), "tick": run.context.ticks}
        self._statuses = [
            Frame("node", {**now, "path": node.path, "status": status.value})
            for node, status in zip(run.definition.nodes, run.statuses, strict=True)
            if status is not None
        ]
        self.watcher.begin()

    async def flush(self) -> None:
        """See to it that what has happened is on record."""
        await self._tree.journal.flush()

    def recall(self, seen: Seen | None) -> None:
        """Put what happened before in front. Without it, at least how each node stands."""
        later, self.frames = self.frames, []
        if seen is None:
            self.watcher.say_tree()
        else:
            self.frames += seen.frames
            self.watcher.go_on_from(seen.watcher)
        # A record may lack the last moments, if the disk is slow.
        said = {f.data["path"]: f.data["status"] for f in self.frames if f.type == "node"}
        self.frames += [f for f in self._statuses if said.get(f.data["path"]) != f.data["status"]]
        self.frames += later
        self._has_past = seen is not None
        self._wake()

    @property
    def is_whole(self) -> bool:
        """Whether it has all of the run, from its first tick to its end."""
        return self._has_past and bool(self.frames) and self.frames[-1].type == "end"

    async def follow(self, after: int = -1) -> AsyncGenerator[Frames]:
        """What follows the frame with this number, as it comes."""
        at = after + 1
        while True:
            while at < len(self.frames):
                some = self.frames[at : at + MOST_AT_ONCE]
                yield [*enumerate(some, start=at)]
                at += len(some)
            if self._has_ended:
                if not self.frames or self.frames[-1].type != "end":
                    yield []
                return
            news = self._news
            await news.wait()

    def close(self) -> None:
        """Nothing more follows."""
        self._has_ended = True
        self._wake()

    def _put(self, frame: Frame) -> None:
        self.frames.append(frame)
        self._wake()

    def _wake(self) -> None:
        """One event for all who wait; the next round gets a fresh one."""
        news, self._news = self._news, asyncio.Event()
        news.set()

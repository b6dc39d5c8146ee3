"""The frames of a recorded run: its journal is replayed under the eyes of a watcher."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from oracle.bt.core.leaves import LEAVES, LeafRegistry
from oracle.bt.wrappers.mind.frame import Frame
from oracle.bt.wrappers.mind.shape import hash_of
from oracle.bt.wrappers.mind.watcher import MindWatcher
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.bt.wrappers.retelling import retell
from oracle.models.session import StoredRun
from oracle.models.stream_chunk import OracleStreamChunk
from oracle.services.background import in_thread
from oracle.services.journal import Record

Recorded = tuple[Sequence[Record], Mapping[str, str]]


async def recorded_mind(
    record: Recorded,
    run: StoredRun,
    *,
    current: Mapping[str, str],
    leaves: LeafRegistry = LEAVES,
) -> list[Frame]:
    """`current` are the tree files that the next run would have.

    A replay only computes, so it has a thread and an event loop of its own: others are not kept
    waiting. A run without an end is shown as far as it came.
    """
    has_end = bool(record[0]) and record[0][-1].kind == "end"
    frames: list[Frame] = []
    watchers: list[MindWatcher] = []

    def look(tree: RecordedTree) -> None:
        is_current = hash_of(tree.recipe.sources) == hash_of(current)
        is_over = lambda: tree.journal.diverged is not None  # noqa: E731
        watcher = MindWatcher(tree, frames.append, is_current=is_current, is_over=is_over)
        watcher.begin()
        watchers.append(watcher)

    def listen(chunk: OracleStreamChunk) -> None:
        for watcher in watchers:
            watcher.hear(chunk)

    def replay() -> None:
        asyncio.run(retell(record, run, listen, has_end=has_end, look=look, leaves=leaves))

    await in_thread(replay)
    return frames

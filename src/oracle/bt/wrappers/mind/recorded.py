"""The frames of a recorded run: its journal is replayed under the eyes of a watcher."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from oracle.bt.core.leaves import LEAVES, LeafRegistry
from oracle.bt.wrappers.mind.frame import Frame
from oracle.bt.wrappers.mind.shape import hash_of
from oracle.bt.wrappers.mind.watcher import MindWatcher, makes_frames
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.bt.wrappers.retelling import retell
from oracle.lazy_dataclass import dataclass
from oracle.models.session import StoredRun
from oracle.models.stream_chunk import OracleStreamChunk
from oracle.services.background import in_thread
from oracle.services.journal import Record

Recorded = tuple[Sequence[Record], Mapping[str, str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Until:
    """A moment of a run: so many ticks were done, and so many chunks said that make frames."""

    ticks: int
    chunks: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """The frames of a replay, and the watcher that made them."""

    frames: list[Frame]
    watcher: MindWatcher


async def recorded_mind(
    record: Recorded,
    run: StoredRun,
    *,
    current: Mapping[str, str],
    leaves: LeafRegistry = LEAVES,
    until: Until | None = None,
) -> Seen:
    """`current` are the tree files that the next run would have.

    A replay only computes, so it has a thread and an event loop of its own: others are not kept
    waiting. A run without an end is shown as far as it came, and one that is under way `until` a
    moment that is on record.
    """
    has_end = bool(record[0]) and record[0][-1].kind == "end"
    frames: list[Frame] = []
    seen: list[Seen] = []
    heard = 0

    def look(tree: RecordedTree) -> None:
        def is_over() -> bool:
            is_late = until is not None and tree.tree_run.context.ticks > until.ticks
            return is_late or tree.journal.diverged is not None

        is_current = hash_of(tree.recipe.sources) == hash_of(current)
        watcher = MindWatcher(tree, frames.append, is_current=is_current, is_over=is_over)
        watcher.say_tree()
        watcher.begin()
        seen.append(Seen(frames=frames, watcher=watcher))

    def listen(chunk: OracleStreamChunk) -> None:
        nonlocal heard
        heard += makes_frames(chunk)
        if until is None or heard <= until.chunks:
            seen[0].watcher.hear(chunk)

    def replay() -> None:
        asyncio.run(retell(record, run, listen, has_end=has_end, look=look, leaves=leaves))

    await in_thread(replay)
    return seen[0]

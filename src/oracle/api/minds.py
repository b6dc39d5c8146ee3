"""The frames of runs, for those who watch: recorded ones are replayed once and kept for a while."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

from oracle.api.live_mind import MOST_AT_ONCE, Frames, LiveMind
from oracle.api.live_run import LiveRun
from oracle.bt.wrappers.mind.frame import Frame
from oracle.bt.wrappers.mind.recorded import recorded_mind
from oracle.bt.wrappers.run_store import RunStore
from oracle.errors import OracleError
from oracle.models.session import StoredRun
from oracle.services.background import in_thread

MOST_KEPT: Final = 12
"""Recorded runs whose frames are kept. Those of a long run have some megabytes."""
REPLAYS_AT_ONCE: Final = 2

Sources: TypeAlias = Callable[[], Mapping[str, str]]
_dumps: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Minds:
    """`current` reads the tree files that the next run would have. `replaying` is to be entered by
    all who replay a run, so that they do not take the processor from the runs under way.
    """

    def __init__(self, current: Sources) -> None:
        self._current = current
        self._kept: OrderedDict[str, asyncio.Future[list[Frame]]] = OrderedDict()
        self.replaying = asyncio.Semaphore(REPLAYS_AT_ONCE)

    async def current(self) -> Mapping[str, str]:
        return await in_thread(self._current)

    async def recorded(self, store: RunStore, run: StoredRun) -> list[Frame]:
        """All frames of a run that is not under way. Who asks for the same one shares the work."""
        task = self._kept.get(run.id)
        if task is None:
            task = asyncio.create_task(self._replayed(store, run))
            self._keep(run.id, task)
        else:
            self._kept.move_to_end(run.id)
        try:
            return await asyncio.shield(task)
        finally:
            # One that failed may work the next time, and one without an end may go on.
            is_over = task.done() and not task.cancelled() and task.exception() is None
            if not is_over or run.status != "done":
                self._kept.pop(run.id, None)

    async def _replayed(self, store: RunStore, run: StoredRun) -> list[Frame]:
        async with self.replaying:
            record = await store.record_of(run.id)
            current = await self.current()
            seen = await recorded_mind(record, run, current=current, leaves=store.leaves)
            return seen.frames

    async def live(self, store: RunStore, live: LiveRun) -> LiveMind:
        """What is seen of a run under way. Its frames are kept when it ends: who comes back then
        goes on with the same ones.
        """
        mind = live.watched()
        if mind.recalling is None:
            mind.recalling = asyncio.create_task(self._recalled(store, live.id, mind))
            live.task.add_done_callback(lambda _: self._keep_whole(live.id, mind))
        await asyncio.shield(mind.recalling)
        return mind

    async def _recalled(self, store: RunStore, run_id: str, mind: LiveMind) -> None:
        """What happened before somebody watched is replayed from the record so far."""
        seen = None
        # Without a record there is no past to see, but what happens now can be seen all the same.
        with suppress(OracleError):
            async with self.replaying:
                await mind.flush()
                run, record = await store.runs.get(run_id), await store.record_of(run_id)
                current = await self.current()
                seen = await recorded_mind(
                    record, run, current=current, leaves=store.leaves, until=mind.until
                )
        mind.recall(seen)

    def _keep_whole(self, run_id: str, mind: LiveMind) -> None:
        if mind.is_whole:
            kept: asyncio.Future[list[Frame]] = asyncio.get_running_loop().create_future()
            kept.set_result(mind.frames)
            self._keep(run_id, kept)

    def _keep(self, run_id: str, frames: asyncio.Future[list[Frame]]) -> None:
        self._kept[run_id] = frames
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)


async def in_batches(frames: Sequence[Frame], after: int) -> AsyncGenerator[Frames]:
    """Those that follow the frame with this number."""
    numbered = [*enumerate(frames)][after + 1 :]
    for start in range(0, len(numbered), MOST_AT_ONCE):
        yield numbered[start : start + MOST_AT_ONCE]


def encoded_frames(run_id: str, frames: Frames) -> bytes:
    """As server-sent events. Changes of nodes that follow each other are one event, with the number
    of the last: a client that goes on after it has seen all of them.
    """
    events: list[str] = []
    together: list[Mapping[str, Any]] = []
    for place, (number, frame) in enumerate(frames):
        if frame.type != "node":
            events.append(_event(run_id, number, frame.type, frame.data))
            continue
        together.append(frame.data)
        is_last = place + 1 == len(frames) or frames[place + 1][1].type != "node"
        if is_last:
            events.append(_event(run_id, number, "nodes", {"nodes": together}))
            together = []
    return "".join(events).encode("utf-8", "replace")


def _event(run_id: str, number: int, type_: str, data: Mapping[str, Any]) -> str:
    return f"id: {run_id}:m:{number}\nevent: {type_}\ndata: {_dumps(data)}\n\n"

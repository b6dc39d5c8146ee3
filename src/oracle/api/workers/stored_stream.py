"""What a run says, read in another process than the one that works on it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator

from oracle.api.live_run import NOTHING_YET, Numbered
from oracle.bt.wrappers.retelling import chunks_of
from oracle.bt.wrappers.run_end import RunEnd
from oracle.bt.wrappers.run_store import RunStore
from oracle.errors import InputError, StoreError
from oracle.logs import logger_of
from oracle.models.session import StoredRun
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.dispatch.news import SAID, News
from oracle.services.dispatch.queue import MOST_FAILURES, Queue
from oracle.services.dispatch.streams import Streams
from oracle.services.storage.runs import NEVER_BEGUN

log = logger_of(__name__)


async def follow(
    store: RunStore,
    news: News,
    run_id: str,
    after: int = -1,
    *,
    beat: float | None = None,
    closing: asyncio.Event,
) -> AsyncGenerator[Numbered]:
    """What it says after that chunk, as `LiveRun.follow` does. It ends early, without `done`, if
    this process is `closing`, or if no worker can go on with the run.
    """
    streams, queue = Streams(store.database), Queue(store.database, None)
    at, silent_since = after + 1, time.monotonic()
    with news.bell(SAID, run_id) as bell:
        while True:
            try:
                run = await store.runs.get(run_id)
                rows, rest, failures = await streams.read(run.id, at), [], 0
                is_done = run.status == "done"
                if is_done and not rows:
                    rest = await _rest(store, queue, run, at)
                elif not rows:
                    failures, _ = await queue.problem_of(run.id)
            except StoreError as problem:
                # A client need not notice that the database was away for a moment.
                log.warning("run %s cannot be followed: %s; trying again", run_id, problem)
                rows, rest, failures, is_done = [], [], 0, False
            if rows:
                at, silent_since = rows[-1][0] + 1, time.monotonic()
                yield [(number, OracleStreamChunk.from_dict(chunk)) for number, chunk in rows]
                continue
            if is_done:
                if rest:
                    yield rest
                return
            if closing.is_set() or failures >= MOST_FAILURES:
                yield []
                return
            await bell.wait(beat)
            if beat is not None and time.monotonic() - silent_since >= beat:
                silent_since = time.monotonic()
                yield NOTHING_YET


async def _rest(store: RunStore, queue: Queue, run: StoredRun, at: int) -> Numbered:
    """The end of a run that is done, from its record."""
    if run.stop_reason == NEVER_BEGUN:
        told = await _never_begun(queue, run)
    else:
        told = await chunks_of(store, run.id)
    return [*enumerate(told)][at:]


async def _never_begun(queue: Queue, run: StoredRun) -> list[OracleStreamChunk]:
    _, problem = await queue.problem_of(run.id)
    told = str(problem.get("detail") or "the run died before it began; ask again")
    done = RunEnd().broken(InputError(told), told)
    done |= {name: problem[name] for name in ("stop_reason", "error_kind") if name in problem}
    return [
        OracleStreamChunk(type=ChunkType.ERROR, data={"content": told}),
        OracleStreamChunk(type=ChunkType.DONE, data={**done, "run_id": run.id, "context_id": None}),
    ]

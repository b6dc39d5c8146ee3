"""Stores what a run says, under the numbers that its readers know."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Final

from oracle.api.live_run import LiveRun
from oracle.errors import StoreError
from oracle.models.stream_chunk import OracleStreamChunk
from oracle.services.dispatch.streams import Streams

SECONDS_TO_STORE_AGAIN: Final = 2.0


async def publish(
    streams: Streams, run_id: str, live: LiveRun, heard: Callable[[OracleStreamChunk], None]
) -> int:
    """Follow the run to its end. A run that is resumed says again what is stored already.
    Returns how many chunks were new.

    The last chunks may come when the lease has been given back. They are not stored then: the
    record has them, and says how the run ended.
    """
    before: int | None = None
    stored = 0
    said: list[tuple[int, OracleStreamChunk]] = []
    # What others have stored is not known yet.
    is_unsure = True
    # Silence is heard too: a run that waits for a person says nothing that would come next.
    async with contextlib.aclosing(live.follow(beat=SECONDS_TO_STORE_AGAIN)) as batches:
        async for batch in batches:
            said += batch
            for _, chunk in batch:
                heard(chunk)
            # Before it has a lease a run can only say warnings.
            if not said or live.owner is None:
                continue
            # While the database is away the chunks are kept, and stored later.
            try:
                if is_unsure:
                    stored = await streams.length(run_id)
                    before = stored if before is None else before
                new = [chunk.to_dict() for number, chunk in said if number >= stored]
                if new and not await streams.append(run_id, live.owner, stored, new):
                    break
            except StoreError:
                # The connection may have broken just after the commit.
                is_unsure = True
                continue
            stored, said, is_unsure = stored + len(new), [], False
    return 0 if before is None else stored - before

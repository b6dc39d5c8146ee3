"""Chunks as server-sent events, written by hand: ready-made encoders take two to seven times the
processor time for each chunk.

The id of an event names the run and the number of the chunk, so that a client can go on after any
of them with nothing but the header `Last-Event-ID`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final, TypeVar

from oracle.api.live_run import NOTHING_YET, UNNUMBERED, Numbered
from oracle.errors import InputError
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk

Batch = TypeVar("Batch")
HEARTBEAT: Final = b": waiting\n\n"
"""A comment. Proxies close connections on which nothing is sent for a while."""
SECONDS_BETWEEN_BEATS: Final = 15.0
NOT_ENDED: Final = (
    b'event: interrupted\ndata: {"type":"interrupted","content":"the run has not ended; connect '
    b'again with Last-Event-ID to hear the rest"}\n\n'
)
"""Instead of `done`, if the server stops or the run is interrupted. It has no id, so that a client
goes on after the last chunk.
"""
BEFORE_FIRST: Final = -1
"""The number of the event `queued`, which is before the first chunk of the run."""
_dumps: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encoded(run_id: str, chunks: Numbered) -> bytes:
    """JSON has no line breaks of its own, so the data of an event is one line."""
    events = [f"{_id(run_id, number)}{_event(chunk)}" for number, chunk in chunks]
    # A lone surrogate in a model's text cannot be sent as UTF-8.
    return "".join(events).encode("utf-8", "replace")


def _event(chunk: OracleStreamChunk) -> str:
    if chunk.type is ChunkType.CONTENT:
        # Nearly all chunks are these. The encoder has a quick way for a text alone.
        text = f'{{"type":"content","turn":{chunk.turn},"content":{_dumps(chunk.data["content"])}}}'
        return f"event: content\ndata: {text}\n\n"
    return f"event: {chunk.type}\ndata: {_dumps(chunk.to_dict())}\n\n"


def _id(run_id: str, number: int) -> str:
    return "" if number == UNNUMBERED else f"id: {run_id}:{number}\n"


async def as_events(run_id: str, batches: AsyncGenerator[Numbered]) -> AsyncGenerator[bytes]:
    """With a sign of life where nothing is said for a while."""
    async with aclosing(batches):
        async for batch in batches:
            if batch is NOTHING_YET:
                yield HEARTBEAT
            else:
                yield encoded(run_id, batch) if batch else NOT_ENDED


def queued(run_id: str, ahead: int, *, is_stored: bool) -> bytes:
    """Sent to a client whose question waits for its turn. One that is on disk has an id: it is that
    of a client who has heard nothing of the run yet.
    """
    many = f"{ahead} {'question begins' if ahead == 1 else 'questions begin'} before this one"
    data = {"type": "queued", "run_id": run_id, "ahead": ahead, "content": many}
    id_ = f"id: {run_id}:{BEFORE_FIRST}\n" if is_stored else ""
    return f"{id_}event: queued\ndata: {_dumps(data)}\n\n".encode()


async def led_by(first: bytes, events: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    async with aclosing(events):
        yield first
        async for event in events:
            yield event


async def kept_alive(
    batches: AsyncGenerator[Batch], encode: Callable[[Batch], bytes]
) -> AsyncGenerator[bytes]:
    """The same for batches that know nothing of a beat."""
    async with aclosing(batches):
        coming = asyncio.ensure_future(anext(batches, None))
        try:
            while True:
                done, _ = await asyncio.wait({coming}, timeout=SECONDS_BETWEEN_BEATS)
                if not done:
                    yield HEARTBEAT
                    continue
                batch = coming.result()
                if batch is None:
                    return
                coming = asyncio.ensure_future(anext(batches, None))
                yield encode(batch)
        finally:
            coming.cancel()
            await asyncio.wait({coming})


def place_after(last_event_id: str) -> tuple[str, int]:
    """The run and the number of the last chunk that a client has seen.

    >>> place_after("3f9a:12"), place_after("12"), place_after("3f9a:-1")
    (('3f9a', 12), ('', 12), ('3f9a', -1))
    """
    run_id, _, number = last_event_id.strip().rpartition(":")
    if number != str(BEFORE_FIRST) and (not number.isdecimal() or len(number) > 12):
        raise InputError(
            f"Last-Event-ID is {last_event_id[:80]!r}; send the id of the last event as it came"
        )
    return run_id, int(number)


def check_stream(named: str, stream: str) -> None:
    """An id of another stream would skip events that were never sent. One without a name may be of
    any.
    """
    if named not in ("", stream):
        raise InputError(
            f"Last-Event-ID is of {named[:80]!r}, and this is the stream {stream!r}; "
            "leave it out to get all events"
        )

"""A model for a process that reads many responses at once: parts that arrive together are handed
over together.

Each part of a response goes a long way: it is read for signals, recorded, saved and sent. With many
responses under way, a text that arrives word by word costs more than all else. So while there are
many, what arrives within a moment is one part, and the busier the process is, the longer the moment
is. A response that is alone is handed over as it comes.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing
from typing import Final, cast

from oracle.services.llm.protocol import Model, ModelRequest, Part
from oracle.services.llm.wrapped import WrappedModel

STEP: Final = 0.05
USUAL_SECONDS: Final = 0.25
STREAMS_FOR_A_STEP: Final = 8
"""For each so many responses under way, parts are collected for one `STEP` longer, up to the usual
time.
"""
MANY_STREAMS: Final = 160
"""With so many responses under way, parts are collected for twice the usual time."""
MOST_SECONDS: Final = 1.0
"""In a process that is so busy that it hands over late."""
PAUSE_FOR_DELAY: Final = 4
"""A pause is at least so many times as long as the delay at its end. The delay is about half of the
time that it takes to hand over to all, so this takes at most half of the time of the process.
"""
WEIGHT_OF_ONE: Final = 1 / 32
"""Of one delay, in the mean of the last ones."""

MOST_PARTS: Final = 32
"""How many parts are read ahead. A model that never pauses must leave others their turn."""

NEARLY: Final = 0.2
"""Of a pause."""

JOINED: Final = ("text", "reasoning")


class PartsTogether(WrappedModel):
    """The same model. Its streams know of each other, and share the moments of handing over."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._streams = 0
        self._delay = 0.0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part]:
        self._streams += 1
        parts = together(self._model.stream(request), self._pause, self._note_delay)
        try:
            async with aclosing(parts):
                async for part in parts:
                    yield part
        finally:
            self._streams -= 1
            if self._streams < STREAMS_FOR_A_STEP:
                self._delay = 0.0

    def _pause(self) -> float:
        return pause_for(self._streams, self._delay)

    def _note_delay(self, seconds: float) -> None:
        self._delay += WEIGHT_OF_ONE * (seconds - self._delay)


def pause_for(streams: int, delay: float) -> float:
    """How long parts are collected. Few lengths, so that most streams share their moments.

    >>> pause_for(1, 0.3), pause_for(20, 0.0), pause_for(100, 0.0), pause_for(300, 0.0)
    (0.0, 0.1, 0.25, 0.5)
    >>> pause_for(20, 0.06), pause_for(20, 0.1), pause_for(300, 0.2)
    (0.25, 0.5, 1.0)
    """
    pause = min(USUAL_SECONDS, STEP * (streams // STREAMS_FOR_A_STEP))
    if streams >= MANY_STREAMS:
        pause = 2 * USUAL_SECONDS
    if pause and pause < PAUSE_FOR_DELAY * delay:
        pause = max(pause, USUAL_SECONDS)
        while pause < min(MOST_SECONDS, PAUSE_FOR_DELAY * delay):
            pause *= 2
    return pause


def _ignore(_: float) -> None:
    """Nobody asks how late parts are handed over."""


def next_moment(now: float, pause: float) -> float:
    """A multiple of the pause: streams that wait at the same time also end their wait at the same
    time, so that all they bring is saved by one commit.

    One that is nearly there counts as over. A timer may ring a little early, and the same moment
    once more would be a wait for nothing.

    >>> next_moment(10.3, 0.25), next_moment(10.4999, 0.25)
    (10.5, 10.75)
    """
    return (math.floor(now / pause + NEARLY) + 1) * pause


async def together(
    parts: AsyncIterator[Part],
    pause: Callable[[], float],
    note_delay: Callable[[float], None] = _ignore,
) -> AsyncGenerator[Part]:
    """The parts of a stream, the first one at once. Texts of one `pause` are joined.

    `note_delay` hears how late the process was at the end of each pause.
    """
    loop = asyncio.get_running_loop()
    arrived = _Arrived()
    reading = loop.create_task(arrived.read(parts))
    reading.add_done_callback(lambda _: arrived.ring())
    is_first = True
    try:
        while True:
            if not arrived.parts and not reading.done():
                await arrived.something()
            seconds = pause()
            if seconds and not is_first and not reading.done():
                until = next_moment(loop.time(), seconds)
                await arrived.enough(until)
                # By another clock than `loop.time`, which may stand still while others hand over.
                note_delay(max(0.0, time.monotonic() - until))
            is_first = False
            taken = arrived.take()
            for part in joined(taken) if seconds else taken:
                yield part
            if reading.done() and not arrived.parts:
                reading.result()  # raises what the stream has ended with
                return
    finally:
        reading.cancel()
        # The connection is closed when this returns.
        await asyncio.wait({reading})
        if not reading.cancelled():
            reading.exception()


class _Arrived:
    """Parts that were read and not handed over yet. One task reads, another one takes."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self._bell: asyncio.Future[None] | None = None
        self._is_patient = False
        self._room: asyncio.Future[None] | None = None

    async def read(self, parts: AsyncIterator[Part]) -> None:
        try:
            async for part in parts:
                self.parts.append(part)
                if not self._is_patient:
                    self.ring()
                if len(self.parts) >= MOST_PARTS:
                    self.ring()
                    self._room = asyncio.get_running_loop().create_future()
                    await self._room
        finally:
            if isinstance(parts, AsyncGenerator):
                await cast("AsyncGenerator[Part]", parts).aclose()

    async def something(self) -> None:
        """Wait for the next part, or for the end."""
        await self._wait()

    async def enough(self, until: float) -> None:
        """Wait until that time of the event loop, or for so many parts, or for the end."""
        if len(self.parts) >= MOST_PARTS:
            return
        timer = asyncio.get_running_loop().call_at(until, self.ring)
        self._is_patient = True
        try:
            await self._wait()
        finally:
            self._is_patient = False
            timer.cancel()

    def take(self) -> list[Part]:
        taken, self.parts = self.parts, []
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        return taken

    def ring(self) -> None:
        if self._bell is not None and not self._bell.done():
            self._bell.set_result(None)

    async def _wait(self) -> None:
        self._bell = asyncio.get_running_loop().create_future()
        await self._bell


def joined(parts: Iterable[Part]) -> Iterator[Part]:
    """Texts that follow each other as one text, and so with reasoning. Other parts as they are.

    >>> [*joined([{"text": "a"}, {"text": "b"}, {"reasoning": "c"}, {"text": "d"}])]
    [{'text': 'ab'}, {'reasoning': 'c'}, {'text': 'd'}]
    """
    kind, texts = "", list[str]()
    for part in parts:
        found = next((name for name in JOINED if name in part), "")
        if texts and found != kind:
            yield cast("Part", {kind: "".join(texts)})
            texts = []
        if found:
            kind = found
            texts.append(cast("dict[str, str]", part)[found])
        else:
            yield part
    if texts:
        yield cast("Part", {kind: "".join(texts)})

"""What a run says reaches its readers, also if the database was away for a moment."""

import asyncio
from contextlib import aclosing

import pytest

from oracle.api.workers.publishing import publish
from oracle.api.workers.stored_stream import follow
from oracle.bt.wrappers.run_store import RunStore
from oracle.errors import StoreError
from oracle.models.stream_chunk import ChunkType, OracleStreamChunk
from oracle.services.dispatch.news import News
from oracle.services.dispatch.streams import Streams
from oracle.services.storage.runs import Runs

SAID = [OracleStreamChunk(type=ChunkType.CONTENT, data={"content": str(n)}) for n in range(4)]


class Live:
    """A run that says something and then waits for a person: nothing more is said."""

    owner = "me"

    def __init__(self, *batches):
        self._batches = batches

    async def follow(self, *, beat):
        number = 0
        for count in self._batches:
            yield [(number + n, SAID[number + n]) for n in range(count)]
            number += count


class Breaking(Streams):
    """Its first attempt to store something fails, before the commit or after it, or else its first
    attempt to learn what is stored.
    """

    def __init__(self, database, *, committed):
        super().__init__(database)
        self._committed = committed
        self._is_broken = committed is not None
        self._is_away = not self._is_broken

    async def length(self, run_id):
        is_away, self._is_away = self._is_away, False
        if is_away:
            raise StoreError("away")
        return await super().length(run_id)

    async def append(self, *given):
        is_broken, self._is_broken = self._is_broken, False
        if is_broken and not self._committed:
            raise StoreError("away")
        is_ours = await super().append(*given)
        if is_broken:
            raise StoreError("away")
        return is_ours


@pytest.mark.parametrize("committed", [False, True, None])
@pytest.mark.parametrize("batches", [(2, 0), (2, 2), (2, 0, 1)])
async def test_what_could_not_be_stored_is_stored_later_once(database, committed, batches):
    await Runs(database).begin(run_id="r1", question="q", tree="t", at=1.0, owner="me")
    streams = Breaking(database, committed=committed)
    new = await publish(streams, "r1", Live(*batches), lambda chunk: None)
    assert new == sum(batches)
    stored = await streams.read("r1", 0)
    assert [number for number, _ in stored] == [*range(sum(batches))]
    assert [chunk["content"] for _, chunk in stored] == [str(n) for n in range(sum(batches))]


class Away(Runs):
    """Cannot be read at first."""

    times = 2

    async def get(self, typed):
        if self.times:
            self.times -= 1
            raise StoreError("away")
        return await super().get(typed)


async def test_a_client_does_not_notice_that_the_database_was_away(database, caplog):
    await Runs(database).begin(run_id="r1", question="q", tree="t", at=1.0, owner="me")
    await Streams(database).append("r1", "me", 0, [SAID[0].to_dict()])
    store = RunStore(database)
    store.runs = Away(database)
    async with aclosing(follow(store, News(0.01), "r1", closing=asyncio.Event())) as batches:
        assert await anext(batches) == [(0, SAID[0])]
    assert caplog.text.count("run r1 cannot be followed: away; trying again") == 2

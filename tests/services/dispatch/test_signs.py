"""A worker that has died is noticed by its connection, and one that is alive keeps its runs."""

import asyncio

import pytest

from oracle.services.dispatch.news import SAID, open_news, tell
from oracle.services.dispatch.queue import Queue
from oracle.services.dispatch.signs import SECONDS_MISSING, Signs
from oracle.services.dispatch.workers import Workers
from oracle.services.storage.database import Database
from tests.services.dispatch.test_dispatchers import add

WORKER = "machine:7:a1b2c3"


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
async def database(postgresql_url):
    async with await Database.open(postgresql_url) as database:
        yield database


@pytest.fixture
async def working(database):
    """A worker with a run, as the database knows it."""
    await add(database, "r1", owner="machine:7:of-the-run")
    await add(database, "r2", owner="machine:77:of-another-process")
    await beat(database)


async def beat(database, id_=WORKER):
    await Workers(database).beat(id_, project="p", state="working", concurrency=1)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def signs(database, clock):
    return Signs(database, "machine:8:d4e5f6", clock)


async def looks(signs, clock, seconds=2 * SECONDS_MISSING):
    """How many runs are released by looking so long, once a second."""
    released = 0
    for _ in range(int(seconds)):
        released += await signs.release()
        clock.now += 1
    return released


async def listening(database, news):
    """Until a notice arrives, so that the connection is there."""
    with news.bell(SAID, "r1") as bell:
        for _ in range(100):
            await database.write(lambda connection: tell(connection, SAID, "r1"))
            await bell.wait(0.1)
            if await Signs(database, "x:1:y").shown():
                return


async def test_the_runs_of_a_dead_worker_are_released(database, working, signs, clock):
    assert await looks(signs, clock) == 1
    assert await Queue(database, "p").left_behind() == ["r1"]
    assert await looks(signs, clock) == 0


async def test_a_worker_whose_connection_is_there_keeps_its_runs(database, working, signs, clock):
    async with open_news(database, sign=WORKER) as news:
        await listening(database, news)
        assert await looks(signs, clock) == 0
    # The server notices in its own time that the connection is gone.
    async with asyncio.timeout(60):
        while await signs.shown():
            pass
    assert await looks(signs, clock) == 1


async def test_a_worker_that_beats_keeps_its_runs(database, working, signs, clock):
    for _ in range(5):
        assert await looks(signs, clock, SECONDS_MISSING) == 0
        await beat(database)


async def test_nobody_is_missed_because_of_an_outage(database, working, signs, clock):
    assert await looks(signs, clock, SECONDS_MISSING) == 0
    signs.forget()
    assert await looks(signs, clock, SECONDS_MISSING) == 0
    assert await looks(signs, clock, 1) == 1


async def test_another_worker_of_the_same_process_is_enough(database, working, signs, clock):
    await beat(database, "machine:7:other")
    async with open_news(database, sign="machine:7:other") as news:
        await listening(database, news)
        assert await looks(signs, clock) == 0


async def test_a_file_has_no_connections_to_look_at(tmp_path):
    async with await Database.open(f"sqlite:///{tmp_path}/oracle.db") as database:
        await beat(database)
        assert await Signs(database, "machine:8:d4e5f6").release() == 0

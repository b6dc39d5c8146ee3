import asyncio
import threading
from concurrent.futures import wait

import pytest

from oracle.services import background
from oracle.services.background import DaemonThreads, Together, cancelled


class Counting:
    def __init__(self):
        self.begun = 0
        self.may_end = asyncio.Event()

    async def work(self):
        self.begun += 1
        number = self.begun
        await self.may_end.wait()
        return number


async def asking(together, count):
    tasks = [asyncio.ensure_future(together()) for _ in range(count)]
    for _ in range(3):
        await asyncio.sleep(0)
    return tasks


async def test_all_who_ask_before_a_call_begins_share_it():
    counting = Counting()
    together = Together(counting.work)
    early = await asking(together, 3)
    late = await asking(together, 5)
    counting.may_end.set()
    assert await asyncio.gather(*early) == [1] * 3
    # They asked while the first call was under way: what it found may be older than their question.
    assert await asyncio.gather(*late) == [2] * 5


async def test_one_who_is_cancelled_does_not_cancel_it_for_the_others():
    counting = Counting()
    one, other = await asking(Together(counting.work), 2)
    one.cancel()
    counting.may_end.set()
    assert await other == 1


async def test_a_failure_reaches_all_and_the_next_call_is_tried():
    problems = [ValueError("no"), None]

    async def work():
        if problem := problems.pop(0):
            raise problem
        return "yes"

    together = Together(work)
    for asked in await asking(together, 2):
        with pytest.raises(ValueError, match="no"):
            await asked
    assert await together() == "yes"


async def test_a_task_that_loses_a_cancellation_is_cancelled_again():
    lost = 0

    async def loses_the_first():
        nonlocal lost
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if lost:
                    raise
                lost += 1

    task = asyncio.create_task(loses_the_first())
    await asyncio.sleep(0)
    await cancelled(task)
    assert (task.cancelled(), lost) == (True, 1)


def threads_called(name):
    return [each for each in threading.enumerate() if each.name.startswith(f"{name}-")]


def test_threads_without_work_end_and_the_next_work_has_threads_again(monkeypatch):
    monkeypatch.setattr(background, "SECONDS_IDLE", 0.001)
    threads = DaemonThreads(most=3, name="burst")
    for _ in range(3):
        # More than there may be threads, so that some work waits for one.
        wait([threads.submit(threading.Event().wait, 0.001) for _ in range(20)])
        for thread in threads_called("burst"):
            thread.join()
        assert not threads_called("burst")
    assert threads.submit(len, "abc").result() == 3
    threads.shutdown()


def test_work_that_comes_while_threads_end_is_done(monkeypatch):
    monkeypatch.setattr(background, "SECONDS_IDLE", 0.0)
    threads = DaemonThreads(most=2, name="brief")
    for number in range(500):
        done = [threads.submit(abs, -number) for _ in range(1 + number % 3)]
        assert [each.result() for each in done] == [number] * len(done)
    threads.shutdown()


def test_a_thread_does_not_end_while_work_is_submitted(monkeypatch):
    """A job that found neither a free thread nor room for one would wait for ever."""
    monkeypatch.setattr(background, "SECONDS_IDLE", 0.0)
    threads = DaemonThreads(most=1, name="last")
    with threads._counts.lock:
        threads._counts.room.acquire()
        threads._counts.free.release()
        work = (threads._jobs, threads._counts)
        last = threading.Thread(target=background._work, args=work, daemon=True)
        last.start()
        last.join(0.2)
        assert last.is_alive()
    last.join(10)
    assert threads.submit(abs, -3).result(10) == 3
    threads.shutdown()


def test_no_more_threads_than_there_is_work_at_once():
    threads = DaemonThreads(most=4, name="few")
    for _ in range(10):
        wait([threads.submit(threading.Event().wait, 0.001) for _ in range(20)])
    assert len(threads_called("few")) <= 4
    threads.shutdown()

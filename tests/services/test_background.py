import asyncio

import pytest

from oracle.services import background
from oracle.services.background import Together


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


async def test_a_task_that_loses_a_cancellation_is_cancelled_again(monkeypatch):
    """As a driver of a database may do that is interrupted while it connects."""
    monkeypatch.setattr(background, "SECONDS_TO_CANCEL_AGAIN", 0.01)
    lost = 0

    async def deaf():
        nonlocal lost
        while lost < 2:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                lost += 1
        await asyncio.sleep(3600)

    task = asyncio.create_task(deaf())
    await asyncio.sleep(0)
    await background.ended(task)
    assert (task.cancelled(), lost) == (True, 2)

"""Simulated time goes on when the run waits, to the next thing that happens, and no further."""

import asyncio

from oracle.services.journal.simulated_time import SimulatedTime


async def test_an_hour_passes_in_a_moment_and_in_its_order():
    time, order = SimulatedTime(), []

    async def wait(seconds):
        await time.sleep(seconds)
        order.append((seconds, round(time.monotonic(), 3)))

    time.is_idle = lambda: True
    time.begin()
    await asyncio.wait_for(asyncio.gather(*map(wait, (3600, 5, 60))), 10)
    time.close()
    assert order == [(5, 5), (60, 60), (3600, 3600)]


async def test_nothing_happens_while_the_run_is_busy():
    time, fired = SimulatedTime(), []
    time.begin()
    time.call_later(1, lambda: fired.append(1))
    for _ in range(20):
        await asyncio.sleep(0)
    assert fired == []
    time.is_idle = lambda: True
    for _ in range(20):
        await asyncio.sleep(0)
    time.close()
    assert fired == [1]


async def test_a_deadline_that_was_cancelled_does_not_come():
    time, fired = SimulatedTime(), []
    time.is_idle = lambda: True
    time.call_later(1, lambda: fired.append(1)).cancel()
    time.begin()
    for _ in range(20):
        await asyncio.sleep(0)
    time.close()
    assert (fired, time.monotonic()) == ([], 0.0)


async def test_a_run_that_waits_for_nothing_is_reported():
    time, stuck = SimulatedTime(), asyncio.Event()
    time.is_idle, time.when_stuck = (lambda: True), stuck.set
    time.begin()
    await asyncio.wait_for(stuck.wait(), 10)
    time.close()


async def test_what_is_real_takes_as_long_as_it_takes():
    time = SimulatedTime()
    time.is_idle = lambda: True
    time.begin()
    with time.real():
        await asyncio.sleep(0.02)
    time.close()
    assert time.monotonic() >= 0.02

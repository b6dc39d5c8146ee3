"""A job is the id of a run: taken once, never lost with a worker, harmless when it comes twice."""

import asyncio

import pytest

from oracle.services.dispatch.opening import open_dispatcher, queue_name
from oracle.services.dispatch.queue import MOST_FAILURES, Queue
from oracle.services.storage.database import Database
from oracle.services.storage.runs import QUEUED, Runs


@pytest.fixture
async def dispatcher(database):
    async with open_dispatcher(database, "p") as dispatcher:
        yield dispatcher


async def add(database, run_id, **fields):
    """A run of the project that waits for a worker."""
    given = {"owner": None, "door": QUEUED, "project": "p", "request": {"question": "Why?"}}
    await Runs(database).begin(
        run_id=run_id, question="Why?", tree="oracle-agent", at=1.0, **given | fields
    )


async def claimed(dispatcher):
    job = await dispatcher.claim(0)
    return None if job is None else job.run_id


async def test_jobs_are_claimed_once_in_the_order_of_arrival(dispatcher):
    for run_id in ("r1", "r2", "r1"):
        await dispatcher.enqueue(run_id)
    assert [await claimed(dispatcher) for _ in range(3)] == ["r1", "r2", None]


async def test_a_claim_waits_for_a_job(dispatcher):
    claim = asyncio.create_task(dispatcher.claim(60))
    await asyncio.sleep(0)
    await dispatcher.enqueue("r1")
    assert (await asyncio.wait_for(claim, 30)).run_id == "r1"


async def test_a_job_that_nobody_has_claimed_can_be_taken_out(dispatcher):
    await dispatcher.enqueue("r1")
    assert await dispatcher.cancel("r1") is True
    assert await dispatcher.cancel("r1") is False
    assert await claimed(dispatcher) is None


async def test_a_run_may_be_enqueued_again_while_its_job_is_claimed(dispatcher):
    await dispatcher.enqueue("r1")
    job = await dispatcher.claim(0)
    await dispatcher.enqueue("r1")
    await dispatcher.finish(job)
    assert await claimed(dispatcher) == "r1"


async def test_the_heartbeat_enqueues_runs_whose_job_was_lost(database, dispatcher):
    await add(database, "r1")
    await dispatcher.heartbeat()
    await dispatcher.heartbeat()
    assert [await claimed(dispatcher) for _ in range(2)] == ["r1", None]


async def test_the_heartbeat_leaves_alone_what_needs_no_worker(database, dispatcher):
    await add(database, "held", owner="a")
    await add(database, "terminal", door=None, request=None)
    await add(database, "elsewhere", project="q")
    await add(database, "stuck")
    for _ in range(MOST_FAILURES):
        await Queue(database, "p").failed("stuck", {"detail": "no"})
    await dispatcher.heartbeat()
    assert await claimed(dispatcher) is None


async def test_a_run_that_is_stuck_can_be_tried_again(database, dispatcher):
    queue = Queue(database, "p")
    await add(database, "r1")
    for _ in range(MOST_FAILURES):
        await queue.failed("r1", {"detail": "no model"})
    assert [(e.state, e.failures, e.problem) for e in await queue.entries()] == [
        ("stuck", MOST_FAILURES, "no model")
    ]
    await queue.forgive("r1")
    await dispatcher.heartbeat()
    assert await claimed(dispatcher) == "r1"


async def test_a_project_claims_only_its_own_jobs(database, dispatcher):
    async with open_dispatcher(database, "other") as other:
        await other.enqueue("r1")
        assert await claimed(dispatcher) is None
        assert await claimed(other) == "r1"


def test_the_name_of_a_queue_fits_into_a_channel_whatever_the_project_is_called():
    assert len(queue_name("project" * 100)) < 30
    assert queue_name("a") != queue_name("b")


async def test_the_job_of_a_dead_worker_goes_to_another(postgresql_url):
    """Its heartbeat is old, and the lease of its run has run out."""
    async with await Database.open(postgresql_url) as database:
        await add(database, "r1")
        async with open_dispatcher(database, "p") as dead, open_dispatcher(database, "p") as other:
            await dead.enqueue("r1")
            job = await dead.claim(0)
            assert await claimed(other) is None
            old = "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '20 seconds'"
            await database.write(lambda c: c.execute(old))
            await other.heartbeat()
            assert await claimed(other) == "r1"
            # It was only asleep: what it says now changes nothing.
            await dead.finish(job)


async def test_questions_of_a_burst_are_admitted_together(postgresql_url, monkeypatch):
    looks, due = [], Queue.due

    async def counted(self, user, *given, **options):
        looks.append(user)
        return await due(self, user, *given, **options)

    monkeypatch.setattr(Queue, "due", counted)
    async with await Database.open(postgresql_url) as database:
        runs = [f"r{number}" for number in range(4)]
        for run_id in runs:
            await add(database, run_id)
        async with open_dispatcher(database, "p") as dispatcher:
            await asyncio.gather(*(dispatcher.admit("local") for _ in range(40)))
            assert len(looks) <= 2
            await dispatcher.admit("local")
            assert len(looks) <= 3
            assert {await claimed(dispatcher) for _ in runs} == {*runs}
            assert await claimed(dispatcher) is None


async def test_a_worker_that_is_suspended_between_two_steps_holds_nobody_up(postgresql_url):
    """It has enqueued a run, and has not given its connection back."""
    sql = "SELECT * FROM procrastinate_jobs FOR UPDATE"
    async with await Database.open(postgresql_url) as database:
        await add(database, "r1")
        async with (
            open_dispatcher(database, "p") as asleep,
            open_dispatcher(database, "p") as other,
        ):
            await asleep.enqueue("r1")
            async with asleep._app.connector.pool.connection() as held, asyncio.timeout(30):
                await held.execute(sql)
                assert await claimed(other) == "r1"
                limit = await (await held.execute("SHOW statement_timeout")).fetchone()
                assert limit == ("1min",)

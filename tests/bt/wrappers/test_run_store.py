"""Runs in a real database: killed with -9 at every record, resumed, held by one process."""

import asyncio
import resource
import sys
from pathlib import Path

import pytest

from oracle.bt.core.leaves import LeafRegistry
from oracle.bt.state.base import FAILURE, SUCCESS
from oracle.bt.wrappers.recipe import Recipe
from oracle.bt.wrappers.run_store import RunStore
from oracle.errors import InputError, JournalError, LeaseHeld
from oracle.services.journal.writer import journal_writer
from oracle.services.storage.database import Database
from oracle.services.storage.runs import Runs
from tests import processes
from tests.default_run import thinned
from tests.processes import PIPE, Process

WORKER = Path(__file__).with_name("crashing.py")
LEAVES = WORKER.parent
WHOLE_LOG = [1, "a1", "b1", 2, "a2", "b2", "saved", 3, "a3", "b3"]
leaves = LeafRegistry()


@leaves.action(reads=["n"], writes=["n"])
async def count(ctx):
    async def one():
        return 1

    for _ in range(ctx.blackboard.get("n")):
        await ctx.perform("one", one)
    return SUCCESS


@leaves.action(reads=["n"], writes=["n"])
async def stream(ctx):
    async def endless():
        yield "a"
        yield "b"
        ctx.services.set()
        await asyncio.Event().wait()

    async for _ in ctx.stream("endless", endless):
        pass
    return SUCCESS


@leaves.action(reads=["n"], writes=["n"])
async def odd(ctx):
    async def text():
        return "\ud800 \x00 \u202e"

    return SUCCESS if await ctx.perform("\udfff", text) == "\ud800 \x00 \u202e" else FAILURE


def recipe(question="", leaf="count"):
    source = f"""BT.tree("t", {{
      blackboard = {{ n = 3 }},
      root = BT.action("{leaf}", {{ fn = "{__name__}.{leaf}" }}),
    }})"""
    return Recipe(tree="t", sources={"t.lua": source}, board={}, question=question)


@pytest.fixture
def writer(database):
    writer = journal_writer(database.url, on_failure="stop")
    yield writer
    writer.close()


def work(folder, *arguments):
    return processes.run(
        [sys.executable, WORKER, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )


async def let_go(database, run_id):
    """A killed process renews no more; the test need not wait until its lease has run out."""
    run = await Runs(database).get(run_id)
    if run.lease_owner is not None:
        await Runs(database).release(run.id, run.lease_owner)


def url_of(database):
    return database.url.with_password()


async def killed_after(database, folder, records):
    result = work(folder, "begin", url_of(database), records)
    assert result.returncode == -9, result.stderr
    (run,) = await Runs(database).newest()
    await let_go(database, run.id)
    return run.id


@pytest.mark.parametrize("records", thinned(range(1, 14), 4))
async def test_a_run_killed_at_any_record_goes_on_and_nothing_is_done_twice(tmp_path, records):
    async with await Database.open(tmp_path / "oracle.db") as database:
        run_id = await killed_after(database, tmp_path, records)
        result = work(tmp_path, "resume", url_of(database), run_id)
        assert result.stdout.splitlines()[-1] == f"settled success {WHOLE_LOG}", result.stderr
        world = (tmp_path / "world.txt").read_text().splitlines()
        assert world.count("write") == 1
        answered, _ = await RunStore(database).record_of(run_id)
        before = [r for r in answered[:records] if r.kind == "answer" and "value" in r.body]
        for record in before:
            assert world.count(record.body["request"]) == 1


async def test_the_same_on_either_database(database, tmp_path):
    run_id = await killed_after(database, tmp_path, 6)
    result = work(tmp_path, "resume", url_of(database), run_id)
    assert "settled success" in result.stdout, result.stderr


async def test_of_two_processes_that_resume_a_run_one_wins_and_the_other_says_so(tmp_path):
    async with await Database.open(tmp_path / "oracle.db") as database:
        run_id = await killed_after(database, tmp_path, 4)
        resume = (sys.executable, WORKER, "resume", url_of(database), run_id)
        pipes = {"stdout": PIPE, "stderr": PIPE, "text": True}
        workers = [Process(resume, cwd=tmp_path, **pipes) for _ in range(2)]
        told = [await asyncio.to_thread(worker.communicate) for worker in workers]
    assert sorted(worker.returncode for worker in workers) == [0, 1]
    loser = max(errors for _, errors in told)
    assert "is held by" in loser or "is done" in loser


async def test_a_finished_run_is_listed_with_its_end_and_replays_the_same(database, writer):
    store = RunStore(database, writer, leaves=leaves)
    run = await store.begin(recipe("how many?"))
    outcome = await run.settle()
    listed = await store.runs.get(run.id)
    assert (listed.status, listed.stop_reason, listed.question) == ("done", "settled", "how many?")
    replay = await store.replay(run.id)
    assert replay.summary(await replay.settle()) == run.summary(outcome)


async def test_a_run_that_is_done_cannot_be_resumed(database, writer):
    store = RunStore(database, writer, leaves=leaves)
    run = await store.begin(recipe())
    await run.settle()
    with pytest.raises(InputError, match="is done"):
        await store.resume(run.id)


async def test_a_run_that_is_held_cannot_be_resumed_by_another(database, writer):
    run = await RunStore(database, writer, leaves=leaves).begin(recipe())
    with pytest.raises(LeaseHeld, match="is held by"):
        await RunStore(database, writer, leaves=leaves).resume(run.id)


async def test_runs_of_one_process_share_a_writer_and_stay_apart(database, writer):
    store = RunStore(database, writer, leaves=leaves)
    runs = [await store.begin(recipe()) for _ in range(20)]
    await asyncio.gather(*(run.settle() for run in runs))
    for run in runs:
        records, _ = await store.record_of(run.id)
        assert [record.seq for record in records] == list(range(5))


async def test_a_disk_that_is_full_is_told_before_anything_is_done(tmp_path, caplog):
    """The size of files is limited, as a full disk would; nothing of the run was begun."""
    async with await Database.open(tmp_path / "oracle.db") as database:
        writer = journal_writer(database.url, on_failure="stop")
        store = RunStore(database, writer, leaves=leaves)
        run = await store.begin(recipe())
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
        try:
            with pytest.raises(JournalError, match="the journal cannot be written"):
                await run.settle()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            writer.close()
    assert run.tree_run.context.ticks == 0
    assert "make sure that the database can be written" in caplog.text


async def test_by_a_setting_a_run_goes_on_without_a_record_and_says_so_loudly(tmp_path, caplog):
    async with await Database.open(tmp_path / "oracle.db") as database:
        writer = journal_writer(database.url, on_failure="memory")
        run = await RunStore(database, writer, leaves=leaves).begin(recipe())
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
        try:
            run.lease = None  # only the journal is looked at here
            outcome = await run.settle()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            writer.close()
    assert outcome.stop == "settled"
    assert "GOING ON WITHOUT A RECORD" in caplog.text


async def test_a_run_that_cannot_be_written_fails_alone_and_locks_nobody_out(database, writer):
    """Somebody else has taken the next number of the first run's records."""
    store = RunStore(database, writer, leaves=leaves)
    unlucky, other = await store.begin(recipe()), await store.begin(recipe())
    taken = (
        "INSERT INTO journal (run_id, seq, kind, body, at, turn, ordinal) "
        "VALUES (?, 2, 'answer', 'x', 0.0, 0, 0)"
    )
    await database.write(lambda c: c.execute(taken, [unlucky.id]))
    with pytest.raises(JournalError, match="the journal cannot be written"):
        await unlucky.settle()
    assert (await other.settle()).stop == "settled"
    assert (await store.runs.get(other.id)).status == "done"


async def test_a_process_whose_lease_was_taken_over_writes_nothing_more(database, writer):
    store = RunStore(database, writer, leaves=leaves)
    run = await store.begin(recipe())
    await database.write(lambda c: c.execute("UPDATE runs SET lease_owner = 'another'"))
    with pytest.raises(JournalError, match="another process has taken the run over"):
        await run.settle()
    assert await store.record_of(run.id) == ([], {})


async def test_a_lost_lease_ends_the_work_at_once(database, writer, monkeypatch):
    monkeypatch.setattr(database.backend, "renew_seconds", 0.01)
    store = RunStore(database, writer, leaves=leaves)
    streaming = asyncio.Event()
    run = await store.begin(recipe(leaf="stream"), services=lambda _: streaming)
    settling = asyncio.create_task(run.settle())
    await asyncio.wait_for(streaming.wait(), timeout=20)
    await database.write(lambda c: c.execute("UPDATE runs SET lease_owner = 'another'"))
    with pytest.raises(LeaseHeld, match="is held by another"):
        await asyncio.wait_for(settling, timeout=20)


async def test_what_was_streamed_before_a_cancellation_is_on_disk(database, writer):
    store = RunStore(database, writer, leaves=leaves)
    streamed = asyncio.Event()
    run = await store.begin(recipe(leaf="stream"), services=lambda _: streamed)
    settling = asyncio.create_task(run.settle())
    await asyncio.wait_for(streamed.wait(), timeout=20)
    settling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await settling
    records, _ = await store.record_of(run.id)
    assert [r.body for r in records if r.kind == "parts"] == [["a", "b"]]
    assert (await store.runs.get(run.id)).lease_owner is None


async def test_a_run_that_died_before_it_began_is_put_to_rest(database, writer):
    store = RunStore(database, writer, leaves=leaves)
    run = await store.begin(recipe())
    await let_go(database, run.id)
    with pytest.raises(InputError, match="died before it began"):
        await store.resume(run.id)
    assert (await store.runs.get(run.id)).stop_reason == "never_begun"


async def test_a_tree_that_cannot_be_loaded_leaves_no_run_behind(database, writer):
    store = RunStore(database, writer)
    with pytest.raises(InputError, match="no leaf"):
        await store.begin(recipe())
    assert await store.runs.newest() == []


async def test_odd_text_is_recorded_as_it_is(database, writer):
    store = RunStore(database, writer, leaves=leaves)
    run = await store.begin(recipe(leaf="odd"))
    assert (await run.settle()).stop == "settled"
    replay = await store.replay(run.id)
    assert (await replay.settle()).stop == "settled"


async def test_a_writer_that_is_closed_says_so(database):
    writer = journal_writer(database.url, on_failure="stop")
    writer.close()
    with pytest.raises(JournalError, match="closed"):
        await writer.sink("r", "me").flush()


async def test_a_run_that_cannot_even_be_begun_goes_on_in_memory_by_that_setting(tmp_path, caplog):
    database = await Database.open(tmp_path / "oracle.db")
    writer = journal_writer(database.url, on_failure="memory")
    store = RunStore(database, writer, leaves=leaves)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        run = await store.begin(recipe())
        assert (await run.settle()).stop == "settled"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        writer.close()
        await database.close()
    assert "GOING ON WITHOUT A RECORD" in caplog.text

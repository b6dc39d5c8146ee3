"""A disk that fills up at any moment: the user gets an answer, and nothing is done twice.

The size of files is limited, which fails a write as a full disk does.
"""

import asyncio
import os
import resource
import signal
import sqlite3
from contextlib import closing, contextmanager

import pytest

from oracle import ChunkType, Oracle
from oracle.cli.terminal.outcome import exit_code
from oracle.services.settings.own_changes import write_settings
from oracle.services.storage.database import Database
from oracle.services.storage.runs import Runs
from oracle.testing import Reply, ScriptedModel, ScriptedTools
from tests.asking import enough
from tests.scenarios import CODE, WRITE, search, yes

SOFT, HARD = resource.getrlimit(resource.RLIMIT_FSIZE)


def fill_the_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, HARD))


def free_the_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (SOFT, HARD))


@pytest.fixture(autouse=True)
def _a_disk_with_room():
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield
    free_the_disk()
    signal.signal(signal.SIGXFSZ, handler)


def oracle_of(folder, failure, *replies, tools=None):
    (folder / "oracle.toml").touch()
    write_settings(folder / "oracle.toml", {"journal.failure": failure})
    given = {"search_code": "auth.py:3 def login()", **(tools or {})}
    model = ScriptedModel(*replies)
    oracle = Oracle(project=folder, model=model, tools=ScriptedTools(given), approve=yes)
    return oracle, model


async def the_run(folder):
    async with await Database.open(folder / ".oracle" / "oracle.db") as database:
        return (await Runs(database).newest())[0]


@contextmanager
def no_traceback(capfd, caplog):
    yield
    told = capfd.readouterr().err + caplog.text
    assert "Traceback" not in told
    assert all(record.exc_info is None for record in caplog.records)


async def test_a_turn_that_cannot_be_recorded_is_halted_and_its_text_is_kept(
    tmp_path, capfd, caplog
):
    """The model would go on for ever: only the journal can end this turn."""

    def full(_):
        fill_the_disk()
        return Reply(text="It is in auth.py:3, as far as I see. ", hold=asyncio.Event())

    oracle, model = oracle_of(tmp_path, "stop", search(1), full)
    with no_traceback(capfd, caplog):
        answer = await asyncio.wait_for(oracle.ask(CODE), 30)
    assert answer.stop_reason == "store_failed"
    assert "It is in auth.py:3" in answer.text
    assert "oracle.db" in answer.detail
    assert len(model.requests) == 2
    done = {"stop_reason": answer.stop_reason, "error_kind": answer.error_kind}
    assert exit_code(done) == 74
    free_the_disk()
    run = await the_run(tmp_path)
    assert (run.status, run.stop_reason) == ("running", None)
    again, _ = oracle_of(tmp_path, "stop", enough("It is in auth.py:3."), enough("As before."))
    resumed = [chunk async for chunk in again.resume(run.id)]
    assert resumed[-1].type == ChunkType.DONE
    assert resumed[-1]["stop_reason"] != "store_failed"


async def test_without_a_record_an_answer_is_whole_and_exits_well(tmp_path, capfd, caplog):
    def full(_):
        fill_the_disk()
        return enough("It is in auth.py:3.")

    oracle, _ = oracle_of(tmp_path, "memory", search(1), full)
    with no_traceback(capfd, caplog):
        answer = await asyncio.wait_for(oracle.ask(CODE), 30)
    assert (answer.text, answer.stop_reason) == ("It is in auth.py:3.", "answered")
    assert answer.context_id is None
    assert "GOING ON WITHOUT A RECORD" in caplog.text


@pytest.mark.parametrize("room_again", [True, False])
async def test_a_run_that_goes_on_without_a_record_never_writes_twice(tmp_path, caplog, room_again):
    """Either the database notes that it cannot be resumed, or nothing is written."""
    written = []

    async def look(arguments):
        if arguments["query"] == "2":
            fill_the_disk()
            # Records that wait are written within a moment, and these cannot be. If none waits, the
            # result of this call is the first that cannot be written.
            for _ in range(300):
                if "GOING ON" in caplog.text:
                    break
                await asyncio.sleep(0.01)
        return f"auth.py:{arguments['query']} def login()"

    def write(_):
        written.append("note")
        return "notes/x.md"

    def go_on(_):
        if room_again:
            free_the_disk()
        return WRITE

    noted = Reply(calls=[("write_note", {"query": "q"})])
    held = Reply(text="It is", hold=asyncio.Event())
    oracle, _ = oracle_of(
        tmp_path,
        "memory",
        *[search(1), search(2), go_on, noted, held],
        tools={"write_note": write, "search_code": look},
    )
    stream = oracle.stream(CODE)
    async for chunk in stream:
        if chunk.type == ChunkType.CONTENT and chunk.content.startswith("It is"):
            break
    assert written == (["note"] if room_again else [])
    free_the_disk()
    await die()
    run = await the_run(tmp_path)
    assert (run.stop_reason == "not_recorded") == room_again
    if room_again:
        again, model = oracle_of(tmp_path, "memory", noted, tools={"write_note": write})
        resumed = [chunk async for chunk in again.resume(run.id)]
        assert "cannot be resumed" in resumed[-1]["answer"]
        assert (written, model.requests) == (["note"], [])


async def die():
    """The process is gone: no clean-up, and the lease runs out."""
    work = [task for task in asyncio.all_tasks() if "Run._work" in repr(task.get_coro())]
    for task in work:
        task.cancel()
    await asyncio.gather(*work, return_exceptions=True)


@pytest.mark.parametrize("pages", range(0, 24, 3))
async def test_a_database_that_cannot_grow_at_any_moment_still_gives_an_answer(
    tmp_path, pages, capfd, caplog
):
    oracle, _ = oracle_of(tmp_path, "stop", search(1), enough("It is in auth.py:3."))
    file = tmp_path / ".oracle" / "oracle.db"
    file.parent.mkdir()
    async with await Database.open(file):
        pass
    # Room for some more pages, counted in the log that all writes go to.
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096 * pages + 1, HARD))
    with no_traceback(capfd, caplog):
        answer = await asyncio.wait_for(oracle.ask(CODE), 30)
    assert answer.text
    assert answer.stop_reason in ("answered", "store_failed")
    if answer.stop_reason == "store_failed":
        assert ".oracle" in answer.detail


async def test_a_database_that_disappears_in_mid_stream_is_named(tmp_path, capfd, caplog):
    def lose(_):
        for file in (tmp_path / ".oracle").glob("oracle.db*"):
            file.unlink()
        return enough("It is in auth.py:3.")

    oracle, _ = oracle_of(tmp_path, "stop", search(1), lose)
    with no_traceback(capfd, caplog):
        answer = await asyncio.wait_for(oracle.ask(CODE), 30)
    assert "It is in auth.py:3." in answer.text
    assert answer.stop_reason == "store_failed"
    assert "oracle.db was moved, deleted or replaced" in answer.detail


async def test_a_database_that_is_replaced_in_mid_stream_is_named(tmp_path):
    def replace(_):
        with closing(sqlite3.connect(tmp_path / "other.db")) as other:
            other.execute("CREATE TABLE t (x)")
        os.replace(tmp_path / "other.db", tmp_path / ".oracle" / "oracle.db")
        return enough("It is in auth.py:3.")

    oracle, _ = oracle_of(tmp_path, "stop", search(1), replace)
    answer = await asyncio.wait_for(oracle.ask(CODE), 30)
    assert "It is in auth.py:3." in answer.text
    assert answer.stop_reason == "store_failed"

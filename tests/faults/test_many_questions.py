"""Many questions at once to one `Oracle`, in one event loop, in several, and at its end."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from oracle import ChunkType, Oracle
from oracle.errors import InputError
from oracle.services.storage.database import Database
from oracle.services.storage.runs import Runs
from oracle.testing import ScriptedModel, ScriptedTools
from tests.asking import enough
from tests.scenarios import CODE, TOOLS, held, search

pytestmark = pytest.mark.extra

ANSWER = "It is in auth.py:3."


def look_then_answer(request):
    """By what the conversation holds, because many questions share the model."""
    has_looked = any(message["role"] == "tool" for message in request.messages)
    return enough(ANSWER) if has_looked else search(1)


def oracle_of(folder, *replies, **options):
    (folder / "oracle.toml").touch()
    model = ScriptedModel(*replies or [look_then_answer], repeats_last=True)
    return Oracle(project=folder, model=model, tools=ScriptedTools(TOOLS), **options)


def open_files():
    return len(os.listdir("/proc/self/fd"))


async def ask_at_once(oracle, count):
    """Ask, check that nothing failed, and return the CPU seconds for one question.

    Of this process alone: how long an answer takes depends on what else the machine does.
    """
    began = time.process_time()
    answers = await asyncio.gather(*(oracle.ask(CODE) for _ in range(count)))
    seconds = time.process_time() - began
    assert [answer.text for answer in answers if answer.error_kind] == []
    assert len({answer.context_id for answer in answers}) == count
    return seconds / count


async def runs_of(folder):
    async with await Database.open(folder / ".oracle" / "oracle.db") as database:
        return await Runs(database).newest()


# -- one event loop --------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [50, 200])
async def test_questions_at_once_are_all_answered_and_recorded(tmp_path, count):
    async with oracle_of(tmp_path) as oracle:
        await oracle.ask(CODE)
        before = open_files()
        crowd = asyncio.create_task(ask_at_once(oracle, count))
        most = before
        while not crowd.done():
            await asyncio.wait({crowd}, timeout=0.05)
            most = max(most, open_files())
        await crowd
    assert most - before < 25
    runs = await runs_of(tmp_path)
    assert [run.status for run in runs] == ["done"] * (count + 1)


async def test_questions_share_one_store_also_without_a_block(tmp_path):
    oracle = oracle_of(tmp_path)
    before = threading.active_count()
    most = 0

    async def ask():
        nonlocal most
        await oracle.ask(CODE)
        most = max(most, threading.active_count())

    await asyncio.gather(*(ask() for _ in range(30)))
    # Readers, the writer, journal, events, and the threads of the event loop itself.
    assert most - before < 8 + (os.cpu_count() or 1) + 4
    assert len(await runs_of(tmp_path)) == 30


@pytest.mark.parametrize(
    ("model", "address", "count"),
    [
        ("scripted", "sqlite", 1000),
        ("scripted", "postgresql", 300),
        ("embedded", "sqlite", 300),
        ("embedded", "postgresql", 300),
    ],
)
async def test_a_thousand_at_once(tmp_path, request, monkeypatch, model, address, count):
    monkeypatch.setenv("ORACLE_TRUST", str(tmp_path))
    (tmp_path / "auth.py").write_text("def login(user):\n    return user\n")
    settings = ""
    if address == "postgresql":
        url = request.getfixturevalue("postgresql_url").with_password()
        settings = f"[database]\nurl = '{url.replace('+psycopg', '')}'\n"
    (tmp_path / "oracle.toml").write_text(settings)
    async with oracle_of(tmp_path) if model == "scripted" else Oracle(project=tmp_path) as oracle:
        await oracle.ask(CODE)
        few, many = await ask_at_once(oracle, count // 10), await ask_at_once(oracle, count)
    assert many < 2 * few


async def test_of_two_questions_that_resume_a_run_one_gets_it(tmp_path):
    """They share a store, and must not share the lease."""
    oracle = oracle_of(tmp_path, held("It is in "))
    stream = oracle.stream(CODE)
    async for chunk in stream:
        if chunk.type == ChunkType.CONTENT:
            break
    (run,) = await runs_of(tmp_path)
    (refusal,) = [chunk async for chunk in oracle.resume(run.id) if chunk.type == ChunkType.DONE]
    assert refusal["stop_reason"] == "held_elsewhere"
    await stream.aclose()


# -- several event loops and threads ---------------------------------------------------------------


def test_one_oracle_serves_many_threads(tmp_path):
    oracle = oracle_of(tmp_path)
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda _: oracle.ask_sync(CODE), range(48)))
    assert {answer.stop_reason for answer in answers} == {"answered"}


def test_one_oracle_serves_one_event_loop_after_another(tmp_path):
    async def build():
        return oracle_of(tmp_path)

    oracle = asyncio.run(build())
    first = asyncio.run(oracle.ask(CODE))
    second = asyncio.run(oracle.ask("And then?", first.context_id))
    assert (first.text, second.text) == (ANSWER, ANSWER)


def test_a_block_that_was_entered_in_one_event_loop_can_be_left_in_another(tmp_path):
    oracle = oracle_of(tmp_path)
    with asyncio.Runner() as first:
        first.run(oracle.__aenter__())
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(oracle.ask_sync, CODE).result().text == ANSWER
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, oracle.close()).result()
    with pytest.raises(InputError, match="is closed"):
        oracle.ask_sync(CODE)


def test_a_question_of_another_thread_can_be_cancelled(tmp_path):
    oracle = oracle_of(tmp_path, held("It is in the fi"))
    said = threading.Event()

    async def ask():
        async for chunk in oracle.stream(CODE):
            if chunk.type == ChunkType.CONTENT:
                said.set()
        return chunk

    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(asyncio.run, ask())
        assert said.wait(30)
        oracle.cancel("enough")
        assert asked.result(30)["stop_reason"] == "cancelled"


# -- the end ---------------------------------------------------------------------------------------


async def test_closing_ends_the_questions_under_way_with_what_they_have(tmp_path):
    oracle = oracle_of(tmp_path, held("It is in the fi"))
    talking = asyncio.Event()

    async def ask():
        async for chunk in oracle.stream(CODE):
            if chunk.type == ChunkType.CONTENT:
                talking.set()
        return chunk

    asked = [asyncio.create_task(ask()) for _ in range(5)]
    await talking.wait()
    await oracle.close()
    await oracle.close()
    ends = await asyncio.gather(*asked)
    assert {end["stop_reason"] for end in ends} == {"cancelled"}
    assert [run.status for run in await runs_of(tmp_path)] == ["done"] * 5


async def test_a_closed_oracle_says_so(tmp_path):
    oracle = oracle_of(tmp_path)
    await oracle.close()
    for use in (lambda: oracle.stream(CODE), lambda: oracle.resume("1")):
        with pytest.raises(InputError, match="this Oracle is closed; create another one"):
            use()
    with pytest.raises(InputError, match="this Oracle is closed"):
        await oracle.ask(CODE)
    with pytest.raises(InputError, match="this Oracle is closed"):
        async with oracle:
            pass


async def test_a_question_that_its_event_loop_drops_can_be_resumed_at_once(tmp_path):
    """As `asyncio.run` does at its end with whatever is left."""
    oracle = oracle_of(tmp_path, held("It is in the fi"))
    said = threading.Event()

    async def ask():
        async for chunk in oracle.stream(CODE):
            if chunk.type == ChunkType.CONTENT:
                said.set()

    async def leave_it_behind():
        task = asyncio.create_task(ask())
        await asyncio.to_thread(said.wait, 30)
        assert not task.done()

    await asyncio.to_thread(asyncio.run, leave_it_behind())
    (run,) = await runs_of(tmp_path)
    assert (run.status, run.lease_owner) == ("running", None)
    resumed = [chunk async for chunk in oracle_of(tmp_path).resume(run.id)]
    assert resumed[-1].type == ChunkType.DONE


FORGETFUL = """
import asyncio, sys
from pathlib import Path
from tests.faults.test_many_questions import oracle_of, CODE

async def main():
    oracle = oracle_of(Path(sys.argv[1]))
    await oracle.__aenter__()
    stream = oracle.stream(CODE)
    await anext(stream)
    print((await oracle.ask(CODE)).text, flush=True)

asyncio.run(main())
"""


def test_an_oracle_that_nobody_closes_lets_the_process_end_without_a_warning(tmp_path):
    command = [sys.executable, "-X", "dev", "-c", FORGETFUL, str(tmp_path)]
    root = os.getcwd()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([root, *filter(None, sys.path)])}
    ended = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert (ended.stdout, ended.returncode) == (f"{ANSWER}\n", 0)
    assert "ResourceWarning" not in ended.stderr
    assert "Traceback" not in ended.stderr

"""A question whose process dies is answered by another one; nothing is written twice."""

import json
import os
import sys
from pathlib import Path

import pytest

from oracle.bt.wrappers.recipe import services_from
from oracle.bt.wrappers.run_store import RunStore
from oracle.services.storage.database import Database
from oracle.services.storage.exchanges import Exchanges
from oracle.services.storage.runs import Runs
from tests import processes
from tests.default_run import thinned

WORKER = Path(__file__).with_name("crashing_agent.py")
ROOT = Path(__file__).parents[3]
MOMENTS = (
    "in the stream",
    "in the stream, kept",
    "between two tools",
    "before the write",
    "after the write",
    "before the exchange",
    "after the exchange",
)


def work(folder, command, argument, moment=""):
    return processes.run(
        [sys.executable, WORKER, command, "oracle.db", argument],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}", "MOMENT": moment},
        capture_output=True,
        text=True,
        timeout=300,
    )


async def let_go(database):
    """The lease of a process that died runs out; the test need not wait for that."""
    (run,) = await Runs(database).newest()
    assert run.status == "running"
    await Runs(database).release(run.id, run.lease_owner)
    return run.id


@pytest.mark.parametrize("moment", thinned(MOMENTS, 3))
async def test_another_process_answers_and_nothing_is_done_twice(moment, tmp_path):
    died = work(tmp_path, "ask", moment)
    assert died.returncode == 9, died.stderr
    async with await Database.open(tmp_path / "oracle.db") as database:
        run_id = await let_go(database)
        resumed = work(tmp_path, "resume", run_id)
        assert resumed.returncode == 0, resumed.stderr
        done = json.loads(resumed.stdout)[-1]
        assert (done["stop_reason"], done["answer"]) == ("answered", "It is in auth.py:3.")
        (kept,) = await Exchanges(database).of_session(
            (await Runs(database).get(run_id)).session_id
        )
        assert (kept.id, kept.answer) == (done["context_id"], done["answer"])
        replay = await RunStore(database).replay(run_id, services=services_from)
        assert replay.summary(await replay.settle()) == replay.records[-1].body
    world = (tmp_path / "world.txt").read_text().splitlines()
    assert world.count("write") == 1


async def test_a_write_of_which_nobody_knows_is_not_done_again_but_reported(tmp_path):
    work(tmp_path, "ask", "after the write")
    async with await Database.open(tmp_path / "oracle.db") as database:
        run_id = await let_go(database)
    said = json.loads(work(tmp_path, "resume", run_id, "nobody knows").stdout)
    results = [chunk for chunk in said if chunk["type"] == "tool_result"]
    assert "whether it was done is not known (the disk is gone)" in results[-1]["content"]
    assert said[-1]["stop_reason"] == "partial_answer"
    assert said[-1]["missing"] == ["it is not known whether write_note was done"]
    assert (tmp_path / "world.txt").read_text().count("write") == 1


async def test_what_was_streamed_before_the_crash_is_a_draft_of_its_own(tmp_path):
    work(tmp_path, "ask", "in the stream, kept")
    async with await Database.open(tmp_path / "oracle.db") as database:
        run_id = await let_go(database)
    said = json.loads(work(tmp_path, "resume", run_id).stdout)
    ends = [(chunk["turn"], chunk["outcome"]) for chunk in said if chunk["type"] == "turn_end"]
    assert ends[-2:] == [(4, "cut"), (5, "answer")]

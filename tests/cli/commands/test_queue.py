"""`oracle queue`, `oracle workers` and `oracle worker`: what waits, who works, and how to stop."""

import asyncio
import json
import signal

import pytest
from typer.testing import CliRunner

from oracle.cli.main import app
from oracle.services.dispatch.queue import MOST_FAILURES, Queue
from oracle.services.storage.database import Database, default_url
from oracle.services.storage.runs import QUEUED, Runs
from oracle.settings import load_settings
from tests.processes import ORACLE, PIPE, Process


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    (tmp_path / "oracle.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def oracle(*arguments):
    """In this process: what it printed to stdout and to stderr, and the error."""
    result = CliRunner().invoke(app, arguments)
    return result.stdout, result.stderr, result.exception and str(result.exception)


def in_database(work):
    async def run():
        async with await Database.open(default_url(load_settings())) as database:
            return await work(database)

    return asyncio.run(run())


def waiting(run_id, project):
    in_database(
        lambda database: Runs(database).begin(
            run_id=run_id,
            question="Where is the login?",
            tree="oracle-agent",
            at=1.0,
            owner=None,
            door=QUEUED,
            project=project.name,
            request={"question": "Where is the login?"},
        )
    )


def stuck(run_id, project):
    async def fail(database):
        for _ in range(MOST_FAILURES):
            await Queue(database, project.name).failed(run_id, {"detail": "the model is gone"})

    waiting(run_id, project)
    in_database(fail)


def listed():
    rows = json.loads(oracle("queue", "--json")[0])
    return [(row["run_id"], row["state"], row["problem"]) for row in rows]


def test_without_runs_nothing_waits():
    assert oracle("queue") == (
        "",
        "oracle: no run waits for a worker, and none is worked on\n",
        None,
    )
    assert listed() == []


def test_a_list_says_what_waits_and_what_is_stuck_and_why(project):
    waiting("aaaaaaaa1", project)
    stuck("bbbbbbbb1", project)
    assert listed() == [
        ("aaaaaaaa1", "waiting", None),
        ("bbbbbbbb1", "stuck", "the model is gone"),
    ]
    told = oracle("queue")[0]
    assert "Where is the login?" in told
    assert "the model is gone" in told


def test_a_run_that_is_stuck_is_tried_again(project):
    stuck("bbbbbbbb1", project)
    assert "run bbbbbbbb1 waits for a worker again" in oracle("queue", "retry", "bbbb")[1]
    assert listed() == [("bbbbbbbb1", "waiting", None)]


def test_a_run_that_waits_is_cancelled_and_is_done(project):
    waiting("aaaaaaaa1", project)
    assert "run aaaaaaaa1 is being cancelled" in oracle("queue", "cancel", "aaaa")[1]
    assert listed() == []
    assert "has ended" in oracle("queue", "cancel", "aaaa")[2]
    assert "there is nothing to retry" in oracle("queue", "retry", "aaaa")[2]


def test_a_worker_is_listed_and_leaves_in_order(project):
    assert "there are no workers" in oracle("workers")[1]
    worker = Process([*ORACLE, "worker", "-c", "3"], cwd=project, stderr=PIPE, text=True)
    assert "is ready" in worker.stderr.readline()
    while not (rows := json.loads(oracle("workers", "--json")[0])):
        pass
    (row,) = rows
    assert (row["state"], row["concurrency"], row["is_alive"]) == ("working", 3, True)
    assert row["id"].split(":")[1] == str(worker.pid)
    assert row["id"] in oracle("workers")[0]
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 0
    assert json.loads(oracle("workers", "--json")[0]) == []

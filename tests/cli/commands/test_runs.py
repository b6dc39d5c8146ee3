"""`oracle runs`, `oracle run` and `oracle replay`, in processes of their own, on a database."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

WORKER = Path(__file__).parents[2] / "bt" / "wrappers" / "crashing.py"
AGENT = WORKER.with_name("crashing_agent.py")
ROOT = Path(__file__).parents[3]
LEAVES = ("--leaves", str(WORKER))


@pytest.fixture
def project(tmp_path):
    (tmp_path / "oracle.toml").touch()
    (tmp_path / ".oracle").mkdir()
    return tmp_path


def oracle(project, *arguments):
    return subprocess.run(
        [sys.executable, "-c", "from oracle.cli.main import run; run()", *arguments],
        cwd=project,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )


def begin(project, die_after=10**6):
    database = project / ".oracle" / "oracle.db"
    subprocess.run(
        [sys.executable, WORKER, "begin", str(database), str(die_after)],
        cwd=project,
        capture_output=True,
        timeout=60,
    )
    (run,) = json.loads(oracle(project, "runs", "--json").stdout)
    return run["id"]


def test_without_runs_there_is_nothing_to_list(project):
    result = oracle(project, "runs")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "no runs yet\n")


def test_a_run_is_listed_shown_and_replayed(project):
    run = begin(project)
    listed = oracle(project, "runs").stdout
    assert run[:8] in listed
    assert "settled" in listed
    assert "does it survive?" in listed

    shown = oracle(project, "run", "show", run[:8]).stdout
    assert "s/step 1/look  look 1 -> 1" in shown
    assert "s/write" in shown
    assert "settled: success" in shown

    replayed = oracle(project, "replay", run[:8], *LEAVES)
    assert (replayed.returncode, replayed.stderr) == (0, "")
    assert replayed.stdout.endswith("ticks: the same\n")
    assert (project / "world.txt").read_text().count("look 1") == 1


def test_a_trace_tells_each_change_of_status(project):
    traced = oracle(project, "replay", begin(project), "--trace", *LEAVES).stdout
    assert "success  s/step 1/look" in traced


def test_records_are_there_as_json(project):
    records = json.loads(oracle(project, "run", "show", begin(project), "--json").stdout)
    assert [records[0]["kind"], records[-1]["kind"]] == ["start", "end"]


def test_a_run_that_died_says_who_holds_it_until_its_lease_has_run_out(project):
    run = begin(project, die_after=5)
    result = oracle(project, "run", "resume", run, *LEAVES)
    assert result.returncode == 75
    assert "is held by" in result.stderr


@pytest.mark.parametrize("command", [("run", "show"), ("replay",), ("run", "resume")])
def test_a_run_that_is_not_there_is_named(project, command):
    begin(project)
    result = oracle(project, *command, "zzz")
    assert result.returncode == 2
    assert result.stderr.startswith("oracle: no run 'zzz'; `oracle runs` shows which there are")


def test_a_replay_without_its_leaves_says_how_to_name_them(project):
    result = oracle(project, "replay", begin(project))
    assert result.returncode == 2
    assert "no leaf 'crashing.look' is registered" in result.stderr
    assert "--leaves" in result.stderr


def ask(project, moment="never"):
    """Have the agent answer a question, in a process that dies at that moment."""
    subprocess.run(
        [sys.executable, AGENT, "ask", ".oracle/oracle.db", moment],
        cwd=project,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
        capture_output=True,
        timeout=60,
    )
    (run,) = json.loads(oracle(project, "runs", "--json").stdout)
    return run["id"]


def let_go(project):
    with closing(sqlite3.connect(project / ".oracle" / "oracle.db")) as connection, connection:
        connection.execute("UPDATE runs SET lease_owner = NULL, lease_until = NULL")


def test_a_run_of_the_agent_is_listed_shown_audited_and_replayed(project):
    run = ask(project)
    assert "answered" in oracle(project, "runs").stdout
    shown = oracle(project, "run", "show", run[:8]).stdout
    assert "turn 4" in shown
    assert "the model  It is in auth.py:3." in shown
    assert "{'tool': 'search_code', 'arguments': {'query': '1'}} -> " in shown
    audited = oracle(project, "audit", "--run", run[:8]).stdout
    assert audited.count("tool.called") == 3
    assert 'stop_reason="answered"' in audited
    replayed = oracle(project, "replay", run[:8])
    assert (replayed.returncode, replayed.stderr) == (0, "")
    assert replayed.stdout.endswith(": the same\n")


def test_a_question_whose_process_died_at_the_end_is_resumed_without_a_model(project):
    run = ask(project, "before the exchange")
    let_go(project)
    result = oracle(project, "run", "resume", run[:8])
    assert (result.returncode, result.stdout, result.stderr) == (0, "It is in auth.py:3.\n", "")
    again = oracle(project, "run", "resume", run[:8])
    assert (again.returncode, again.stdout) == (2, "")
    assert "is done" in again.stderr


def test_a_question_that_is_resumed_without_a_model_ends_with_what_was_found(project):
    run = ask(project, "in the stream")
    let_go(project)
    (project / "oracle.toml").write_text(
        '[model]\nname = "openai:gone"\nbase_url = "http://127.0.0.1:9/v1"\n'
    )
    result = oracle(project, "run", "resume", run)
    assert "auth.py:3" in result.stdout
    assert "oracle: model_unavailable: " in result.stderr


def test_a_question_that_another_process_holds_is_left_to_it(project):
    result = oracle(project, "run", "resume", ask(project, "in the stream"))
    assert (result.returncode, result.stdout) == (75, "")
    assert "is held by" in result.stderr

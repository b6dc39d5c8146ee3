"""`oracle runs`, `oracle run` and `oracle replay`, in processes of their own, on a database."""

import json
import os
import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from signal import SIGKILL

import pytest

from oracle.bt.wrappers.retelling import ToldRun
from oracle.cli.commands.runs import heading_of
from oracle.models.session import StoredRun
from oracle.services.journal.record import Place, Record
from oracle.services.story.story import Story
from oracle.testing.servers import Reply, Stall, openai
from tests import processes
from tests.cli.processes import Terminal, make_project, model_serving, says

WORKER = Path(__file__).parents[2] / "bt" / "wrappers" / "crashing.py"
AGENT = WORKER.with_name("crashing_agent.py")
ROOT = Path(__file__).parents[3]
LEAVES = ("--leaves", str(WORKER))


@pytest.fixture
def project(tmp_path):
    (tmp_path / "oracle.toml").touch()
    (tmp_path / ".oracle").mkdir()
    return tmp_path


def oracle(project, *arguments, env=None):
    return processes.run(
        [*processes.ORACLE, *arguments],
        cwd=project,
        env={**os.environ, "NO_COLOR": "1", **(env or {})},
        capture_output=True,
        text=True,
        timeout=300,
    )


def begin(project, die_after=10**6):
    database = project / ".oracle" / "oracle.db"
    processes.run(
        [sys.executable, WORKER, "begin", str(database), str(die_after)],
        cwd=project,
        capture_output=True,
        timeout=300,
    )
    (run,) = json.loads(oracle(project, "runs", "--json").stdout)
    return run["id"]


def test_without_runs_there_is_nothing_to_list(project):
    result = oracle(project, "runs")
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr == 'oracle: no runs yet; ask something first: oracle ask "where is …?"\n'


def test_a_run_is_listed_shown_and_replayed(project):
    run = begin(project)
    listed = oracle(project, "runs").stdout
    assert run[:8] in listed
    assert listed.splitlines()[0].split() == ["RUN", "WHEN", "ENDED", "TIME", "COST", "QUESTION"]
    assert "ended" in listed
    assert "does it survive?" in listed

    shown = oracle(project, "run", "show", run[:8]).stdout
    assert "  look 1 → 1\n      by s › step 1 › look\n" in shown
    assert "by s › write" in shown
    assert "Ended: ended" in shown

    replayed = oracle(project, "replay", run[:8], *LEAVES)
    assert (replayed.returncode, replayed.stderr) == (0, "")
    assert replayed.stdout.endswith(" ticks)\n")
    assert (project / "world.txt").read_text().count("look 1") == 1


def test_a_trace_tells_each_change_of_status(project):
    traced = oracle(project, "replay", begin(project), "--trace", *LEAVES).stdout
    assert "success  s/step 1/look" in traced


def test_json_has_the_run_its_story_and_all_records(project):
    run = begin(project)
    told = json.loads(oracle(project, "run", "show", "--json").stdout)
    kinds = [record["kind"] for record in told["records"]]
    assert (told["run"]["id"], kinds[0], kinds[-1]) == (run, "start", "end")
    assert told["story"]["stop_reason"] == "settled"


def test_a_run_whose_process_died_here_is_resumed_at_once(project):
    run = begin(project, die_after=5)
    result = oracle(project, "run", "resume", run, *LEAVES)
    assert (result.returncode, result.stdout) == (0, "settled: success\n")


def test_a_run_of_another_process_says_who_holds_it_until_its_lease_has_run_out(project):
    run = begin(project, die_after=5)
    hold_elsewhere(project)
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


def ask(project, moment="never", database=".oracle/oracle.db", env=None):
    """Have the agent answer a question, in a process that dies at that moment."""
    processes.run(
        [sys.executable, AGENT, "ask", database, moment],
        cwd=project,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
        capture_output=True,
        timeout=300,
    )
    (run,) = json.loads(oracle(project, "runs", "--json", "--all", env=env).stdout)
    return run["id"]


def change(project, statement, database=".oracle/oracle.db"):
    with closing(sqlite3.connect(project / database)) as connection, connection:
        connection.execute(statement)


def hold_elsewhere(project):
    """As if a process of another machine worked on it, whose end cannot be seen from here."""
    change(project, "UPDATE runs SET lease_owner = 'elsewhere:1:0123456789ab'")


def let_go(project, **database):
    change(project, "UPDATE runs SET lease_owner = NULL, lease_until = NULL", **database)


def test_a_run_of_the_agent_is_listed_shown_audited_and_replayed(project):
    run = ask(project)
    assert "answered" in oracle(project, "runs").stdout
    shown = oracle(project, "run", "show", run[:8]).stdout
    assert "\nTurn 4 · " in shown
    assert "\nAnswer\n  It is in auth.py:3.\n\nEnded: answered\n" in shown
    assert '  search_code("1") → ' in shown
    audited = oracle(project, "audit", "--run", run[:8]).stdout
    assert audited.count("tool.called") == 3
    assert "ended: answered after 4 turns" in audited
    replayed = oracle(project, "replay", run[:8])
    assert (replayed.returncode, replayed.stderr) == (0, "")
    assert ": the same decisions and answer (" in replayed.stdout
    as_json = json.loads(oracle(project, "replay", "LAST", "--json").stdout)
    assert (as_json["run_id"], as_json["same"], as_json["different"]) == (run, True, [])


def test_a_question_whose_process_died_at_the_end_is_resumed_without_a_model(project):
    run = ask(project, "before the exchange")
    let_go(project)
    result = oracle(project, "run", "resume")
    assert (result.returncode, result.stdout) == (0, "It is in auth.py:3.\n")
    written, sources = result.stderr.splitlines()
    assert written == "oracle: wrote notes/x.md"
    assert sources.startswith("sources: auth.py:3 · ")
    again = oracle(project, "run", "resume", run[:8])
    assert (again.returncode, again.stdout) == (2, "")
    assert "is done" in again.stderr


def test_a_question_that_is_resumed_without_a_model_ends_with_what_was_found(project):
    run = ask(project, "in the stream")
    let_go(project)
    (project / "oracle.toml").write_text(
        '[model]\nname = "openai:gone"\nbase_url = "http://127.0.0.1:9/v1"\n'
    )
    refused = oracle(project, "run", "resume", run)
    assert refused.returncode == 2
    assert "was begun with scripted, and the model here is openai:gone" in refused.stderr
    _, _, _, *step = refused.stderr.split("`")[3].split()
    result = oracle(project, "run", "resume", run, *step[1:])
    assert "auth.py:3" in result.stdout
    assert "oracle: cannot reach openai:gone" in result.stderr
    assert result.returncode == 69
    shown = oracle(project, "run", "show").stdout
    assert "model scripted · " in shown
    assert "resumed 1 time with openai:gone" in shown
    before, _, after = shown.partition(
        "the process died here, and another one resumed the run, with the model openai:gone"
    )
    assert 'search_code("1")' in before
    assert "Ended: model unavailable" in after
    audited = oracle(project, "audit", "--run", run, "--type", "run.started").stdout
    assert "resumed: " in audited
    assert "(model openai:gone, tree" in audited


def test_a_question_that_another_process_holds_is_left_to_it(project):
    run = ask(project, "in the stream")
    hold_elsewhere(project)
    result = oracle(project, "run", "resume", run, "--json", "--model", "embedded")
    assert result.returncode == 75
    assert json.loads(result.stdout.splitlines()[-1])["run_id"] == run
    assert "is held by" in result.stdout


# -- the door of `ask` -----------------------------------------------------------------------------


def test_a_question_asked_outside_of_a_project_can_be_resumed(tmp_path):
    """Its database is in the user's state folder; no project is needed."""
    database, env = "state/oracle/oracle.db", {"XDG_STATE_HOME": str(tmp_path / "state")}
    (tmp_path / "state" / "oracle").mkdir(parents=True)
    run = ask(tmp_path, "before the exchange", database, env)
    let_go(tmp_path, database=database)
    result = oracle(tmp_path, "run", "resume", run[:8], env=env)
    assert (result.returncode, result.stdout) == (0, "It is in auth.py:3.\n"), result.stderr


def test_a_run_whose_process_died_is_interrupted_in_every_list(project):
    ask(project, "before the exchange")
    let_go(project)
    for command in ("runs", "sessions"):
        listed = oracle(project, command).stdout
        assert ("interrupted" in listed, "running" in listed) == (True, False), listed


def test_a_resumed_question_is_streamed_as_json_and_traced(project):
    run = ask(project, "before the exchange")
    let_go(project)
    result = oracle(project, "run", "resume", run, "--json", "--trace", "--quiet")
    chunks = [json.loads(line) for line in result.stdout.splitlines()]
    assert {"content", "tool_result", "node", "done"} <= {chunk["type"] for chunk in chunks}
    assert chunks[-1]["answer"] == "It is in auth.py:3."
    assert any(line.startswith("success") for line in result.stderr.splitlines())


def test_quiet_and_verbose_are_the_same_as_for_ask(project):
    run = ask(project, "before the exchange")
    let_go(project)
    assert oracle(project, "run", "resume", run, "-q", "-v").returncode == 2
    result = oracle(project, "run", "resume", run, "--verbose")
    assert "tool       search_code" in result.stderr
    assert "answered · 4 turns" in result.stderr


def test_ctrl_c_stops_a_resumed_question_and_keeps_what_there_is(project):
    run = ask(project, "in the stream")
    let_go(project)
    text = openai.text("So far. ")
    stalling = Reply(body=[*openai.beginning(), *openai.events(text), Stall()])
    with model_serving(stalling) as (env, server):
        terminal = Terminal("run", "resume", run, "--model", "openai:test", env=env, cwd=project)
        terminal.until("So far.")
        assert terminal.type("\x03").end() == 130
    assert "it was cancelled (Ctrl-C)" in terminal.shown
    assert server.left.is_set()


@pytest.mark.parametrize(("flags", "key"), [((), "y\r"), (("--yes",), "")])
def test_a_resumed_question_can_ask_for_a_yes(tmp_path, flags, key):
    """The first process is killed while it waits for the answer of the model."""
    project = make_project(tmp_path)
    wanting = says(type_="need_capability", capability="write_note", reason="keep it")
    stalling = Reply(body=[*openai.beginning(), *openai.events(openai.text("Hm. ")), Stall()])
    with model_serving(stalling) as (env, _):
        first = Terminal("ask", "hello there", env=env, cwd=project).until("Hm.")
        os.kill(first.pid, SIGKILL)
        first.end()
    (run,) = json.loads(oracle(project, "runs", "--json").stdout)
    let_go(project)
    with model_serving(wanting, says("Done.")) as (env, server):
        terminal = Terminal("run", "resume", run["id"], *flags, env=env, cwd=project)
        if key:
            terminal.until("oracle: Allow write_note? keep it [y/N] ").type(key)
        assert terminal.end() == 0
    offered = [tool["function"]["name"] for tool in server.requests[-1].body.get("tools", [])]
    assert "write_note" in offered


# -- recordings of an older version ----------------------------------------------------------------


def test_a_run_of_an_older_version_is_listed_and_shown_but_not_replayed_or_resumed(project):
    run = ask(project, "before the exchange")
    let_go(project)
    change(project, "UPDATE journal SET body = json_remove(body, '$[0].format') WHERE seq = 0")
    assert run[:8] in oracle(project, "runs").stdout
    shown = oracle(project, "run", "show", run).stdout
    assert "Told from the record alone: " in shown
    assert "\nTurn 4\n" in shown
    for command in (["replay"], ["run", "resume"]):
        result = oracle(project, *command, run)
        assert (result.returncode, result.stdout) == (2, "")
        assert f"oracle: run {run} was recorded by an older version" in result.stderr
        assert "it cannot be replayed or resumed" in result.stderr


def test_an_interrupted_run_is_told_as_far_as_it_went(project):
    run = ask(project, "before the write")
    shown = oracle(project, "run", "show")
    assert re.search(
        r'  write_note\("q"\) → failed: no result\n\n'
        rf"Interrupted: `oracle run resume {run}` can go on with it in \d+ s\n\Z",
        shown.stdout,
    )
    assert shown.stderr == ""
    replayed = oracle(project, "replay")
    assert (replayed.returncode, replayed.stderr.count("\n")) == (4, 1)
    assert f"run {run} was interrupted" in replayed.stderr


def test_the_heading_names_what_was_attached_and_what_the_run_continues():
    attached = [{"where": "a.py:1-40"}, {"where": "git diff"}]
    board = {"attached": attached, "attachment": "x" * 1_200}
    start = Record(
        seq=0, kind="start", place=Place(), body={"model": "m", "board": board}, clock=()
    )
    run = StoredRun(
        id="a" * 32,
        session_id="5" * 32,
        context_node_id="e" * 32,
        question="why?",
        tree="oracle-agent",
        status="done",
        usage={},
        started_at=1.0,
        stop_reason="answered",
        ended_at=2.0,
        lease_owner=None,
        lease_until=None,
    )
    told = ToldRun(run=run, records=[start], story=Story())
    about = heading_of(told, {"e" * 32: "eeeeeeee"}, now=2.0).about
    assert "attached a.py:1-40, git diff, 1,200 characters from a pipe" in about
    assert "continues exchange eeeeeeee" in about
    assert f"session {'5' * 32}" in about


def test_without_runs_there_is_nothing_to_resume(project):
    result = oracle(project, "run", "resume")
    assert result.stderr == (
        'oracle: there are no runs yet; ask something first: oracle ask "where is …?"\n'
    )

"""`oracle replay` with a change, and `oracle run export`, in processes of their own."""

import json
import os
import shutil

import pytest

from tests import processes

QUESTION = "When does a session expire in session.py?"
CODE = '''MAX_IDLE = 1800


def expires(session, now):
    """A session expires after MAX_IDLE seconds."""
    return now - session.used_at > MAX_IDLE
'''


def oracle(project, *arguments, env=None):
    return processes.run(
        [*processes.ORACLE, *arguments],
        cwd=project,
        env={**os.environ, "NO_COLOR": "1", **(env or {})},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A project in which one question was asked, and its recording."""
    project = tmp_path_factory.mktemp("asked")
    (project / "oracle.toml").touch()
    (project / "session.py").write_text(CODE)
    assert oracle(project, "ask", "--model", "embedded", QUESTION).returncode == 0
    (project / "recordings").mkdir()
    exported = oracle(project, "run", "export", "-o", "recordings/session.json")
    assert (exported.returncode, exported.stdout) == (0, "")
    return project


@pytest.fixture
def project(asked, tmp_path):
    # By its name, which is how `last` finds its runs.
    return shutil.copytree(asked, tmp_path / asked.name)


def test_a_change_that_changes_nothing_ends_with_0(project):
    result = oracle(project, "replay", "--tree", "built-in", "--prompts", "built-in")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0].endswith(": no decision differs")


def test_a_decision_that_differs_is_told_and_ends_with_1(project):
    result = oracle(project, "replay", "last", "--set", "limits.turns=1")
    assert (result.returncode, result.stderr) == (1, "")
    assert "compose › there is only one turn\n    recorded: was skipped · now: succeeds" in (
        result.stdout
    )
    assert "  end: answered → turn limit\n" in result.stdout
    assert "Assumed: in turn 1 " in result.stdout


def test_where_the_recording_ends_the_replay_stops_with_4(project):
    result = oracle(project, "replay", "--classifier", "action")
    assert result.returncode == 4
    assert "In turn 3 the run needs the model's response" in result.stdout


def test_live_it_goes_on_and_nothing_is_recorded(project):
    live = ("--live", "--model", "embedded")
    result = oracle(project, "replay", "--classifier", "action", *live)
    assert (result.returncode, result.stderr) == (1, "")
    assert "came from the model or a tool, from turn 3 on" in result.stdout
    assert len(json.loads(oracle(project, "runs", "--json").stdout)) == 1


def test_live_without_a_key_says_what_to_do(project):
    live = ("--live", "--model", "anthropic:claude-sonnet-4-5")
    result = oracle(
        project, "replay", "--set", "limits.turns=9", *live, env={"ANTHROPIC_API_KEY": ""}
    )
    assert result.returncode == 78
    assert "ANTHROPIC_API_KEY" in result.stderr


def test_as_json_and_as_mermaid(project):
    change = ("--set", "limits.turns=1")
    data = json.loads(oracle(project, "replay", *change, "--json").stdout)
    assert data["turns"][0]["node"].endswith("there is only one turn")
    assert (data["is_same"], data["is_followed"]) == (False, True)
    drawn = oracle(project, "replay", *change, "--mermaid").stdout
    assert drawn.startswith("flowchart TD\n")
    assert " changed\n" in drawn
    same = oracle(project, "replay", "--set", "decide.DOUBTS=5", "--mermaid")
    assert same.stderr == "oracle: nothing to draw: no decision differs\n"


def test_an_exported_recording_is_replayed_without_its_project(project, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    file = str(project / "recordings" / "session.json")
    result = oracle(elsewhere, "replay", file)
    assert (result.returncode, result.stderr) == (0, "")
    assert "no decision differs" in result.stdout
    assert oracle(elsewhere, "replay", file, "--set", "limits.turns=1").returncode == 1


def test_a_folder_is_checked_and_each_bad_file_is_named(project):
    good = oracle(project, "replay", "--all", "recordings", "--tree", "built-in")
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.endswith("1 of 1 recording decided as before\n")
    whole = (project / "recordings/session.json").read_text()
    (project / "recordings/cut.json").write_text(whole[:-9])
    (project / "recordings/forged.json").write_text(whole.replace('"answered"', '"stuck"'))
    bad = oracle(project, "replay", "--all", "recordings")
    assert bad.returncode == 1
    assert "not read  cut.json" in bad.stdout
    assert "was changed or is damaged" in bad.stdout
    assert bad.stdout.endswith("1 of 3 recordings decided as before\n")
    changed = oracle(project, "replay", "--all", "recordings", "--set", "limits.turns=1", "--json")
    states = {each["file"]: each["state"] for each in json.loads(changed.stdout)}
    assert states["session.json"] == "differs"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing.json",), "there is no file nothing.json"),
        (("ffff", "--set", "limits.turns=1"), "no run 'ffff'"),
        (("--set", "limits.turn=1"), "did you mean 'limits.turns'?"),
        (("--tree", "nothing.lua"), "nothing.lua: No such file"),
        (("--tree", "broken.lua"), "broken.lua:1: no node 'nothing'"),
        (("--prompts", "nothing"), "there is no such folder"),
        (("--classifier", "cod"), "did you mean 'code'?"),
        (("--classifier", "os:nothing"), "has no attribute 'nothing'"),
        (("--all", "recordings", "--tree", "broken.lua"), "broken.lua:1: no node 'nothing'"),
        (("--set", "can_ask=maybe"), "the recorded value is false; give true or false"),
        (("--all", "nothing"), "there is no such folder"),
        (("--all", "recordings", "--live"), "--all takes --json"),
        (("3f9a", "--all", "recordings"), "so 3f9a would not be looked at"),
        (("--json", "--mermaid"), "use one of them"),
        (("--trace", "--set", "limits.turns=1"), "it takes no change"),
        (("--model", "embedded"), "--model is the model for --live"),
        (("run.sock", "--set", "limits.turns=1"), "no run 'run.sock'"),
        (("session.py",), "session.py: no recording"),
    ],
)
def test_what_cannot_be_done_ends_with_2_and_one_line(project, arguments, said):
    (project / "broken.lua").write_text(
        'BT.tree("decide", { root = BT.sequence("x", { BT.nothing("y") }) })'
    )
    os.mkfifo(project / "run.sock")
    result = oracle(project, "replay", *arguments)
    assert result.returncode == 2
    lines = result.stderr.splitlines()
    assert (len(lines), said in lines[0]) == (1, True), result.stderr


def test_an_export_that_cannot_be_written_says_so(project):
    result = oracle(project, "run", "export", "-o", "nothing/x.json")
    assert (result.returncode, result.stdout) == (2, "")
    assert "nothing/x.json: No such file or directory; name another file" in result.stderr


def test_recordings_in_folders_below_are_checked_too(project):
    inner = project / "recordings" / "inner"
    inner.mkdir()
    (project / "recordings/session.json").rename(inner / "one.json")
    result = oracle(project, "replay", "--all", "recordings", "--tree", "built-in")
    assert result.returncode == 0
    assert "inner/one.json" in result.stdout


def test_live_it_does_not_go_on_with_another_model_unasked(project):
    other = {"ORACLE_MODEL_NAME": "openai:x", "OPENAI_API_KEY": "k"}
    result = oracle(project, "replay", "--classifier", "action", "--live", env=other)
    assert (result.returncode, result.stdout) == (2, "")
    assert "the recorded model is embedded, and the model here is openai:x" in result.stderr

import json
import os
import re
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from oracle.cli.commands.index import lines_of
from oracle.cli.commands.search import render_hits
from oracle.cli.main import app
from oracle.services.search import Hit
from tests.cli.processes import Terminal, oracle


@pytest.fixture
def project(tmp_path, monkeypatch):
    root = tmp_path / "project"
    root.mkdir()
    (root / "oracle.toml").touch()
    (root / "tide.py").write_text("def tide_height():\n    return 'high'\n")
    (root / ".env").write_text("KEY=1\n")
    monkeypatch.chdir(root)
    return root


def run(*arguments):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_index_says_what_it_did(project):
    assert run("index") == "2 files indexed: 2 new, 0 changed, 0 removed, 2 skipped\n"
    (project / "tide.py").write_text("tide = 1\n")
    assert run("index") == "2 files indexed: 0 new, 1 changed, 0 removed, 2 skipped\n"


def test_explain_tells_the_reason(project):
    reason = ".env: not indexed: its name matches `.env`, a file of secrets; to read it, add "
    assert run("index", "--explain", ".env").startswith(reason)
    assert run("index", "--explain", "tide.py") == "tide.py: indexed\n"


def test_explain_of_a_file_that_is_not_there_is_an_error(project):
    result = CliRunner().invoke(app, ["index", "--explain", "gone.py"])
    assert result.exception.exit_code == 2
    assert str(result.exception).startswith("no file 'gone.py'; ")


def test_search_shows_path_lines_score_and_text(project):
    said = run("search", "how high is the tide")
    assert said.startswith("tide.py:1-2  1.00  tide_height\n    def tide_height():\n")


def test_a_search_without_a_result_says_so_on_stderr(project):
    result = CliRunner().invoke(app, ["search", "zebra"])
    assert (result.exit_code, result.stdout) == (3, "")
    told = "oracle: nothing found in code for 'zebra', nor in vault or threads; try other words\n"
    assert result.stderr == told
    result = CliRunner().invoke(app, ["search", "--json", "zebra"])
    assert (result.exit_code, result.stdout) == (3, "[]\n")


def test_a_search_without_a_result_names_the_kinds_that_have_one(project):
    (project / "threads").mkdir()
    (project / "threads/zoo.md").write_text("A zebra was bought.\n")
    result = CliRunner().invoke(app, ["search", "zebra"])
    assert result.exit_code == 3
    told = "oracle: nothing found in code for 'zebra'; `--kind threads` finds something\n"
    assert result.stderr == told


def test_words_to_search_for_need_no_quotes(project):
    assert run("search", "how", "high", "is", "the", "tide") == run(
        "search", "how high is the tide"
    )


def test_a_search_for_nothing_is_refused(project):
    result = CliRunner().invoke(app, ["search", " "])
    assert result.exception.exit_code == 2
    assert "write some words" in str(result.exception)


def test_lines_are_cut_to_the_terminal_and_places_are_not():
    place = {"path": "a/long/path.py", "start": 1, "end": 2, "kind": "code"}
    hit = Hit(**place, text="x = " + "9" * 100, symbol="s" * 60, score=1)
    place, line = render_hits([hit], 40).splitlines()
    assert place.startswith("a/long/path.py:1-2  1.00  sss")
    assert (len(place), len(line), line[-1]) == (40, 40, "…")


def test_search_as_json_has_the_fields_of_a_hit(project):
    (hit,) = json.loads(run("search", "tide", "--json"))
    assert hit == {
        "path": "tide.py",
        "start": 1,
        "end": 2,
        "score": 1.0,
        "text": "def tide_height():\n    return 'high'\n",
        "kind": "code",
        "symbol": "tide_height",
    }


def test_places_are_links_where_the_terminal_has_them(project):
    terminal = Terminal("search", "tide", env={"TERM": "xterm-kitty"})
    assert terminal.end() == 0
    target = f"{project.as_uri()}/tide.py#1"
    linked = rf"\x1b]8;id=\d+;{re.escape(target)}\x1b\\tide\.py:1-2\x1b]8;;\x1b\\  1\.00"
    assert re.search(linked, terminal.raw)
    terminal = Terminal("search", "tide")
    assert (terminal.end(), "\x1b]8" in terminal.raw) == (0, False)
    assert b"\x1b" not in oracle("search", "tide", env={"TERM": "xterm-kitty"}).stdout


def test_a_search_in_a_damaged_index_tells_that_it_was_built_anew(project):
    run("index")
    next(project.glob(".oracle/index/g*/catalogue.db")).write_bytes(b"noise" * 1_000)
    found = oracle("search", "tide")
    assert found.stderr == b"oracle: the index was rebuilt: file is not a database\n"
    assert found.stdout.startswith(b"tide.py:1-2")


def test_where_no_index_can_be_written_a_search_keeps_it_in_memory(project):
    (project / ".oracle").write_text("in the way")
    found = oracle("search", "tide")
    assert found.stdout.startswith(b"tide.py:1-2")
    assert b"cannot be made" in found.stderr
    assert b"searching with an index in memory" in found.stderr


def test_what_could_steer_a_terminal_is_not_shown(project):
    (project / "evil.py").write_text("tide = '\x1b[2J'\n")
    assert "\x1b" not in run("search", "evil tide")


@pytest.mark.extra
def test_watch_takes_in_changes_until_it_is_interrupted(project):
    command = [os.path.join(os.path.dirname(sys.executable), "oracle"), "index", "--watch"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().startswith("2 files indexed: 2 new")
        (project / "moon.py").write_text("moon = 1\n")
        assert process.stdout.readline().startswith("1 file indexed: 1 new")
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == ""
    assert process.returncode == 130


def test_a_report_is_wrapped_between_words():
    text = "57 files indexed: 57 new, 0 changed, 0 removed, 1 skipped"
    lines = lines_of(text, 40)
    assert " ".join(line.strip() for line in lines) == text
    assert all(len(line) <= 40 for line in lines)
    assert lines_of(text, None) == [text]


def test_index_speaks_json_to_programs(tmp_path, monkeypatch):
    (tmp_path / "oracle.toml").touch()
    (tmp_path / "a.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    report = json.loads(CliRunner().invoke(app, ["index", "--json"]).stdout)
    assert report["added"] >= 1
    told = json.loads(CliRunner().invoke(app, ["index", "--explain", "a.py", "--json"]).stdout)
    assert told == {"file": "a.py", "indexed": True, "reason": None}

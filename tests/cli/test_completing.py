"""What Tab offers: ids with their question, types, trees and commands. It never fails."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
import typer

from oracle.cli import completing
from oracle.cli.main import app

RUNS = [("3f9a0000aa", "why?", 1.0), ("77770000ab", "who?", 3.0), ("77770000ac", "how?", 2.0)]


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "oracle.toml").touch()
    (tmp_path / ".oracle").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "client.py").touch()
    with closing(sqlite3.connect(tmp_path / ".oracle" / "oracle.db")) as database, database:
        database.execute("CREATE TABLE runs (id TEXT PRIMARY KEY, question TEXT, started_at REAL)")
        database.executemany("INSERT INTO runs VALUES (?, ?, ?)", RUNS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", ["last", "77770000ab", "77770000ac", "3f9a0000"]),
        ("3f", ["3f9a0000"]),
        ("3f9a0000a", ["3f9a0000a"]),
        ("la", ["last"]),
        ("x", []),
    ],
)
def test_ids_are_short_and_unique_with_the_newest_first(project, typed, offered):
    assert [word for word, _ in completing.runs_beginning(typed)] == offered


def test_an_id_comes_with_its_question(project):
    assert dict(completing.runs_beginning("3f")) == {"3f9a0000": "why?"}


def test_what_cannot_be_read_offers_nothing_and_makes_nothing(tmp_path, monkeypatch):
    (tmp_path / "oracle.toml").touch()
    monkeypatch.chdir(tmp_path)
    assert completing.runs_beginning("") == []
    assert completing.sessions_beginning("") == []
    (tmp_path / "oracle.toml").write_text("[[[")
    assert completing.runs_beginning("") == []
    assert completing.trees_beginning("") == []
    assert not (tmp_path / ".oracle").exists()


def test_types_trees_and_commands_are_completed(project):
    assert ("tool.*", "all of them") in completing.types_beginning("tool")
    assert ("finish", "") in completing.trees_beginning("fin")
    root = typer.main.get_command(app)
    parent = typer.Context(root)
    context = typer.Context(root.commands["help"], parent=parent)
    assert ("sessions", "") in completing.commands_beginning(context, "ses")
    context.params["command"] = ["sessions"]
    assert completing.commands_beginning(context, "sh") == [("show", "")]
    context.params["command"] = ["nonsense"]
    assert completing.commands_beginning(context, "") == []


SCRIPT = """
{script}
COMP_LINE='oracle ask what is @src/cl' COMP_POINT=26 COMP_CWORD=5
COMP_WORDS=(oracle ask what is @ src/cl)
_oracle_completion ./oracle
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def test_bash_completes_a_path_after_an_at_sign(project):
    script = completing.BASH % {
        "complete_func": "_oracle_completion",
        "autocomplete_var": "_ORACLE_COMPLETE",
        "prog_name": "oracle",
    }
    (project / "oracle").write_text(f"#!{sys.executable}\nfrom oracle.cli.main import run\nrun()\n")
    (project / "oracle").chmod(0o755)
    bash = ["bash", "--norc", "-c", SCRIPT.format(script=script)]
    result = subprocess.run(
        bash, cwd=project, capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.stdout, result.stderr) == ("src/client.py\n", "")

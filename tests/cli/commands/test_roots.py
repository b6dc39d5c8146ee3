"""Further roots at the command line: index, search, doctor, config and attached files."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from oracle.cli.main import app
from oracle.cli.terminal.links import linked_roots, target_of
from oracle.settings import load_settings
from tests.tables import each_row


@pytest.fixture
def project(tmp_path, monkeypatch):
    for path, text in {
        "boat/oracle.toml": '[roots]\nsea = "../water"\n',
        "boat/hull.py": "def hull_draft():\n    return 3\n",
        "water/tide.py": "def tide_height():\n    return 'high'\n",
        "water/.env": "KEY=1\n",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.chdir(tmp_path / "boat")
    monkeypatch.setenv("ORACLE_TRUST", str(tmp_path / "boat"))
    return tmp_path / "boat"


def run(*arguments):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result


def test_each_root_is_indexed_and_reported(project):
    assert run("index").stdout.splitlines() == [
        "2 files indexed: 2 new, 0 changed, 0 removed, 1 skipped",
        "sea/: 1 file indexed: 1 new, 0 changed, 0 removed, 1 skipped",
    ]
    found = json.loads(run("index", "--json").stdout)
    assert (found["unchanged"], found["roots"]["sea"]["unchanged"]) == (2, 1)


def test_hits_of_all_roots_are_ranked_together_and_lead_to_their_files(project):
    hits = json.loads(run("search", "--json", "tide height").stdout)
    assert hits[0]["path"] == "sea/tide.py"
    hits = json.loads(run("search", "--json", "hull_draft").stdout)
    assert hits[0]["path"] == "hull.py"
    roots = linked_roots(load_settings())
    target = target_of({"path": "sea/tide.py", "start": 1}, root=roots)
    assert target == f"{(project.parent / 'water/tide.py').as_uri()}#1"
    assert target_of({"path": "hull.py"}, root=roots) == (project / "hull.py").as_uri()


@each_row(
    ("path", "says"),
    [
        ("sea/tide.py", "sea/tide.py: indexed"),
        ("../water/tide.py", "../water/tide.py: indexed"),
        ("sea/.env", "sea/.env: not indexed: its name matches `.env`"),
        ("hull.py", "hull.py: indexed"),
    ],
)
def test_explain_knows_the_files_of_roots(project, path, says):
    assert run("index", "--explain", path).stdout.replace("\n  ", " ").startswith(says)


def test_a_missing_root_is_reported_and_not_fatal(project):
    shutil.rmtree(project.parent / "water")
    missing = "the root 'sea' (../water) is not there"
    for command in (["index"], ["search", "hull_draft"]):
        result = run(*command)
        assert result.stderr.count(missing) == 1
        assert "hull.py" in result.stdout or "2 files indexed" in result.stdout
    found = json.loads(run("doctor", "--json").stdout)
    [check] = [each for each in found if each["check"] == "roots"]
    assert check["level"] == "warning"
    assert missing in check["told"]
    assert "oracle config unset roots.sea" in check["next_step"]


def test_where_the_index_of_a_root_cannot_be_written_it_is_in_memory(project):
    run("index")
    (folder,) = (project / ".oracle/index/roots").iterdir()
    shutil.rmtree(folder)
    folder.write_text("in the way")
    result = run("search", "tide height")
    assert "sea/tide.py" in result.stdout
    assert "index in memory" in result.stderr


def test_the_index_of_a_root_that_is_no_longer_named_is_removed(project):
    run("index")
    assert len(list((project / ".oracle/index/roots").iterdir())) == 1
    (project / "oracle.toml").write_text("")
    run("index")
    assert list((project / ".oracle/index/roots").iterdir()) == []
    assert "hull.py" in run("search", "hull_draft").stdout


def test_a_link_in_the_place_of_a_roots_index_is_not_followed(project, tmp_path):
    run("index")
    (tmp_path / "elsewhere").mkdir()
    roots = project / ".oracle/index/roots"
    shutil.rmtree(roots)
    roots.symlink_to(tmp_path / "elsewhere")
    assert "sea/tide.py" in run("search", "tide height").stdout
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_root_is_set_shown_and_removed(project, monkeypatch, tmp_path):
    monkeypatch.delenv("ORACLE_TRUST")
    (project / "oracle.toml").write_text("")
    (tmp_path / "air").mkdir()
    assert (
        run("config", "set", "roots.sky", "../air").stdout == 'oracle.toml: roots.sky = "../air"\n'
    )
    assert "roots.sky  ../air  oracle.toml:" in run("config", "roots").stdout
    assert "roots.sky" in run("config").stdout
    assert run("config", "roots.sky").stdout == "../air\n"
    run("config", "unset", "roots.sky")
    assert "roots.sky" not in run("config").stdout


@each_row(
    ("arguments", "says"),
    [
        (["roots.sky", "../air", "--user"], "roots belong to one project"),
        (["roots.hull", "."], "is the project itself"),
        (["roots.more", "../water"], "is the same folder as 'sea'"),
        (["roots.9", "../air"], "begin with a letter"),
    ],
)
def test_a_root_that_cannot_be_is_not_written(project, arguments, says):
    before = (project / "oracle.toml").read_text()
    result = CliRunner().invoke(app, ["config", "set", *arguments])
    assert says in str(result.exception)
    assert (project / "oracle.toml").read_text() == before


@pytest.mark.extra
@each_row(
    ("arguments", "says"),
    [
        (["-f", "sea/tide.py", "what is it?"], "sources: sea/tide.py"),
        (["-f", "../water/tide.py:1", "what is it?"], "sources: sea/tide.py:1"),
        (["what is @sea/tide.py:1-2 for?"], "sources: sea/tide.py:1-2"),
    ],
)
def test_a_file_of_a_root_is_attached_by_its_name(project, arguments, says):
    result = CliRunner().invoke(app, ["ask", *arguments])
    assert says in result.stderr


def test_a_secret_of_a_root_is_not_attached(project):
    result = CliRunner().invoke(app, ["ask", "-f", "sea/.env", "what?"])
    assert "'sea/.env' is not attached: its name matches `.env`" in str(result.exception)


def test_a_file_of_a_missing_root_says_that_the_root_is_missing(project):
    shutil.rmtree(project.parent / "water")
    result = CliRunner().invoke(app, ["ask", "-f", "sea/tide.py", "what?"])
    assert "there is no file 'sea/tide.py': the root 'sea' (../water) is not there" in str(
        result.exception
    )

"""`oracle tools`: what there is, where it comes from, and what is trusted."""

import json
import os

import pytest

from tests.cli.processes import oracle
from tests.services.own_code.projects import TOOL, project_with


@pytest.fixture
def project(tmp_path, monkeypatch):
    root = project_with(tmp_path / "p", tools__tickets=TOOL, tools__other="x = 1")
    monkeypatch.chdir(root)
    return root


def rows():
    return {row["from"]: row for row in json.loads(oracle("tools", "--json").stdout)}


def test_own_files_are_listed_before_and_after_they_are_trusted(project):
    before = rows()
    assert before["oracle"]["trusted"] == "yes"
    assert before[".oracle/tools/tickets.py"]["trusted"] == "no"
    assert oracle("tools", "trust", "tickets").stdout == b"1 file trusted\n"
    after = rows()
    assert after[".oracle/tools/tickets.py"] == {
        "name": "search_tickets",
        "from": ".oracle/tools/tickets.py",
        "for": ["action", "code", "documentation", "research"],
        "does": "reads",
        "trusted": "yes",
    }
    assert after[".oracle/tools/other.py"]["trusted"] == "no"
    assert oracle("tools", "untrust").stdout == b"2 files not trusted\n"
    assert rows()[".oracle/tools/tickets.py"]["trusted"] == "no"


def test_a_mistake_in_a_file_is_said_when_it_is_trusted(project):
    bad = "import oracle\n\n\n@oracle.tool\ndef look(query):\n    return ''\n"
    (project / ".oracle/tools/other.py").write_text(bad)
    done = oracle("tools", "trust")
    assert done.stdout == b"2 files trusted\n"
    assert b"other.py:4: tool 'look': the argument 'query' has no type" in done.stderr


@pytest.mark.parametrize("command", ["trust", "untrust"])
def test_a_file_that_does_not_exist_is_an_error(project, command):
    done = oracle("tools", command, "tikets")
    assert done.returncode == 2
    assert b"no own code is called 'tikets'; did you mean 'tickets'?" in done.stderr


def test_a_project_without_own_code_says_how_to_begin(tmp_path, monkeypatch):
    monkeypatch.chdir(project_with(tmp_path / "empty"))
    done = oracle("tools", "trust")
    assert done.returncode == 2
    assert b"into .oracle/tools/NAME.py" in done.stderr


def test_help_runs_no_own_code(project):
    (project / ".oracle/tools/tickets.py").write_text("raise SystemExit('it was run')")
    for arguments in (["--help"], ["tools", "--help"], ["ask", "--help"]):
        done = oracle(*arguments, env={"ORACLE_TRUST": str(project)})
        assert (done.returncode, done.stderr) == (0, b"")


def test_programs_that_own_code_starts_do_not_write_to_stdout(project):
    loud = "import os\nos.system('echo loud')\n" + TOOL.replace(
        "    calls", "    os.system('echo loud')\n    print('loud')\n    calls"
    )
    (project / ".oracle/tools/tickets.py").write_text(loud)
    done = oracle("ask", "When does the login time out?", env={"ORACLE_TRUST": str(project)})
    assert b"30 minutes" in done.stdout
    assert b"loud" not in done.stdout
    assert done.stderr.count(b"loud") >= 2


def test_an_installed_package_is_listed_by_its_name(project, tmp_path):
    site = tmp_path / "site"
    (site / "shop-1.0.dist-info").mkdir(parents=True)
    (site / "shop-1.0.dist-info/METADATA").write_text("Name: shop\nVersion: 1.0\n")
    (site / "shop-1.0.dist-info/entry_points.txt").write_text("[oracle.tools]\nx = shop\n")
    (site / "shop.py").write_text(TOOL)
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    done = oracle("tools", "--json", env={"PYTHONPATH": path})
    found = {row["from"]: row["name"] for row in json.loads(done.stdout)}
    assert found["package shop"] == "search_tickets"

"""`oracle tree`, as a user calls it: in a process of its own."""

import json
import os
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.processes import ORACLE, PIPE, Process, run

READER = Path(__file__).parents[3] / "examples" / "reader"
WITH_LEAVES = ("--leaves", str(READER / "leaves.py"))


def oracle(*arguments, cwd=None, **environment):
    return run(
        [*ORACLE, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1", **environment},
        timeout=300,
    )


def test_the_version_is_told():
    result = oracle("--version")
    assert (result.returncode, result.stdout) == (0, f"oracle {version('bt-oracle')}\n")


def test_check_counts_the_nodes_of_good_trees():
    result = oracle("tree", "check", READER, *WITH_LEAVES)
    assert (result.returncode, result.stdout, result.stderr) == (0, "reader: 10 nodes\n", "")


def test_without_a_name_it_is_about_the_trees_in_use(tmp_path):
    assert oracle("tree", "show", cwd=tmp_path).stdout.startswith("oracle-agent: ")
    assert "oracle-agent: " in oracle("tree", "check", cwd=tmp_path).stdout


def test_check_tells_a_mistake_on_stderr_with_its_place(tmp_path):
    (tmp_path / "t.lua").write_text('BT.tree("t", {\n  root = BT.sequnce({}),\n})')
    result = oracle("tree", "check", "t.lua", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "oracle: t.lua:2: no node 'sequnce'; did you mean 'sequence'?\n"


@pytest.mark.parametrize("format_", ["ascii", "mermaid", "json", "groot"])
def test_show_draws_in_each_format(format_):
    result = oracle("tree", "show", "reader", "--in", READER, *WITH_LEAVES, "--format", format_)
    assert result.returncode == 0
    assert "open next" in result.stdout
    if format_ == "json":
        assert json.loads(result.stdout)["name"] == "reader"


def test_show_of_an_unknown_tree_says_which_there_are():
    result = oracle("tree", "show", "raeder", "--in", READER, *WITH_LEAVES)
    assert (result.returncode, result.stderr) == (
        2,
        "oracle: no tree 'raeder'; did you mean 'reader'?\n",
    )


def test_the_built_in_trees_are_there_without_being_asked_for():
    result = oracle("tree", "show", "fallback")
    assert (result.returncode, result.stderr) == (0, "")
    assert "is stuck signal [condition]" in result.stdout


def test_the_project_can_name_a_folder_of_its_own_trees(tmp_path):
    (tmp_path / "oracle.toml").write_text(f"[trees]\nfolder = '{READER}'\n")
    trust = {"ORACLE_TRUST": str(tmp_path)}
    result = oracle("tree", "show", "reader", *WITH_LEAVES, cwd=tmp_path, **trust)
    assert (result.returncode, result.stderr) == (0, "")
    assert "open next" in result.stdout


def test_leaves_that_are_not_registered_are_told_with_the_way_to_register_them():
    result = oracle("tree", "check", READER)
    assert result.returncode == 2
    assert "no leaf 'leaves.open_next' is registered" in result.stderr
    assert "--leaves" in result.stderr


@pytest.mark.parametrize("module", ["no.such.module", "nowhere.py", "", "..x", "broken.py"])
def test_a_module_that_cannot_be_imported_is_named(module, tmp_path):
    (tmp_path / "broken.py").write_text("def (")
    result = oracle("tree", "check", READER, "--leaves", module, cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith(f"oracle: --leaves {module}: ")


@pytest.mark.parametrize("format_", ["ascii", "mermaid"])
def test_trees_can_be_shown_on_a_terminal_that_knows_only_ascii(format_):
    show = ("tree", "show", "reader", "--in", READER, *WITH_LEAVES, "--format", format_)
    result = oracle(*show, PYTHONIOENCODING="ascii")
    assert (result.returncode, result.stderr) == (0, "")


def test_a_reader_that_closes_the_pipe_early_gets_no_traceback():
    command = [*ORACLE, "tree", "show", "reader", "--in", READER, *WITH_LEAVES, "--format", "json"]
    with Process(command, stdout=PIPE, stderr=PIPE) as process:
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_source_prints_the_built_in_tree_whatever_the_own_ones_are(tmp_path):
    (tmp_path / "oracle.toml").write_text('[trees]\nfolder = "trees"\n')
    (tmp_path / "trees").mkdir()
    # The shell makes the file before the command runs.
    (tmp_path / "trees" / "finish.lua").touch()
    result = oracle("tree", "source", "finish", cwd=tmp_path)
    assert result.returncode == 0
    assert 'BT.tree("finish"' in result.stdout
    own = result.stdout.replace("BT.tree(", "-- ours\nBT.tree(", 1)
    (tmp_path / "trees" / "finish.lua").write_text(own)
    assert oracle("tree", "source", "finish", cwd=tmp_path).stdout == result.stdout
    assert oracle("tree", "source", "finish", "--own", cwd=tmp_path).stdout == own

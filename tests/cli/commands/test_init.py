"""`oracle init`, as a user calls it: in a process of its own."""

import os

import pytest

from oracle.services.settings.template import template
from tests.processes import ORACLE, run


def oracle(*arguments, cwd):
    return run(
        [*ORACLE, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1"},
        timeout=60,
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def test_outside_of_a_project_it_makes_one_here_and_says_what_next(folder):
    result = oracle("init", cwd=folder)
    assert (result.returncode, result.stdout) == (0, f"{folder / 'oracle.toml'}\n")
    assert "`oracle doctor`" in result.stderr
    assert (folder / "oracle.toml").read_text(encoding="utf-8") == template()


def test_inside_of_a_project_it_writes_at_the_root(folder):
    (folder / ".git").mkdir()
    (folder / "src").mkdir()
    assert oracle("init", cwd=folder / "src").returncode == 0
    assert (folder / "oracle.toml").exists()


def test_a_second_time_it_refuses_and_leaves_the_file(folder):
    (folder / "oracle.toml").write_text("[limits]\nturns = 3\n")
    result = oracle("init", cwd=folder)
    assert (result.returncode, result.stdout) == (2, "")
    assert "exists and stays as it is; `oracle init --print` shows" in result.stderr
    assert (folder / "oracle.toml").read_text() == "[limits]\nturns = 3\n"


def test_a_folder_can_be_named(folder, tmp_path):
    assert oracle("init", "project", cwd=tmp_path).stdout == "project/oracle.toml\n"
    result = oracle("init", "nowhere", cwd=tmp_path)
    assert result.returncode == 2
    assert "nowhere/oracle.toml cannot be written: No such file" in result.stderr


def test_print_writes_to_stdout_only_even_where_the_file_is_broken(folder):
    (folder / "oracle.toml").write_text("broken")
    result = oracle("init", "--print", cwd=folder)
    assert (result.returncode, result.stdout, result.stderr) == (0, template(), "")

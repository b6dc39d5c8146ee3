"""`oracle init` and `oracle completion`, as a user calls them."""

import os
import subprocess
import sys

import pytest

from oracle.services.settings.resolve import user_settings_file
from oracle.services.settings.template import template
from tests.processes import ORACLE, run

# The variable that turns on completion is named after the program, so the program needs its name.
NAMED = 'import sys; sys.argv[0] = "oracle"; from oracle.cli.main import run; run()'


def oracle(*arguments, cwd):
    return run(
        [*ORACLE, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1"},
        timeout=300,
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
    assert "exists and is left unchanged; `oracle init --print` shows" in result.stderr
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


def completion(shell):
    env = {**os.environ, "NO_COLOR": "1"}
    command = [sys.executable, "-c", NAMED, "completion", shell]
    return run(command, capture_output=True, text=True, env=env)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_each_shell_gets_its_script(shell):
    result = completion(shell)
    assert (result.returncode, result.stderr) == (0, "")
    assert f"_ORACLE_COMPLETE=complete_{shell}" in result.stdout or shell == "powershell"
    assert "oracle" in result.stdout


def test_another_shell_is_refused_with_those_there_are():
    result = completion("tcsh")
    assert result.returncode == 2
    assert "powershell" in result.stderr


@pytest.mark.extra
def test_bash_completes_settings_through_the_script(tmp_path):
    """The script itself, read by bash, with a command of our name on the path."""
    command = tmp_path / "oracle"
    command.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{NAMED}' \"$@\"\n")
    command.chmod(0o755)
    ask = (
        'eval "$(oracle completion bash)"; COMP_WORDS=(oracle config limits.t); COMP_CWORD=2; '
        '_oracle_completion oracle; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        ["bash", "-c", ask], capture_output=True, text=True, env={**os.environ, "PATH": path}
    )
    assert result.stdout.split() == ["limits.turns", "limits.tokens"]


def test_a_broken_settings_file_does_not_hinder_completion(tmp_path):
    (tmp_path / "oracle.toml").write_text("broken")
    environment = {"COMP_WORDS": "oracle config web.u", "COMP_CWORD": "2"}
    result = run(
        [sys.executable, "-c", NAMED],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, **environment, "_ORACLE_COMPLETE": "complete_bash"},
    )
    assert result.stdout.split() == ["web.url"]


def test_the_users_own_file_can_be_written_with_every_setting_in_comments(folder):
    result = oracle("init", "--user", cwd=folder)
    assert (result.returncode, result.stdout) == (0, f"{user_settings_file()}\n")
    text = user_settings_file().read_text(encoding="utf-8")
    assert text == template(user=True)
    assert "for all projects of this user" in text
    assert list(folder.iterdir()) == []
    assert "leave out the folder or --user" in oracle("init", ".", "--user", cwd=folder).stderr

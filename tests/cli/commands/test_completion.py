import os
import subprocess
import sys

import pytest

from tests.processes import run

# The name of the variable that steers completion follows from that of the program.
CODE = 'import sys; sys.argv[0] = "oracle"; from oracle.cli.main import run; run()'
ORACLE = [sys.executable, "-c", CODE]


def oracle(*arguments, **environment):
    env = {**os.environ, "NO_COLOR": "1", **environment}
    return run([*ORACLE, *arguments], capture_output=True, text=True, env=env)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_each_shell_gets_its_script(shell):
    result = oracle("completion", shell)
    assert (result.returncode, result.stderr) == (0, "")
    assert f"_ORACLE_COMPLETE=complete_{shell}" in result.stdout or shell == "powershell"
    assert "oracle" in result.stdout


def test_another_shell_is_refused_with_those_there_are():
    result = oracle("completion", "tcsh")
    assert result.returncode == 2
    assert "powershell" in result.stderr


def test_bash_completes_settings_through_the_script(tmp_path):
    """The script itself, read by bash, with a command of our name on the path."""
    command = tmp_path / "oracle"
    command.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{CODE}' \"$@\"\n")
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
        ORACLE,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, **environment, "_ORACLE_COMPLETE": "complete_bash"},
    )
    assert result.stdout.split() == ["web.url"]

"""The command itself: its help, and how it ends."""

import json
import os
import subprocess
import sys

import pytest
from typer.main import get_command

from oracle.cli.main import app
from oracle.models.stream_chunk import OracleStreamChunk
from tests.processes import ORACLE, PIPE, Process, run
from tests.tables import each_row


def oracle(*arguments, **options):
    env = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", **options.pop("env", {})}
    return run([*ORACLE, *arguments], stderr=PIPE, text=True, env=env, timeout=300, **options)


def commands(command, path=()):
    """Every command and group below, by the words one types."""
    for name, below in getattr(command, "commands", {}).items():
        yield (*path, name)
        yield from commands(below, (*path, name))


@each_row("path", commands(get_command(app)), ids=" ".join)
def test_every_command_says_what_it_does(path):
    from typer.testing import CliRunner

    result = CliRunner().invoke(app, [*path, "--help"])
    assert result.exit_code == 0
    assert f"Usage: oracle {' '.join(path)}" in result.output.replace("\n", " ")


@pytest.mark.parametrize("columns", ["20", "40", "80", "200"])
def test_help_fits_a_terminal_of_any_width(columns, monkeypatch):
    from typer.testing import CliRunner

    monkeypatch.setenv("COLUMNS", columns)
    shown = CliRunner().invoke(app, ["--help"]).output
    assert max(map(len, shown.splitlines())) <= int(columns)


def test_help_has_no_styles_in_a_pipe():
    result = oracle("--help", stdout=PIPE, env={"COLUMNS": "60"})
    assert (result.returncode, result.stderr) == (0, "")
    assert "\x1b" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 60


@pytest.mark.parametrize("command", ["ask", "chat", "search", "replay"])
def test_the_help_of_a_common_command_has_examples_on_lines_of_their_own(command):
    lines = oracle(command, "--help", stdout=PIPE, env={"COLUMNS": "80"}).stdout.splitlines()
    begin = [line.strip() for line in lines].index("Examples:") + 1
    examples = lines[begin : begin + 3]
    assert all(f"oracle {command}" in line or "oracle runs" in line for line in examples)


def test_help_lists_every_command():
    help_text = oracle("--help", stdout=PIPE).stdout
    for name in get_command(app).commands:
        assert f" {name} " in help_text


@pytest.mark.parametrize("command", ["config", "init --print", "doctor --json", "--help"])
def test_a_reader_that_is_gone_ends_it_with_141_and_no_words(command, tmp_path):
    (tmp_path / "oracle.toml").touch()
    reading, writing = os.pipe()
    os.close(reading)
    with Process([*ORACLE, *command.split()], cwd=tmp_path, stdout=writing, stderr=PIPE) as process:
        os.close(writing)
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_output_that_cannot_be_written_is_told():
    with open("/dev/full", "w") as full:
        result = oracle("init", "--print", stdout=full)
    assert result.returncode == 74
    told = "oracle: the output: No space left on device; free some space, or write to another place"
    assert result.stderr == f"{told}\n"


def test_an_error_that_cannot_be_written_as_json_ends_with_74_and_one_line():
    with open("/dev/full", "w") as full:
        result = oracle("runs", "--json", "--bogus", stdout=full)
    assert result.returncode == 74
    assert result.stderr.startswith("oracle: the output: No space left on device; ")
    assert result.stderr.count("\n") == 1


def test_an_error_as_json_without_a_reader_ends_with_141_and_no_words():
    reading, writing = os.pipe()
    os.close(reading)
    result = oracle("--json", "", stdout=writing)
    os.close(writing)
    assert (result.returncode, result.stderr) == (141, "")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["nonsense"],
            "there is no command 'nonsense'; `oracle --help` lists them. To ask about it, write a "
            'question: oracle "what is nonsense?"',
        ),
        (
            ["runs", "last"],
            "there is one word too many: last; did you mean `oracle run show last`?",
        ),
        (
            ["run", "show", "last", "-n", "3"],
            "there is no option '-n'; see `oracle run show --help`",
        ),
        (
            ["chat", "hello"],
            "there is one word too many: hello; see `oracle chat --help`. It takes no question: "
            "start it, then type",
        ),
        (["version"], "there is no command 'version'; did you mean `oracle --version`?"),
        (["--diff"], 'the question is missing; write one: oracle --diff "is it right?"'),
        (["doctor", "now"], "there is one word too many: now; see `oracle doctor --help`"),
        (
            ["ask", "--modl", "x", "y"],
            "there is no option '--modl' (did you mean --model?); see "
            "`oracle ask --help`. If it belongs to a question, put the question in quotes",
        ),
        (
            ["--modl", "x", "why so?"],
            "there is no option '--modl'; did you mean '--model'? See `oracle ask --help`",
        ),
        (["--zzz"], "there is no option '--zzz'; see `oracle ask --help`"),
        (["-f", "a.py"], 'the question is missing; write one: oracle -f a.py "what is it?"'),
        (
            ["help", "zzz"],
            "there is no command 'zzz'; to ask a question, put it in quotes: oracle \"help zzz\"",
        ),
        (
            ["config", "set", "limits.turns", "abc"],
            "limits.turns is 'abc'; write a whole number from 1",
        ),
        (["doctor", "--nonsense"], "there is no option '--nonsense'; see `oracle doctor --help`"),
        (["ask", "--bogus"], "there is no option '--bogus'; see `oracle ask --help`"),
        (
            ["run", "shw"],
            "there is no command 'shw' (did you mean 'show'?); see `oracle run --help`",
        ),
        (
            ["run", "the", "tests"],
            "there is no command 'the'; see `oracle run --help`. To ask a question, put it in "
            'quotes: oracle "run the tests"',
        ),
        (
            ["where", "is", "--bogus", "used"],
            "there is no option '--bogus'; see `oracle ask --help`. If it belongs to a question, "
            "put the question in quotes",
        ),
        (["ask", "--max-turns", "1.5", "x"], "--max-turns is '1.5'; write a whole number from 1"),
        (["sessions", "delete"], "missing argument 'SESSION'; see `oracle sessions delete --help`"),
        (["ask", "--model"], "option '--model' requires an argument; see `oracle ask --help`"),
        (
            ["search", "--kind", "x", "y"],
            "invalid value for '--kind': 'x' is not one of 'code', 'vault', 'threads'; "
            "see `oracle search --help`",
        ),
        (
            ["runs", "--limit", "x"],
            "invalid value for '--limit' / '-n': write a whole number; see `oracle runs --help`",
        ),
    ],
)
def test_wrong_usage_ends_with_2_and_one_line_with_the_next_step(arguments, told):
    result = oracle(*arguments, stdout=PIPE)
    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"oracle: {told}\n")


def test_piped_text_without_a_question_is_one_line_that_says_how_to_ask():
    result = oracle(stdout=PIPE, input="hi")
    assert (result.returncode, result.stdout) == (2, "")
    told = 'a question is missing; to ask about piped text: … | oracle "what is this?"'
    assert result.stderr == f"oracle: {told}\n"
    result = oracle("ask", stdout=PIPE, input="hi")
    assert "If the text is the question: … | oracle ask -" in result.stderr


def test_a_group_without_a_command_shows_its_help():
    result = oracle("run", stdout=PIPE)
    assert result.returncode == 2
    assert "Usage: oracle run" in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--nope"], 2), (["--model", "gpt:4", "x"], 78), ([], 2)]
)
def test_with_json_an_error_before_the_run_is_a_chunk_as_well(arguments, code, tmp_path):
    result = oracle("ask", "--json", *arguments, stdout=PIPE, cwd=tmp_path)
    error = OracleStreamChunk.from_dict(json.loads(result.stdout))
    assert (result.returncode, error.type) == (code, "error")
    assert result.stderr == f"oracle: {error.content}\n"


@pytest.mark.parametrize("command", ["config", "doctor", "init", "runs"])
def test_a_working_directory_that_is_gone_is_told(command, tmp_path):
    (tmp_path / "gone").mkdir()
    code = f"import os; os.rmdir(os.getcwd()); {ORACLE[-1]}"
    result = run(
        [sys.executable, "-c", code, command], capture_output=True, text=True, cwd=tmp_path / "gone"
    )
    assert result.returncode == 2
    assert result.stderr == "oracle: the working directory is gone; go to one that exists\n"


def fresh(*arguments, cwd):
    """In an interpreter of its own, which has imported nothing yet."""
    result = subprocess.run(
        [*ORACLE, *arguments], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=300
    )
    assert (result.returncode, b"Traceback" in result.stderr) == (0, False), result.stderr.decode()
    return result.stdout


@pytest.mark.extra
def test_each_command_imports_all_that_it_uses(tmp_path):
    (tmp_path / "oracle.toml").touch()
    (tmp_path / "a.py").write_text("hello = 1\n")
    fresh("ask", "-q", "hello", cwd=tmp_path)
    (run_,) = json.loads(fresh("runs", "--json", cwd=tmp_path))
    for command in (
        *("chat", "config", "doctor", "index", "search hello", "classify hello", "prompt hello"),
        *(f"run show {run_['id']}", f"replay {run_['id']}", "sessions list", "audit"),
        *("tree show oracle-agent", "purge --older-than 30d --yes"),
    ):
        fresh(*command.split(), cwd=tmp_path)


def test_on_windows_it_says_that_it_does_not_work_there():
    """In a fresh interpreter, before anything that Windows lacks is imported."""
    pretend = "import sys; sys.platform = 'win32'; import oracle.cli.main"
    ended = subprocess.run([sys.executable, "-c", pretend], capture_output=True, text=True)
    assert ended.stderr == "oracle does not work on Windows yet; use it in WSL\n"
    assert ended.returncode == 1


def test_ctrl_c_while_modules_are_loaded_leaves_no_traceback():
    code = """
import os, signal, sys
import oracle.cli

class Loading:
    def find_spec(self, name, path=None, target=None):
        if name == "oracle.cli.main":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Loading())
oracle.cli.run()
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")

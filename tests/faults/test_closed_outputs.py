"""Outputs that are closed, full or gone: no traceback, no lost answer, and the run is recorded."""

import fcntl
import json
import os
import pty
import select
import signal
import sqlite3
import struct
import subprocess
import sys
import termios
import threading

import pytest

from oracle.testing.servers import openai
from oracle.testing.servers.scripted import Reply, Stall
from tests.cli.processes import (
    QUESTION,
    Terminal,
    make_project,
    model_serving,
    oracle,
    says,
    searches,
)
from tests.processes import ORACLE, PIPE, Process, run

pytestmark = pytest.mark.extra

ANSWER = "After 30 minutes, see session.py:1. Grün → 終."
ASK = ("ask", QUESTION)
COMMANDS = [
    ASK,
    (*ASK, "--json"),
    *((each,) for each in ("config", "doctor", "--help")),
]


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(make_project(tmp_path))
    return tmp_path


def states(project):
    with sqlite3.connect(project / ".oracle/oracle.db") as database:
        return [stop for (stop,) in database.execute("SELECT stop_reason FROM runs")]


def in_shell(line, *arguments):
    command = ["sh", "-c", f'exec "$@" {line}', "sh", *ORACLE, *arguments]
    nothing = subprocess.DEVNULL
    return subprocess.run(command, stdin=nothing, capture_output=True, timeout=300)


def without(*streams):
    """Start with these streams closed, as an interpreter finds them after `>&-`."""
    # Without its last name the file is closed, and so is its descriptor.
    closing = "".join(f"sys.{each} = sys.__{each}__ = None; " for each in streams)

    def start(*arguments):
        code = f"import sys; {closing}{ORACLE[-1]}"
        return run([sys.executable, "-c", code, *arguments], input=b"", stdout=PIPE, stderr=PIPE)

    return start


def assert_calm(*outputs):
    for output in outputs:
        assert b"Traceback" not in (output or b""), output
        assert b"Exception ignored" not in (output or b""), output


# -- closed ----------------------------------------------------------------------------------------


def test_an_answer_is_not_lost_when_stderr_is_closed(project):
    result = without("stderr")(*ASK)
    assert (result.returncode, states(project)) == (0, ["answered"])
    assert b"MAX_IDLE" in result.stdout
    assert b"sources" not in result.stdout, "what belongs on stderr must not end up in the answer"


def test_a_closed_stdout_is_an_error_and_the_run_is_recorded(project):
    result = without("stdout")(*ASK)
    assert (result.returncode, states(project)) == (74, ["answered"])
    assert b"oracle: the output: Bad file descriptor; " in result.stderr.splitlines()[-1]
    assert_calm(result.stderr)


def test_with_every_stream_closed_the_database_is_not_taken_for_one(project):
    assert without("stdin", "stdout", "stderr")(*ASK).returncode == 74
    assert states(project) == ["answered"]
    with sqlite3.connect(project / ".oracle/oracle.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_closed_stdin_cannot_confirm(project):
    result = without("stdin")("purge", "--older-than", "1w")
    assert result.returncode == 2
    assert b"--yes" in result.stderr


@pytest.mark.parametrize(
    ("line", "code"), [("2>&-", 0), (">&-", 74), ("<&- >&- 2>&-", 74), (">/dev/full", 74)]
)
def test_a_shell_that_closes_streams_gets_the_same(line, code, project):
    result = in_shell(line, *ASK)
    assert (result.returncode, states(project)) == (code, ["answered"])
    assert_calm(result.stdout, result.stderr)


# -- full ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_full_stdout_ends_with_74_and_one_line(command, project):
    with open("/dev/full", "w") as full:
        result = oracle(*command, stdout=full)
    assert_calm(result.stderr)
    assert result.returncode == 74
    assert b"oracle: the output: No space left on device; " in result.stderr.splitlines()[-1]
    if command == ASK:
        assert states(project) == ["answered"]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_full_stderr_changes_neither_output_nor_code(command, project):
    normal = oracle(*command)
    with open("/dev/full", "w") as full:
        result = oracle(*command, stderr=full)
    assert result.returncode == normal.returncode
    assert len(result.stdout.splitlines()) == len(normal.stdout.splitlines())


def test_a_pipe_that_another_program_made_non_blocking_gets_everything(project):
    reading, writing = os.pipe()
    room = fcntl.fcntl(reading, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(writing, False)
    command = ("config", "--json")
    with Process([*ORACLE, *command], stdin=PIPE, stdout=writing, stderr=PIPE) as process:
        os.close(writing)
        with open(reading, "rb", buffering=0) as output:
            while struct.unpack("i", fcntl.ioctl(output, termios.FIONREAD, bytes(4)))[0] < room:
                assert select.select([output], [], [], 60)[0]
            shown = output.readall()
        assert (process.wait(), process.stderr.read()) == (0, b"")
    assert shown == oracle(*command).stdout
    assert len(shown) > room


# -- gone ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_reader_that_stops_early_ends_it_without_words(command, project):
    oracle(*ASK)
    # Closed before it starts: a short text would be written before this test could close it.
    reading, writing = os.pipe()
    os.close(reading)
    with Process([*ORACLE, *command], stdin=PIPE, stdout=writing, stderr=PIPE) as process:
        os.close(writing)
        process.stdin.close()
        shown = process.stderr.read()
        assert process.wait() == 141
    assert_calm(shown)


def test_a_reader_that_leaves_ends_a_run_that_has_nothing_to_write_yet(project):
    """The model never ends its response, so only the closed pipe can end the run."""
    endless = Reply(body=[*openai.beginning(), *openai.events(openai.text("So far.")), Stall()])
    with model_serving(endless) as (env, server):
        streams = {"stdin": PIPE, "stdout": PIPE, "stderr": PIPE}
        with Process([*ORACLE, *ASK], env={**os.environ, **env}, **streams) as process:
            process.stdin.close()
            while not server.requests:
                threading.Event().wait(0.01)
            process.stdout.close()
            assert_calm(process.stderr.read())
            assert process.wait() == 141
        assert len(server.requests) == 1
    assert states(project) == ["cancelled"]


def test_a_reader_of_stderr_that_is_gone_costs_nothing(project):
    with Process([*ORACLE, *ASK, "-v"], stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        process.stdin.close()
        process.stderr.close()
        assert b"MAX_IDLE" in process.stdout.read()
        assert process.wait() == 0


@pytest.mark.parametrize("ignores", [False, True], ids=["killed", "nohup"])
def test_a_terminal_that_hangs_up_leaves_a_run_on_record(ignores, project):
    code = ORACLE[-1]
    if ignores:
        code = f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); {code}"
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", code, *ASK, "--trace"]
    env = {**os.environ, "TERM": "xterm"}
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    with Process(command, env=env, owns_terminal=True, **streams) as process:
        os.close(theirs)
        shown = b""
        while b"question" not in shown:
            assert select.select([ours], [], [], 60)[0]
            shown += os.read(ours, 65_536)
        os.close(ours)
        ended = process.wait()
    assert ended in ((74,) if ignores else (128 + signal.SIGHUP, 74))
    assert len(states(project)) == 1


# -- small and old terminals -----------------------------------------------------------------------


def test_a_chat_writes_only_answers_into_a_pipe(project):
    terminal = Terminal("chat", stdout=PIPE)
    terminal.until("? ").type("hello\n").until("? ").type("\x04")
    assert terminal.end() == 0
    assert terminal.output.startswith(b"Hello.")


class SmallTerminal(Terminal):
    def __init__(self, *arguments, rows, columns, **options):
        super().__init__(*arguments, columns=columns, **options)
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


MARKDOWN = (
    "# T\n\n| a | b |\n| --- | --- |\n| session.py:1 | 2 |\n\n> > q\n\n1. x\n   - y\n\n"
    "```py\nx = 1\n```\nGrün → 終 e\u0301 [l](https://a.org) ![i](x) <b>h</b> ***b***\n\n---\n"
)
SIZES = ((1, 1, "xterm"), (1, 1, "dumb"), (0, 0, "dumb"), (24, 20, "xterm"), (2, 3, ""))


@pytest.mark.parametrize(("rows", "columns", "term"), SIZES)
def test_an_answer_fits_any_terminal(rows, columns, term, project):
    with model_serving(searches("I look."), says(MARKDOWN)) as (env, _):
        env = {"TERM": term, **env}
        terminal = SmallTerminal(*ASK, rows=rows, columns=columns, env=env)
        code = terminal.end()
    assert code == 0
    assert "Traceback" not in terminal.raw
    assert "T" in terminal.shown
    assert states(project) == ["answered"]


@pytest.mark.parametrize("command", ["runs", "doctor", "config", "--help", "search idle"])
def test_other_commands_fit_any_terminal(command, project):
    oracle(*ASK)
    for rows, columns in ((1, 1), (24, 20)):
        terminal = SmallTerminal(*command.split(), rows=rows, columns=columns)
        assert terminal.end() in (0, 1)
        assert "Traceback" not in terminal.raw


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "ascii:strict"},
        {"PYTHONIOENCODING": "latin-1"},
        {"FORCE_COLOR": "1", "TERM": "dumb"},
    ],
    ids=str,
)
def test_an_answer_survives_any_encoding(env, project):
    with model_serving(searches("I look."), says(ANSWER)) as (model, _):
        result = oracle(*ASK, "-v", env=env | model)
    assert result.returncode == 0
    assert b"After 30 minutes" in result.stdout
    assert_calm(result.stderr)
    for arguments in (["runs"], ["nonsense\u202e終"]):
        assert_calm(oracle(*arguments, env=env).stderr)


def test_the_c_locale_keeps_the_answer(project):
    for env in ({"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
        with model_serving(searches("I look."), says(ANSWER)) as (model, _):
            result = subprocess.run(
                [*ORACLE, *ASK],
                env={**os.environ, **env, **model},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=300,
            )
        assert (result.returncode, states(project)[-1]) == (0, "answered")
        assert result.stdout.startswith(b"After 30 minutes")


def test_json_keeps_every_character_as_an_escape(project):
    with model_serving(searches("I look."), says(f"{ANSWER} \x1b[31m\u202e\x9b")) as (model, _):
        result = oracle(*ASK, "--json", env=model)
    done = json.loads(result.stdout.splitlines()[-1])
    assert "\x1b[31m\u202e\x9b" in done["answer"]
    assert result.stdout.isascii()


# -- advice that fits ------------------------------------------------------------------------------


def test_no_time_at_all_still_reads_the_input_that_is_there(project):
    result = oracle(*ASK, "--timeout", "0", stdin=b"")
    assert result.returncode == 3
    assert b"/dev/null" not in result.stderr


def test_a_file_named_like_our_folder_is_to_be_moved_away(project):
    (project / ".oracle").write_text("in the way")
    runs, search = oracle("runs"), oracle("search", "idle")
    assert runs.returncode == 74
    assert runs.stderr.endswith(b"`export ORACLE_DATABASE_URL=sqlite:///$HOME/oracle.db`\n")
    assert b"move the file away; searching" in search.stderr

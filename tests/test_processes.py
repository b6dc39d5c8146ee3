"""A fork of the server is what a fresh interpreter would be, to those who start it."""

import gc
import os
import signal
import subprocess
import sys

import pytest

from tests import processes
from tests.processes import DEVNULL, PIPE, Process, TimeoutExpired

pytestmark = pytest.mark.extra

LOOK = """
import os, sys, time
print(sys.argv[1:], os.getcwd(), os.environ.get("A"), os.environ.get("HOME"), time.strftime("%Z"))
print(sys.stdin.read(), sys.stdout.encoding, sys.stdin.isatty())
print("late", file=sys.stderr)
"""
ENDINGS = {
    "the end": "",
    "exit": "import sys; sys.exit(3)",
    "words": "import sys; sys.exit('why')",
    "exception": "1 / 0",
    "kill": "import os; os.kill(os.getpid(), 9)",
    "interrupt": "import os; os.kill(os.getpid(), 2)",
    "at once": "import os; print('lost', end=''); os._exit(4)",
    "last words": "import atexit; atexit.register(print, 'bye')",
    "late failure": "import atexit; atexit.register(lambda: 1 / 0)",
    "a large code": "import sys; sys.exit(259)",
    "a negative code": "import sys; sys.exit(-1)",
    "no stdout": "import sys; sys.stdout.close()",
    "a broken stdout": "import os; os.close(1); print('lost')",
    "a thread": "import threading; threading.Timer(0.01, print, ['bye']).start()",
}


def both(command, **options):
    """What a fresh interpreter does with a command, and what a fork does."""
    given = {"capture_output": True, "text": True, "timeout": 60, **options}
    for run in (subprocess.run, processes.run):
        done = run([sys.executable, *command], **given)
        yield done.returncode, done.stdout, done.stderr.splitlines()[-1:]


@pytest.mark.parametrize("ending", ENDINGS)
def test_it_ends_as_a_fresh_interpreter_does(ending, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    fresh, forked = both(["-c", ENDINGS[ending]])
    assert forked == fresh


@pytest.mark.parametrize("ending", ["the end", "exit", "kill", "last words"])
def test_a_relayed_command_ends_as_a_fresh_interpreter_does(ending, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    command = [sys.executable, "-c", LOOK + ENDINGS[ending], "x"]
    given = {"capture_output": True, "text": True, "input": "given"}
    fresh, relayed = (
        subprocess.run(each, **given) for each in (command, processes.relayed(command))
    )
    assert relayed.returncode == fresh.returncode
    assert (relayed.stdout, relayed.stderr) == (fresh.stdout, fresh.stderr)


def test_a_relayed_command_gets_the_signals_that_are_sent_to_it():
    wait = "print(1, flush=True); import time; time.sleep(60)"
    command = processes.relayed([sys.executable, "-c", wait])
    with subprocess.Popen(command, stdout=PIPE) as process:
        assert process.stdout.read(1)
        process.send_signal(signal.SIGTERM)
    assert process.returncode == -signal.SIGTERM


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii:replace"])
def test_it_has_its_own_arguments_folder_environment_and_streams(tmp_path, encoding):
    env = {"A": "b", "TZ": "UTC", "PYTHONIOENCODING": encoding, "PATH": os.environ["PATH"]}
    fresh, forked = both(["-c", LOOK, "x", "y z"], cwd=tmp_path, env=env, input="given")
    assert forked == fresh
    assert "given" in forked[1]


def test_a_file_finds_its_neighbours(tmp_path):
    (tmp_path / "neighbour.py").write_text("NAME = 'n'\n")
    (tmp_path / "main.py").write_text("import neighbour, sys; print(neighbour.NAME, sys.argv)\n")
    fresh, forked = both([str(tmp_path / "main.py"), "x"])
    assert forked == fresh


def test_processes_know_nothing_of_each_other():
    first, second = (
        processes.run(
            [sys.executable, "-c", "import json; print(hasattr(json, 'x')); json.x = 1"],
            capture_output=True,
        ).stdout
        for _ in range(2)
    )
    assert first == second == b"False\n"


def test_it_can_be_waited_for_and_interrupted():
    code = "import signal; print('ready', flush=True); signal.pause()"
    command = [sys.executable, "-c", code]
    with Process(command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL) as process:
        assert process.stdout.readline() == b"ready\n"
        with pytest.raises(TimeoutExpired):
            process.wait(0)
        process.send_signal(signal.SIGINT)
        assert process.wait() == -signal.SIGINT


@pytest.mark.parametrize("code", ["import signal; signal.pause()", ""], ids=["busy", "done"])
def test_one_that_a_failed_test_leaves_is_ended_and_disturbs_no_other(code):
    started = Process([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
    reports, output = started._reports, started.stdout
    if not code:
        output.read()
    del started
    gc.collect()
    assert reports.closed
    assert output.closed


def test_one_that_takes_too_long_is_killed():
    command = [sys.executable, "-c", "import signal; signal.pause()"]
    process = Process(command)
    with pytest.raises(TimeoutExpired):
        process.communicate(timeout=0.01)
    assert process.returncode == -signal.SIGKILL

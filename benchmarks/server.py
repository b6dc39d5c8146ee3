"""Many listeners at once: `oracle serve` beside a bare Starlette application that sends as much.

The server, and those who listen, are processes of their own. A simulated model calls a tool and
then says 20 pieces a second for five seconds. `BENCH_STREAMS=50` asks fewer; `BENCH_MINUTES=10`
asks an hour's worth of questions in ten minutes instead, and looks at what stays behind. All come
at once, as they seldom do; so as many are asked again, spread over half a minute.

- Lost: events whose numbers do not follow each other, streams without their last event, and those
  whose text is not the model's. Pieces of text that arrive together may be sent together.
- First: from the request to the first event, and to the first chunk of the run. With many questions
  at once, a first event says that the question waits in a line, and is on disk.
- Memory: the growth of the server's resident set while all streams are open, for one stream.
- CPU: of the server's process, beside that of the bare application, which has as many requests. Of
  a piece while all speak: a second load, in which no answer begins before all questions have begun
  and none ends before all is said (`benchmarks.served`). It counts what happens in between, divided
  by the pieces. The rest of that load is what a question costs besides: its request, the beginning
  of its run, a turn with a tool, its end. Of a piece in all: a whole load, divided by its pieces.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from urllib.request import urlopen

from benchmarks.many import small_project
from benchmarks.measure import report
from benchmarks.served import HELD, PIECES, Served, piece, server

STREAMS = int(os.environ.get("BENCH_STREAMS", "300"))
MANY_STREAMS = int(os.environ.get("BENCH_MANY_STREAMS", "1000"))
SPREAD_SECONDS = 30.0
WARM_UP = 20
"""Questions before the load: what a process keeps once is not counted as part of a stream."""
MINUTES = float(os.environ.get("BENCH_MINUTES", "0"))
MOST_TO_FIRST = 0.5
MOST_MEMORY = 150 * 1024
MOST_CPU = 2.0
QUESTION = "What does handler_7 do?"
"""Each asks it in other words, so that no cache of questions makes the figures better."""
HOUR_OF_QUESTIONS = int(os.environ.get("BENCH_QUESTIONS_OF_HOUR", "1200"))
QUESTIONS_REMEMBERED = int(os.environ.get("BENCH_QUESTIONS_REMEMBERED", "1024"))
"""The server keeps what was made of the words of so many questions, however long it runs."""


@dataclass
class Heard:
    """What those who listened have got."""

    first: list[float] = field(default_factory=list[float])
    begun: list[float] = field(default_factory=list[float])
    events: int = 0
    pieces: int = 0
    lost: int = 0
    problems: list[str] = field(default_factory=list[str])

    def first_of(self, share: float) -> float:
        return _quantile(self.first, share)

    def begun_of(self, share: float) -> float:
        return _quantile(self.begun, share)


def _quantile(values: list[float], share: float) -> float:
    ordered = sorted(values) or [float("inf")]
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass(frozen=True)
class Load:
    """`cpu_of_speaking` is the part of `cpu` in which all speak; 0 if they do not wait for it."""

    heard: Heard
    cpu: float
    memory: float
    cpu_of_speaking: float = 0.0

    @property
    def cpu_of_piece(self) -> float:
        return self.cpu / max(1, self.heard.pieces)


def run() -> None:
    if MINUTES:
        _report_what_stays(MINUTES)
        return
    for count in (STREAMS, MANY_STREAMS):
        _report(count, _loaded("ours", count), _loaded("bare", count))
    _report_first("… first chunk of the run, within half a minute", _loaded_slowly(STREAMS))


def _report(count: int, ours: Load, bare: Load) -> None:
    heard = ours.heard
    what = f"{heard.pieces:,} pieces in {heard.events:,} events"
    print(f"        {count:,} streams at once, {what} {heard.problems[:2] or ''}")
    failed = len(heard.problems)
    report("… failed, events lost", f"{failed}, {heard.lost}", "0, 0", not failed + heard.lost)
    first, peer = heard.first_of(0.95), bare.heard.first_of(0.95)
    report(
        "… first event, p95 (median)",
        f"{first * 1e3:.0f} ms ({heard.first_of(0.5) * 1e3:.0f} ms)",
        f"at most {MOST_TO_FIRST * 1e3:.0f} ms at {STREAMS}; bare {peer * 1e3:.0f}",
        first <= MOST_TO_FIRST or count != STREAMS,
    )
    _report_first("… first chunk of the run, p95 (median)", heard, is_limited=count == STREAMS)
    _report_memory("… memory of a stream", ours, bare)
    _report_cpu(
        "… CPU of a piece, all of its question included", ours.cpu_of_piece, bare.cpu_of_piece
    )
    if count == STREAMS:
        _report_in_step(count)


def _report_in_step(count: int) -> None:
    ours, bare = (_loaded(kind, count, in_step=True) for kind in ("ours", "bare"))
    pieces = max(1, ours.heard.pieces)
    print(f"        {count:,} that speak at the same time {ours.heard.problems[:2] or ''}")
    _report_cpu(
        "… CPU of a piece while all speak",
        ours.cpu_of_speaking / pieces,
        bare.cpu_of_speaking / pieces,
    )
    rest, peer = ((load.cpu - load.cpu_of_speaking) / count for load in (ours, bare))
    report(
        "… CPU of a question besides",
        f"{rest * 1e3:.1f} ms",
        f"no limit; bare {peer * 1e3:.1f} ms",
        True,
    )
    _report_memory("… memory of a stream, all open", ours, bare)


def _report_first(name: str, heard: Heard, *, is_limited: bool = True) -> None:
    begun = heard.begun_of(0.95)
    figure = f"{begun:.2f} s ({heard.begun_of(0.5):.2f} s)"
    goal = f"at most {MOST_TO_FIRST} s at {STREAMS}"
    report(name, figure, goal, begun <= MOST_TO_FIRST or not is_limited)


def _report_memory(name: str, ours: Load, bare: Load) -> None:
    report(
        f"{name} (RSS)",
        f"{ours.memory / 1024:.0f} KB",
        f"at most {MOST_MEMORY // 1024} KB; bare {bare.memory / 1024:.0f} KB",
        ours.memory <= MOST_MEMORY,
    )


def _report_cpu(name: str, ours: float, bare: float) -> None:
    report(
        name,
        f"{ours / bare:.2f} x bare ({ours * 1e6:.0f} µs)",
        f"at most {MOST_CPU:.0f}; bare {bare * 1e6:.0f} µs",
        ours <= MOST_CPU * bare,
    )


def _loaded_slowly(count: int) -> Heard:
    with small_project() as folder, server("ours", folder) as served:
        _ask(served, WARM_UP)
        return _ask(served, count, within=SPREAD_SECONDS)


def _report_what_stays(minutes: float) -> None:
    """An hour's worth of questions, 20 a minute, in so many minutes.

    What the first half leaves is not counted: caches fill up, and a process keeps the memory of
    its busiest moment. It has more questions, if the caches hold more. The second half must add
    nothing.
    """
    half = HOUR_OF_QUESTIONS // 2
    with small_project() as folder, server("ours", folder) as served:
        _ask(served, max(half, QUESTIONS_REMEMBERED), within=30 * minutes)
        time.sleep(3)
        before, tasks_before = _state(served), _tasks(served)
        heard = _ask(served, half, within=30 * minutes)
        time.sleep(3)
        after, tasks_after = _state(served), _tasks(served)
    print(f"        {HOUR_OF_QUESTIONS:,} questions in {minutes:g} minutes: {heard.problems[:2]}")
    grown = (after.memory - before.memory) / half
    report("… failed", f"{len(heard.problems)}", "0", not heard.problems)
    report("… memory that stays", f"{grown / 1024:.1f} KB each", "at most 4 KB", grown <= 4096)
    files = after.files - before.files
    report("… files and connections that stay", f"{files}", "0", files <= 0)
    for name, more in (
        ("threads", after.threads - before.threads),
        ("tasks of the event loop", tasks_after - tasks_before),
    ):
        report(f"… {name} that stay", f"{more}", "0", more <= 0)


def _tasks(served: Served) -> int:
    """Of the server's event loop, as `/metrics` says."""
    host, port = served.address
    with urlopen(f"http://{host}:{port}/metrics", timeout=30) as response:
        rows = dict(line.rsplit(" ", 1) for line in response.read().decode().splitlines())
    return int(rows["oracle_tasks"])


def _loaded(kind: str, count: int, *, in_step: bool = False) -> Load:
    with small_project() as folder, server(kind, folder, count) as served:
        _ask(served, WARM_UP)
        before = _state(served)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            listening = pool.submit(_listen_to, served.address, count, 0.0, in_step=in_step)
            most = max(_sampled(listening, served))
            heard = listening.result()
        cpu = _state(served).cpu - before.cpu
        phases = [served.phases.get() for _ in range(2)] if in_step else [0.0, 0.0]
    memory = (most - before.memory) / count
    return Load(heard, cpu=cpu, memory=memory, cpu_of_speaking=phases[1] - phases[0])


def _ask(served: Served, count: int, within: float = 0.0) -> Heard:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_listen_to, served.address, count, within).result()


def _sampled(listening: Future[Heard], served: Served) -> Iterator[int]:
    while not listening.done():
        yield _state(served).memory
        time.sleep(0.1)
    yield 0


@dataclass(frozen=True)
class State:
    """Of a process: CPU seconds, bytes, and how many files and threads."""

    cpu: float
    memory: int
    files: int
    threads: int


def _state(served: Served) -> State:
    folder = Path(f"/proc/{served.process}")
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    memory = int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    files = len(os.listdir(folder / "fd"))
    return State(cpu=cpu, memory=memory, files=files, threads=int(fields[17]))


# -- those who listen, in a process of their own ---------------------------------------------------


def _listen_to(
    address: tuple[str, int], count: int, within: float, *, in_step: bool = False
) -> Heard:
    """So many streams at once, or spread over that time."""
    heard = Heard()
    question = f"{QUESTION} {HELD}" if in_step else QUESTION

    async def all_of_them() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(count):
                group.create_task(_listen(address, question, heard, number * within / count))

    asyncio.run(all_of_them())
    return heard


async def _listen(address: tuple[str, int], question: str, heard: Heard, wait: float) -> None:
    """Plain sockets: an HTTP client would need more CPU than the server."""
    await asyncio.sleep(wait)
    body = json.dumps({"question": f"{question} ({uuid.uuid4().hex[:8]})"})
    asked = (
        f"POST /api/oracle/stream HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
    )
    started = time.perf_counter()
    expected, has_event, is_whole, text = 0, False, False, ""
    try:
        reader, writer = await asyncio.open_connection(*address, limit=2**22)
        writer.write(asked.encode())
        status = await reader.readline()
        if b" 200 " not in status:
            heard.problems.append(status.decode())
            return
        while line := await reader.readline():
            if line.startswith(b'data: {"type":"content"'):
                text += json.loads(line[6:])["content"]
            if not has_event and line.startswith(b"event: "):
                has_event = True
                heard.first.append(time.perf_counter() - started)
            if not line.startswith(b"id: "):
                is_whole = is_whole or line == b"event: done\n"
                continue
            if line.endswith(b":-1\n"):
                # The question waits, and is on disk. No chunk of the run.
                continue
            if not expected:
                heard.begun.append(time.perf_counter() - started)
            heard.lost += int(line.rpartition(b":")[2]) != expected
            expected += 1
        writer.close()
    except OSError as problem:
        heard.problems.append(str(problem))
        return
    heard.events += expected
    is_said = "".join(map(piece, range(PIECES))) in text
    heard.pieces += PIECES * is_said
    heard.lost += not (is_whole and is_said)

"""Many listeners at once: `oracle serve` beside a bare Starlette application that sends as much.

The server, and those who listen, are processes of their own. A simulated model calls a tool and
then says 20 pieces a second for five seconds. `BENCH_STREAMS=50` asks fewer; `BENCH_MINUTES=10`
asks an hour's worth of questions in ten minutes instead, and looks at what stays behind. All come
at once, as they seldom do; so as many are asked again, spread over half a minute.

- Lost: events whose numbers do not follow each other, streams without their last event, and those
  whose text is not the model's. Pieces of text that arrive together may be sent together.
- First: from the request to the first event, and to the first chunk of the run. With many questions
  at once, a first event says that the question waits in a line.
- Memory: the growth of the server's resident set while all streams are open, for one stream.
- CPU: of the server's process, for one piece delivered, beside that of the bare application. It has
  all that a question costs, also before its first piece. The same load with answers of one piece
  tells these two apart: what a question costs, and what one more piece does.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
import uuid
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import uvloop

from benchmarks.many import small_project
from benchmarks.measure import report
from oracle.services.background import run_async
from oracle.testing import signal

STREAMS = int(os.environ.get("BENCH_STREAMS", "300"))
MANY_STREAMS = int(os.environ.get("BENCH_MANY_STREAMS", "1000"))
SPREAD_SECONDS = 30.0
MINUTES = float(os.environ.get("BENCH_MINUTES", "0"))
PIECES = int(os.environ.get("BENCH_PIECES", "100"))
SECONDS_BETWEEN = 0.05
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
    heard: Heard
    cpu: float
    memory: float

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
    report(
        "… memory of a stream (RSS)",
        f"{ours.memory / 1024:.0f} KB",
        f"at most {MOST_MEMORY // 1024} KB; bare {bare.memory / 1024:.0f} KB",
        ours.memory <= MOST_MEMORY,
    )
    _report_ratio("… CPU of a piece, to the bare application", ours.cpu_of_piece, bare.cpu_of_piece)
    if count == STREAMS:
        _report_split(count, ours, bare)


def _report_first(name: str, heard: Heard, *, is_limited: bool = True) -> None:
    begun = heard.begun_of(0.95)
    figure = f"{begun:.2f} s ({heard.begun_of(0.5):.2f} s)"
    goal = f"at most {MOST_TO_FIRST} s at {STREAMS}"
    report(name, figure, goal, begun <= MOST_TO_FIRST or not is_limited)


def _report_ratio(name: str, ours: float, bare: float) -> None:
    report(
        name,
        f"{ours / bare:.2f} ({ours * 1e6:.0f} µs)",
        f"at most {MOST_CPU:.0f}; bare {bare * 1e6:.0f} µs",
        ours <= MOST_CPU * bare,
    )


def _report_split(count: int, ours: Load, bare: Load) -> None:
    os.environ["BENCH_PIECES"] = "1"
    try:
        short, peer = _loaded("ours", count), _loaded("bare", count)
    finally:
        del os.environ["BENCH_PIECES"]
    more = count * (PIECES - 1)
    _report_ratio(
        "… CPU of one more piece, to the bare application",
        (ours.cpu - short.cpu) / more,
        (bare.cpu - peer.cpu) / more,
    )
    report(
        "… CPU of a question with one piece",
        f"{short.cpu / count * 1e3:.1f} ms",
        f"no limit; bare {peer.cpu / count * 1e3:.1f} ms",
        True,
    )


def _loaded_slowly(count: int) -> Heard:
    with small_project() as folder, _server("ours", folder) as (address, _):
        _ask(address, "ours", 5)
        return _ask(address, "ours", count, within=SPREAD_SECONDS)


def _report_what_stays(minutes: float) -> None:
    """An hour's worth of questions, 20 a minute, in so many minutes.

    What the first half leaves is not counted: caches fill up, and a process keeps the memory of
    its busiest moment. It has more questions, if the caches hold more. The second half must add
    nothing.
    """
    half = HOUR_OF_QUESTIONS // 2
    with small_project() as folder, _server("ours", folder) as (address, process):
        _ask(address, "ours", max(half, QUESTIONS_REMEMBERED), within=30 * minutes)
        time.sleep(3)
        before, tasks_before = _state(process), _tasks(address)
        heard = _ask(address, "ours", half, within=30 * minutes)
        time.sleep(3)
        after, tasks_after = _state(process), _tasks(address)
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


def _tasks(address: tuple[str, int]) -> int:
    """Of the server's event loop, as `/metrics` says."""
    with urlopen(f"http://{address[0]}:{address[1]}/metrics", timeout=30) as response:
        rows = dict(line.rsplit(" ", 1) for line in response.read().decode().splitlines())
    return int(rows["oracle_tasks"])


def _loaded(kind: str, count: int) -> Load:
    with small_project() as folder, _server(kind, folder) as (address, process):
        _ask(address, kind, 5)
        before = _state(process)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            listening = pool.submit(_listen_to, address, kind, count, 0.0)
            most = max(_sampled(listening, process))
            heard = listening.result()
        cpu = _state(process).cpu - before.cpu
    return Load(heard, cpu=cpu, memory=(most - before.memory) / count)


def _ask(address: tuple[str, int], kind: str, count: int, within: float = 0.0) -> Heard:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_listen_to, address, kind, count, within).result()


def _sampled(listening: Future[Heard], process: int) -> Iterator[int]:
    while not listening.done():
        yield _state(process).memory
        time.sleep(0.1)
    yield 0


@dataclass(frozen=True)
class State:
    """Of a process: CPU seconds, bytes, and how many files and threads."""

    cpu: float
    memory: int
    files: int
    threads: int


def _state(process: int) -> State:
    folder = Path(f"/proc/{process}")
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    memory = int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    files = len(os.listdir(folder / "fd"))
    return State(cpu=cpu, memory=memory, files=files, threads=int(fields[17]))


# -- the servers, each in a process of its own -----------------------------------------------------


@contextmanager
def _server(kind: str, folder: Path) -> Generator[tuple[tuple[str, int], int]]:
    """Its address and the number of its process."""
    (folder / "oracle.toml").write_text(
        "[server]\nmost_runs = 2000\nmost_runs_of_user = 2000\nrequests_per_minute = 'off'\n"
        "[limits]\nseconds = 600\n"
    )
    with socket.create_server(("127.0.0.1", 0), backlog=4096) as sock:
        serve: Callable[[socket.socket, str], None] = _serve_ours if kind == "ours" else _serve_bare
        process = get_context("spawn").Process(target=serve, args=(sock, str(folder)))
        process.start()
        try:
            assert process.pid is not None
            yield sock.getsockname(), process.pid
        finally:
            process.terminate()
            process.join(30)
            if process.is_alive():
                process.kill()


def _serve_ours(sock: socket.socket, folder: str) -> None:
    # As in `oracle serve`: the command line tool sets how often garbage is looked for.
    import oracle.cli  # noqa: F401  # pyright: ignore[reportUnusedImport]

    run_async(_ours(sock, Path(folder)), uvloop.new_event_loop)


async def _ours(sock: socket.socket, folder: Path) -> None:
    from oracle.api.app import create_app
    from oracle.api.door import opened
    from oracle.api.serving import server_of
    from oracle.settings import load_settings

    model: Any = _Model()
    async with opened(load_settings(folder), folder, model=model, seconds_to_close=1) as door:
        await server_of(create_app(door), seconds_to_close=1).serve(sockets=[sock])


def _serve_bare(sock: socket.socket, folder: str) -> None:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import StreamingResponse
    from starlette.routing import Route

    from oracle.api.serving import server_of

    async def events() -> AsyncIterator[bytes]:
        for number in range(PIECES):
            data = {"type": "content", "turn": 2, "content": _piece(number)}
            text = json.dumps(data, separators=(",", ":"))
            yield f"id: run:{number}\nevent: content\ndata: {text}\n\n".encode()
            await asyncio.sleep(SECONDS_BETWEEN)
        yield f"id: run:{PIECES}\nevent: done\ndata: {{}}\n\n".encode()

    async def stream(request: Request) -> StreamingResponse:
        await request.json()
        return StreamingResponse(events(), media_type="text/event-stream")

    app = Starlette(routes=[Route("/api/oracle/stream", stream, methods=["POST"])])
    run_async(server_of(app, seconds_to_close=1).serve(sockets=[sock]), uvloop.new_event_loop)


def _piece(number: int) -> str:
    words = [
        "kind",
        "request",
        "handler",
        "returns",
        "whether",
        "value",
        "equals",
        "number",
        "part",
        "that",
        "asks",
    ]
    chosen = (words[(number * 7 + place * 3) % len(words)] for place in range(7))
    return f"{' '.join(chosen)} {number}. "


class _Model:
    name = "simulated"
    context_window = 200_000
    longest_output = 4_096

    def __init__(self) -> None:
        from oracle.services.llm.protocol import Prices

        self.prices = Prices(input=0.0, output=0.0)

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        if not any(message["role"] == "tool" for message in request.messages):
            yield {"text": signal("need_turn", reason="nothing was read yet")}
            call = {"id": "call-1", "name": "read_file", "arguments": {"path": "handler_7.py"}}
            yield {"tool_call": call}
        else:
            for number in range(PIECES):
                yield {"text": _piece(number)}
                await asyncio.sleep(SECONDS_BETWEEN)
            yield {"text": "See handler_7.py:4. " + signal("context_sufficient", sources_found=1)}
        yield {"usage": {"input_tokens": 100, "output_tokens": 50}}


# -- those who listen, in a process of their own ---------------------------------------------------


def _listen_to(address: tuple[str, int], kind: str, count: int, within: float) -> Heard:
    """So many streams at once, or spread over that time."""
    heard = Heard()

    async def all_of_them() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(count):
                group.create_task(_listen(address, heard, number * within / count))

    asyncio.run(all_of_them())
    return heard


async def _listen(address: tuple[str, int], heard: Heard, wait: float) -> None:
    """Plain sockets: an HTTP client would need more CPU than the server."""
    await asyncio.sleep(wait)
    body = json.dumps({"question": f"{QUESTION} ({uuid.uuid4().hex[:8]})"})
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
            if not expected:
                heard.begun.append(time.perf_counter() - started)
            heard.lost += int(line.rpartition(b":")[2]) != expected
            expected += 1
        writer.close()
    except OSError as problem:
        heard.problems.append(str(problem))
        return
    heard.events += expected
    is_said = "".join(map(_piece, range(PIECES))) in text
    heard.pieces += PIECES * is_said
    heard.lost += not (is_whole and is_said)

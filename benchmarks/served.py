"""The servers of `benchmarks.server`: ours, and the bare application that it is compared with.

Each is a process of its own. A question that has the word `HELD` is answered in step with the
others: no answer begins before all questions have begun, and none ends before all were said. In
between all are under way and nothing else happens. The server notes its CPU at both moments.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

import uvloop

from oracle.services.background import run_async
from oracle.testing import signal

PIECES = int(os.environ.get("BENCH_PIECES", "100"))
SECONDS_BETWEEN = 0.05
HELD = "(in step)"
SECONDS_TO_SEND = 1.5
"""From the last piece that was said until all are with those who listen."""


@dataclass(frozen=True)
class Served:
    """A server under test. `phases` gets its CPU when all have begun, and when all is said."""

    address: tuple[str, int]
    process: int
    phases: Any


class _Step:
    """Lets `count` answers begin together, and end together."""

    def __init__(self, count: int, phases: Any) -> None:
        self._count = count
        self._phases = phases
        self._begun = self._said = 0
        self._may_begin, self._may_end = asyncio.Event(), asyncio.Event()

    async def begin(self) -> None:
        self._begun += 1
        if self._begun == self._count:
            self._phases.put(time.process_time())
            self._may_begin.set()
        await self._may_begin.wait()

    async def end(self) -> None:
        self._said += 1
        if self._said == self._count:
            await asyncio.sleep(SECONDS_TO_SEND)
            self._phases.put(time.process_time())
            self._may_end.set()
        await self._may_end.wait()


Serve: TypeAlias = Callable[[socket.socket, str, int, Any], None]


@contextmanager
def server(kind: str, folder: Path, count: int = 0) -> Generator[Served]:
    """`count` questions are answered in step, if they say so."""
    (folder / "oracle.toml").write_text(
        "[server]\nmost_runs = 2000\nmost_runs_of_user = 2000\nrequests_per_minute = 'off'\n"
        "[limits]\nseconds = 600\n"
    )
    with socket.create_server(("127.0.0.1", 0), backlog=4096) as sock:
        serve: Serve = _serve_ours if kind == "ours" else _serve_bare
        context = get_context("spawn")
        phases: Any = context.SimpleQueue()
        process = context.Process(target=serve, args=(sock, str(folder), count, phases))
        process.start()
        try:
            assert process.pid is not None
            yield Served(sock.getsockname(), process.pid, phases)
        finally:
            process.terminate()
            process.join(30)
            if process.is_alive():
                process.kill()


def _serve_ours(sock: socket.socket, folder: str, count: int, phases: Any) -> None:
    # As in `oracle serve`: the command line tool sets how often garbage is looked for.
    import oracle.cli  # noqa: F401  # pyright: ignore[reportUnusedImport]

    run_async(_ours(sock, Path(folder), _Step(count, phases)), uvloop.new_event_loop)


async def _ours(sock: socket.socket, folder: Path, step: _Step) -> None:
    from oracle.api.app import create_app
    from oracle.api.door import opened
    from oracle.api.serving import server_of
    from oracle.settings import load_settings

    model: Any = _Model(step)
    async with opened(load_settings(folder), folder, model=model, seconds_to_close=1) as door:
        await server_of(create_app(door), seconds_to_close=1).serve(sockets=[sock])


def _serve_bare(sock: socket.socket, folder: str, count: int, phases: Any) -> None:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import StreamingResponse
    from starlette.routing import Route

    from oracle.api.serving import server_of

    step = _Step(count, phases)

    async def events(*, is_held: bool) -> AsyncIterator[bytes]:
        if is_held:
            await step.begin()
        for number in range(PIECES):
            data = {"type": "content", "turn": 2, "content": piece(number)}
            text = json.dumps(data, separators=(",", ":"))
            yield f"id: run:{number}\nevent: content\ndata: {text}\n\n".encode()
            await asyncio.sleep(SECONDS_BETWEEN)
        if is_held:
            await step.end()
        yield f"id: run:{PIECES}\nevent: done\ndata: {{}}\n\n".encode()

    async def stream(request: Request) -> StreamingResponse:
        asked = await request.json()
        parts = events(is_held=HELD in asked["question"])
        return StreamingResponse(parts, media_type="text/event-stream")

    app = Starlette(routes=[Route("/api/oracle/stream", stream, methods=["POST"])])
    run_async(server_of(app, seconds_to_close=1).serve(sockets=[sock]), uvloop.new_event_loop)


def piece(number: int) -> str:
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

    def __init__(self, step: _Step) -> None:
        from oracle.services.llm.protocol import Prices

        self._step = step
        self.prices = Prices(input=0.0, output=0.0)

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        if not any(message["role"] == "tool" for message in request.messages):
            yield {"text": signal("need_turn", reason="nothing was read yet")}
            call = {"id": "call-1", "name": "read_file", "arguments": {"path": "handler_7.py"}}
            yield {"tool_call": call}
        else:
            is_held = any(HELD in message["content"] for message in request.messages)
            if is_held:
                await self._step.begin()
            for number in range(PIECES):
                yield {"text": piece(number)}
                await asyncio.sleep(SECONDS_BETWEEN)
            if is_held:
                await self._step.end()
            yield {"text": "See handler_7.py:4. " + signal("context_sufficient", sources_found=1)}
        yield {"usage": {"input_tokens": 100, "output_tokens": 50}}

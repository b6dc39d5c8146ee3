"""What our adapter adds to pydantic-ai's direct API: the same answer from the same server, in turn.

The server runs in a process of its own, so that CPU time is the client's alone.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

from benchmarks.measure import report
from oracle.services.llm.clients import direct_model
from oracle.services.llm.opening import open_model
from oracle.services.llm.protocol import Model, ModelRequest
from oracle.services.llm.providers import find_endpoint
from oracle.testing.servers import Reply, ScriptedServer, anthropic, openai

CHUNKS = 2_000
ROUNDS = 15
MOST_ADDED = 1.05
WIRES = {"anthropic:claude-sonnet-5": anthropic, "openai:gpt-5": openai}


def run() -> None:
    for name, wire in WIRES.items():
        with _server(name) as address:
            suffix = "" if wire is anthropic else "/v1"
            _compare(name, address + suffix)


def _compare(name: str, address: str) -> None:
    with asyncio.Runner() as runner:
        peer, ours = _peer(name, address), _ours(open_model(name, base_url=address))
        theirs, mine = _cheapest(runner, peer, ours)
    ratio = mine / theirs
    each = f"{mine / CHUNKS * 1e6:.1f} µs / {theirs / CHUNKS * 1e6:.1f} µs a chunk"
    report(
        f"{name.partition(':')[0]}: an answer of {CHUNKS} chunks",
        f"{ratio:.3f} ({each})",
        f"at most {MOST_ADDED} of pydantic-ai direct",
        ratio <= MOST_ADDED,
    )


def _cheapest(runner: asyncio.Runner, *works: Callable[[], Awaitable[object]]) -> tuple[float, ...]:
    """CPU seconds. The rounds alternate, so that a disturbance meets all; the least disturbed of
    each counts.
    """
    best = [float("inf")] * len(works)
    for _ in range(ROUNDS):
        for index, work in enumerate(works):
            start = time.process_time()
            runner.run(_awaited(work))
            best[index] = min(best[index], time.process_time() - start)
    return tuple(best)


async def _awaited(work: Callable[[], Awaitable[object]]) -> None:
    await work()


def _ours(model: Model) -> Callable[[], Awaitable[object]]:
    request = ModelRequest(messages=[{"role": "user", "content": "hi"}])

    async def ask() -> None:
        chunks = 0
        async for _ in model.stream(request):
            chunks += 1
        assert chunks == CHUNKS + 1

    return ask


def _peer(name: str, address: str) -> Callable[[], Awaitable[object]]:
    from pydantic_ai import ModelRequest as DirectRequest
    from pydantic_ai.direct import model_request_stream

    model = direct_model(find_endpoint(name, {}, base_url=address), 120)

    async def ask() -> None:
        messages = [DirectRequest.user_text_prompt("hi")]
        chunks = 0
        async with model_request_stream(model, messages) as response:
            async for _ in response:
                chunks += 1
        assert chunks >= CHUNKS

    return ask


@contextmanager
def _server(name: str) -> Iterator[str]:
    code = f"from benchmarks.models import serve; serve({name!r})"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout
            yield child.stdout.readline().strip()
        finally:
            child.kill()


def serve(name: str) -> None:
    """What the other process does until it is killed."""
    asyncio.run(_serve(WIRES[name]))


async def _serve(wire: ModuleType) -> None:
    body = wire.stream(wire.text(*(f"word{n} " for n in range(CHUNKS))))
    async with ScriptedServer(Reply(body=body), endless=True) as server:
        print(server.url, flush=True)
        await asyncio.get_running_loop().create_future()

"""What a question costs once, however many turns it has: Python calls in all threads, and CPU.

A scripted model calls one tool and answers, in a project of 200 files with a warm index and a
database on disk. Each question has other words, so that no memory of questions helps. The calls of
the two turns are part of it; `python -m benchmarks loop` says what a turn takes. Calls hardly vary,
so they can be compared between two versions on a machine that is busy.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeAlias

from benchmarks.measure import report
from oracle.testing import signal

Ask: TypeAlias = Callable[[], Awaitable[None]]

FILES = 200
WARM_UP, COUNTED, CROWD = 3, 5, 100
MOST_CALLS = 3_000
QUESTION = "What does handler_7 do?"
TEXT = "It says whether the kind of the request is the one that it handles. See handler_7.py:4. "


def run() -> None:
    by_thread = _in_a_fresh_process(calls_by_thread)
    calls = sum(by_thread.values())
    most = sorted(by_thread.items(), key=lambda each: -each[1])[:3]
    parts = ", ".join(f"{name} {count:,.0f}" for name, count in most)
    report(
        "calls of a question, durable, 200 files, two turns",
        f"{calls:,.0f} ({parts})",
        f"at most {MOST_CALLS:,}; ratio {calls / MOST_CALLS:.2f}",
        calls <= MOST_CALLS,
    )
    alone, together = _in_a_fresh_process(cpu_seconds)
    figure = f"{alone * 1e3:.1f} ms; of {CROWD} at once {together * 1e3:.1f} ms each"
    report("… its CPU in all threads, one after the other", figure, "(for information)", True)


class _Counted:
    """Counts the calls of Python functions by thread, while it is on."""

    def __init__(self) -> None:
        self.is_on = False
        self.calls: Counter[str] = Counter()

    def __call__(self, frame: object, event: str, argument: object) -> None:
        if self.is_on and event == "call":
            self.calls[threading.current_thread().name] += 1


def calls_by_thread() -> dict[str, float]:
    counted = _Counted()
    # Before the first thread is started: each one counts its own calls.
    threading.setprofile(counted)

    async def count(ask: Ask) -> None:
        sys.setprofile(counted)
        counted.is_on = True
        for _ in range(COUNTED):
            await ask()
        counted.is_on = False
        sys.setprofile(None)

    _in_a_project(count)
    return {name: count / COUNTED for name, count in counted.calls.items()}


def cpu_seconds() -> tuple[float, float]:
    """Of a question alone, and of one among many at once."""
    spent: list[float] = []

    async def measure(ask: Ask) -> None:
        began = time.process_time()
        for _ in range(CROWD):
            await ask()
        spent.append(time.process_time() - began)
        began = time.process_time()
        await asyncio.gather(*(ask() for _ in range(CROWD)))
        spent.append(time.process_time() - began)

    _in_a_project(measure)
    return spent[0] / CROWD, spent[1] / CROWD


def _in_a_project(work: Callable[[Ask], Awaitable[None]]) -> None:
    folder = Path(mkdtemp(prefix="question"))
    try:
        _plant(folder)
        asyncio.run(_asking(folder, work))
    finally:
        shutil.rmtree(folder)


async def _asking(folder: Path, work: Callable[[Ask], Awaitable[None]]) -> None:
    from oracle import Oracle

    model: Any = _Model()
    async with Oracle(project=folder, model=model) as oracle:

        async def ask() -> None:
            answer = await oracle.ask(f"{QUESTION} ({uuid.uuid4().hex[:8]})")
            assert answer.stop_reason == "answered", answer

        for _ in range(WARM_UP):
            await ask()
        await work(ask)


def _plant(folder: Path) -> None:
    (folder / "oracle.toml").write_text("")
    os.environ["ORACLE_TRUST"] = str(folder)
    for number in range(FILES):
        source = f'"""Handles requests of kind {number}."""\n\n\ndef handler_{number}(request):\n'
        (folder / f"handler_{number}.py").write_text(
            f"{source}    return request.kind == {number}\n"
        )


class _Model:
    name = "scripted"
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
            for at in range(0, len(TEXT), 12):
                yield {"text": TEXT[at : at + 12]}
            yield {"text": signal("context_sufficient", sources_found=1)}
        yield {"usage": {"input_tokens": 100, "output_tokens": 50}}


def _in_a_fresh_process(measure: Callable[[], Any]) -> Any:
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure).result()

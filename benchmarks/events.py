"""Events: what emitting costs, how fast the table fills, and how fast a run is found in it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import cost_of, report
from oracle.services.ans.bus import EventBus
from oracle.services.ans.event import Event, running_in
from oracle.services.ans.query import EventQuery
from oracle.services.ans.table import EventsTable, open_events, pages
from oracle.services.ans.writer import EventWriter, recording
from oracle.services.storage.database import Database

EVENTS = 100_000
RUNS = 400
PAYLOAD = {"call_id": "call-17", "tool": "search_code", "arguments": {"query": "the parser"}}


def run() -> None:
    _emitting()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "oracle.db"
        asyncio.run(_migrate(path))
        _filling(path)
        table = open_events(path)
        _reading(table)
        table.close()


def tool_called() -> Event:
    return Event(type="tool.called", source="benchmark", payload=PAYLOAD)


def _emitting() -> None:
    bus = EventBus()
    bus.subscribe(lambda _: None)
    event = tool_called()
    both = cost_of(lambda: bus.emit(tool_called()), calls=1000)
    told = cost_of(lambda: bus.emit(event), calls=1000)
    figure = f"{both.cpu * 1e6:.1f} µs, of which emitting {told.cpu * 1e6:.1f} µs"
    report("making an event and emitting it to a subscriber", figure, "<10 µs", both.cpu < 1e-5)
    writer = EventWriter(_Nowhere, gather=3600)
    queued = cost_of(lambda: writer(event), calls=1000, rounds=20)
    report("queueing it for the writer", f"{queued.cpu * 1e6:.2f} µs", "(for information)", True)
    writer.close()


class _Nowhere:
    def append(self, events: object) -> None: ...

    def close(self) -> None: ...


async def _migrate(path: Path) -> None:
    await (await Database.open(path)).close()


def _filling(path: Path) -> None:
    bus = EventBus()
    began = time.perf_counter()
    with recording(path, bus):
        for number in range(EVENTS):
            with running_in(f"run-{number % RUNS}", number // RUNS):
                bus.emit(tool_called())
        emitted = time.perf_counter() - began
    written = time.perf_counter() - began
    figure = f"{written:.1f} s ({emitted:.1f} s to emit)"
    report(f"{EVENTS:,} events, until the last is written", figure, "(for information)", True)


def _reading(table: EventsTable) -> None:
    query = EventQuery(run_id="run-7")
    assert sum(len(page) for page in pages(table, query)) == EVENTS // RUNS
    cost = cost_of(lambda: list(pages(table, query)), calls=1, rounds=20)
    name = f"reading a run's {EVENTS // RUNS} events among {EVENTS:,}"
    report(name, f"{cost.wall * 1e3:.1f} ms", "within 50 ms", cost.wall < 0.05)

"""What it costs to write a turn down, beside raw commits, and to replay a run."""

from __future__ import annotations

import asyncio
import sqlite3
import time
import uuid
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.measure import report
from oracle.bt.core.context import TickContext
from oracle.bt.core.leaves import LeafRegistry
from oracle.bt.state.base import SUCCESS, RunStatus
from oracle.bt.wrappers.recipe import Recipe
from oracle.bt.wrappers.recorded_tree import RecordedTree
from oracle.bt.wrappers.run_store import RunStore
from oracle.services.journal import MemorySink
from oracle.services.journal.writer import journal_writer
from oracle.services.storage.database import Database

TURNS = 30
RECORDS_OF_A_TURN = 5
leaves = LeafRegistry()


@leaves.action(reads=["turn"], writes=["turn"])
async def model(ctx: TickContext) -> RunStatus:
    async def response() -> AsyncIterator[str]:
        for number in range(8):
            yield f"part {number} of what the model says in this turn "

    ctx.turn += 1
    _ = [part async for part in ctx.stream({"turn": ctx.turn}, response)]
    return SUCCESS


@leaves.action()
async def tool(ctx: TickContext) -> RunStatus:
    async def result() -> dict[str, str]:
        return {"content": "a line of a file\n" * 20}

    await ctx.perform({"path": "src/a.py"}, result)
    return SUCCESS


@leaves.action(reads=["turn"], writes=["turn"])
async def decide(ctx: TickContext) -> RunStatus:
    async def decision() -> dict[str, str]:
        return {"decided": "another turn"}

    await ctx.perform({"decide": ctx.turn}, decision)
    ctx.blackboard.set("turn", ctx.turn)
    if ctx.services is not None:
        await ctx.services()
    return SUCCESS


SOURCES = {
    "bench.lua": f"""
        BT.tree("bench", {{
          blackboard = {{ turn = {{ type = "integer", default = 0 }} }},
          root = BT.loop("turns", {{ max = 100, BT.sequence("turn", {{
            BT.action("model", {{ fn = "{__name__}.model" }}),
            BT.parallel("tools", {{
              BT.action("one", {{ fn = "{__name__}.tool" }}),
              BT.action("two", {{ fn = "{__name__}.tool" }}),
            }}),
            BT.action("decide", {{ fn = "{__name__}.decide" }}),
            BT.always_succeed(BT.sequence("enough", {{
              BT.condition("last", {{ expression = "bb.turn >= {TURNS}" }}),
              BT.exit("turns"),
            }})),
          }}) }}),
        }})"""
}


def recipe() -> Recipe:
    return Recipe(tree="bench", sources=SOURCES, board={})


def run() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "oracle.db"
        wall, cpu = asyncio.run(_durable_turn(path))
        raw = _raw_commit(path)
    report(
        "a durable turn, SQLite with synchronous=FULL",
        f"{wall / raw:.2f} commits ({wall * 1e3:.2f} ms / {raw * 1e3:.2f} ms)",
        "at most 3 raw commits",
        wall / raw <= 3,
    )
    report("… its CPU", f"{cpu * 1e3:.2f} ms", "at most 0.8 ms", cpu <= 0.8e-3)
    seconds = asyncio.run(_replay())
    figure = f"{seconds * 1e3:.1f} ms"
    report(f"replaying a run of {TURNS} turns", figure, "under 50 ms", seconds < 0.05)


async def _durable_turn(path: Path) -> tuple[float, float]:
    """The median turn, each ending on disk; CPU is that of all threads."""
    async with await Database.open(path) as database:
        writer = journal_writer(database.url, on_failure="stop")
        store = RunStore(database, writer, leaves=leaves)
        walls: list[float] = []
        cpus: list[float] = []
        tree = await store.begin(recipe())

        async def end_of_turn() -> None:
            await tree.journal.flush()
            walls.append(time.perf_counter())
            cpus.append(time.process_time())

        tree.tree_run.context.services = end_of_turn
        await tree.settle()
        writer.close()
    return _median_step(walls), _median_step(cpus)


def _median_step(moments: list[float]) -> float:
    return median(later - sooner for sooner, later in pairwise(moments))


def _raw_commit(path: Path) -> float:
    """As many rows of about the same size as a turn has records, on the plain driver."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = FULL")
    costs: list[float] = []
    for _ in range(100):
        began = time.perf_counter()
        rows = [(uuid.uuid4().hex, "x" * 400) for _ in range(RECORDS_OF_A_TURN)]
        connection.executemany("INSERT INTO blobs (hash, body) VALUES (?, ?)", rows)
        connection.commit()
        costs.append(time.perf_counter() - began)
    connection.close()
    return median(costs)


async def _replay() -> float:
    sink = MemorySink()
    await RecordedTree(recipe(), sink, leaves=leaves).settle()
    best = float("inf")
    for _ in range(10):
        replay = RecordedTree.replay(sink.records, sink.contents, leaves=leaves)
        began = time.process_time()
        await replay.settle()
        best = min(best, time.process_time() - began)
    return best

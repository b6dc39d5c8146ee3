"""The engine beside py_trees: the same tree of 61 nodes, five deep, in both."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import py_trees

from benchmarks.measure import cost_of, memory_of, report
from oracle.bt.core.context import TickContext
from oracle.bt.core.definition import TreeDefinition
from oracle.bt.core.node import Node
from oracle.bt.core.runtime import TreeRun
from oracle.bt.lua.library import TreeLibrary
from oracle.bt.nodes import Action, Sequence
from oracle.bt.state.base import RUNNING, SUCCESS, RunStatus

WIDTHS = (4, 2, 2, 2)
"""Children a node on each level: 1 + 4 + 8 + 16 + 32 = 61 nodes, 32 of them leaves."""
NODES = 61
LEAVES = 32


def our_tree(answers: list[Callable[[TickContext], RunStatus]]) -> TreeDefinition:
    leaves = iter(answers)

    def grow(widths: tuple[int, ...]) -> Node:
        if not widths:
            return Action(fn=next(leaves))
        return Sequence(*(grow(widths[1:]) for _ in range(widths[0])))

    return TreeDefinition("bench", grow(WIDTHS))


def peer_tree(answers: list[py_trees.common.Status]) -> py_trees.behaviour.Behaviour:
    leaves = iter(answers)

    class Leaf(py_trees.behaviour.Behaviour):
        def __init__(self) -> None:
            super().__init__("leaf")
            self.answer = next(leaves)

        def update(self) -> py_trees.common.Status:
            return self.answer

    def grow(widths: tuple[int, ...]) -> py_trees.behaviour.Behaviour:
        if not widths:
            return Leaf()
        children = [grow(widths[1:]) for _ in range(widths[0])]
        return py_trees.composites.Sequence("sequence", memory=True, children=children)

    return grow(WIDTHS)


def succeed(_: TickContext) -> RunStatus:
    return SUCCESS


def wait(_: TickContext) -> RunStatus:
    return RUNNING


async def wait_for_ever(_: TickContext) -> RunStatus:
    await asyncio.get_running_loop().create_future()
    return SUCCESS


def run() -> None:
    _ticks("a node tick, all 61 nodes ticked", succeed, py_trees.common.Status.SUCCESS, 0.04)
    _ticks("ticking again while the last leaf waits", wait, py_trees.common.Status.RUNNING, 0.10)
    _watching()
    _memory()
    _loading()


def _ticks(
    what: str,
    last: Callable[[TickContext], RunStatus],
    peer_last: py_trees.common.Status,
    limit: float,
) -> None:
    ours = TreeRun(our_tree([*[succeed] * (LEAVES - 1), last]), TickContext(tick_budget=10**9))
    peer = peer_tree([*[py_trees.common.Status.SUCCESS] * (LEAVES - 1), peer_last])
    mine = cost_of(ours.tick, calls=100)
    theirs = cost_of(peer.tick_once, calls=5)
    ratio = mine.cpu / theirs.cpu
    figure = f"{ratio:.4f} ({mine.cpu / NODES * 1e6:.3f} µs / {theirs.cpu / NODES * 1e6:.2f} µs)"
    report(what, figure, f"at most {limit} of py_trees", ratio <= limit)


def _watching() -> None:
    definition = our_tree([succeed] * LEAVES)
    plain = TreeRun(definition, TickContext(tick_budget=10**9))
    watched = TreeRun(definition, TickContext(tick_budget=10**9))
    watched.subscribe(lambda *_: None)
    ratio = cost_of(watched.tick, calls=100).cpu / cost_of(plain.tick, calls=100).cpu
    report("with one subscriber, against none", f"{ratio:.2f}", "at most 2", ratio <= 2)


def _memory() -> None:
    definition = our_tree([*[succeed] * (LEAVES - 1), wait_for_ever])

    async def ours() -> float:
        def live_run() -> object:
            started = TreeRun(definition)
            return started, asyncio.get_running_loop().create_task(started.settle())

        runs = 2000
        before = asyncio.all_tasks()
        used = await _memory_when_settled(live_run, runs)
        for task in asyncio.all_tasks() - before:
            task.cancel()
        return used

    peer = memory_of(lambda: peer_tree([py_trees.common.Status.SUCCESS] * LEAVES), count=200)
    mine = asyncio.run(ours())
    ratio = mine / peer
    figure = f"{ratio:.3f} ({mine / 1000:.1f} KB / {peer / 1000:.1f} KB)"
    report("memory of a live run, tasks included", figure, "at most 0.1 of py_trees", ratio <= 0.1)


async def _memory_when_settled(make: Callable[[], object], count: int) -> float:
    tracemalloc.start()
    keep = [make() for _ in range(count)]
    for _ in range(5):
        await asyncio.sleep(0)
    gc.collect()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert keep
    return used / count


def _loading() -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "large.lua"
        file.write_text(_three_hundred_lines(), encoding="utf-8")
        cost = cost_of(lambda: TreeLibrary([file]), calls=2, rounds=20)
    report(
        "loading and checking a tree of 300 lines",
        f"{cost.cpu * 1e3:.1f} ms",
        "under 20 ms",
        cost.cpu < 0.02,
    )


def _three_hundred_lines() -> str:
    """Write 49 branches of six lines; every other node has options that must be checked."""
    branches = [
        f"""  BT.sequence("branch {number}", {{
    BT.condition("due", {{ expression = "bb.turn % {number + 1} == 0 and not bb.done" }}),
    BT.retry("patiently", {{ attempts = 3,
      BT.timeout("quickly", {{ seconds = 1, BT.condition("x", {{ expression = "#bb.log > 3" }}) }}),
    }}),
  }}),"""
        for number in range(49)
    ]
    lines = [
        'BT.tree("large", {',
        '  blackboard = { turn = "integer", done = "boolean", log = "list" },',
        '  root = BT.selector("all", {',
        *branches,
        "  }),",
        "})",
    ]
    source = "\n".join(lines)
    assert 295 <= source.count("\n") <= 305
    return source

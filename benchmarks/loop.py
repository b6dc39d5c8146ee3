"""What the agent's loop costs beside pydantic-ai's Agent and LangGraph, and beside no loop at all.

CPU time counts; wall time stands beside it. What runs in great numbers runs in a process of its
own, so that no contestant pays for the objects of another. There the peers take a minute or two;
`BENCH_PEER_RUNS=100` has them run less and scales that up, which flatters them: what the cyclic
collector costs grows faster than the number of runs.
"""

from __future__ import annotations

import asyncio
import gc
import os
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeAlias

from benchmarks.contestants import Play, Script, bare, langgraph, ours, pydantic_ai
from benchmarks.measure import Cost, cost_of, report

Contestant: TypeAlias = Callable[[Script], Play]

SHORT, MIDDLE, LONG = 5, 15, 30
ROUNDS = 12
RUNS = 1_000
PEER_RUNS = int(os.environ.get("BENCH_PEER_RUNS", RUNS))
PEER_RUNS_FOR_MEMORY = 100
MODEL_SECONDS = 0.05
TUNED = (10_000, 50, 50)
MOST_MEMORY = 40 * 1024
AT_MOST = {pydantic_ai: 0.10, langgraph: 0.15}
AT_MOST_TOGETHER = {pydantic_ai: 0.10, langgraph: 0.17}
NAMES = {pydantic_ai: "pydantic-ai", langgraph: "LangGraph"}


def run() -> None:
    short, long = turn_cost(ours, SHORT), turn_cost(ours, LONG)
    _report_turns(SHORT, short)
    _report_turns(LONG, long)
    _report_flatness(short, long)
    _report_tree(short)
    _report_many()
    _report_memory()


# -- one run after the other -----------------------------------------------------------------------


def turn_cost(contestant: Contestant, tool_turns: int) -> Cost:
    """Of one turn: a run's cost, its beginning and its end included, shared among its turns."""
    play = contestant(Script(tool_turns=tool_turns))
    runs = max(1, LONG // tool_turns)
    with asyncio.Runner() as runner:
        cost = cost_of(lambda: runner.run(_one_by_one(play, runs)), calls=1, rounds=ROUNDS)
    turns = runs * (tool_turns + 1)
    return Cost(cost.cpu / turns, cost.wall / turns)


async def _one_by_one(play: Play, runs: int) -> None:
    for _ in range(runs):
        await play()


def _report_turns(tool_turns: int, mine: Cost) -> None:
    for peer, most in AT_MOST.items():
        theirs = turn_cost(peer, tool_turns)
        ratio = mine.cpu / theirs.cpu
        report(
            f"a turn, {tool_turns} with a tool and an answer, to {NAMES[peer]}'s",
            f"{ratio:.3f} ({_ms(mine)} / {_ms(theirs)})",
            f"at most {most:.2f}; ratio {ratio / most:.2f}",
            ratio <= most,
        )


def _report_flatness(short: Cost, long: Cost) -> None:
    growth = long.cpu / short.cpu
    report(
        f"… in a run of {LONG}, to one in a run of {SHORT}",
        f"{growth:.2f} ({long.cpu * 1e3:.2f} / {short.cpu * 1e3:.2f} ms)",
        f"at most 1.1; ratio {growth / 1.1:.2f}",
        growth <= 1.1,
    )
    ends = [turns * cost.cpu for turns, cost in ((SHORT + 1, short), (LONG + 1, long))]
    middle = (MIDDLE + 1) * turn_cost(ours, MIDDLE).cpu
    sooner = (middle - ends[0]) / (MIDDLE - SHORT)
    later = (ends[1] - middle) / (LONG - MIDDLE)
    report(
        f"… turns {MIDDLE + 1} to {LONG} alone, to turns {SHORT + 1} to {MIDDLE}",
        f"{later / sooner:.2f} ({later * 1e3:.2f} / {sooner * 1e3:.2f} ms)",
        "for information",
        True,
    )


def _report_tree(mine: Cost) -> None:
    least = turn_cost(bare, SHORT)
    added = mine.cpu - least.cpu
    share = added / (1.0 + mine.cpu)
    report(
        "what tree, ledger and journal add to a turn of a bare loop",
        f"{added * 1e3:.2f} ms ({_ms(mine)}; bare {least.cpu * 1e3:.3f})",
        f"under 1 ms; ratio {added / 1e-3:.2f}",
        added < 1e-3,
    )
    report(
        "… their share where the model takes 1 s a turn",
        f"{share:.2%}",
        f"under 1 %; ratio {share / 0.01:.2f}",
        share < 0.01,
    )


def _ms(cost: Cost) -> str:
    return f"{cost.cpu * 1e3:.2f} ms, wall {cost.wall * 1e3:.2f}"


# -- many at a time --------------------------------------------------------------------------------


def _report_many() -> None:
    mine = _in_a_fresh_process(cost_together, ours, RUNS)
    tuned = _in_a_fresh_process(cost_together, ours, RUNS, TUNED)
    print(f"        {RUNS:,} runs at a time, {SHORT} turns with a tool, model calls of 50 ms: CPU")
    for peer, most in AT_MOST_TOGETHER.items():
        theirs = _in_a_fresh_process(cost_together, peer, PEER_RUNS)
        for cost, collector in ((mine, "collector as it is"), (tuned, f"our collector {TUNED}")):
            ratio = cost.cpu / (theirs.cpu * RUNS / PEER_RUNS)
            report(
                f"… to {NAMES[peer]}'s, {collector}",
                f"{ratio:.3f} ({_seconds(cost, RUNS)} / {_seconds(theirs, PEER_RUNS)})",
                f"at most {most:.2f}; ratio {ratio / most:.2f}",
                ratio <= most,
            )


def _seconds(cost: Cost, runs: int) -> str:
    """Of all runs; where fewer were run, what all would take at the same rate."""
    if runs == RUNS:
        return f"{cost.cpu:.1f} s, wall {cost.wall:.1f}"
    return f"{cost.cpu * RUNS / runs:.1f} s, scaled from {runs} runs"


def cost_together(
    contestant: Contestant, runs: int, thresholds: tuple[int, int, int] | None = None
) -> Cost:
    """Of so many runs at a time, once; the collector may be told to come less often."""
    play = contestant(Script(tool_turns=SHORT, seconds=MODEL_SECONDS))
    with asyncio.Runner() as runner:
        runner.run(play())
        gc.collect()
        if thresholds is not None:
            gc.freeze()
            gc.set_threshold(*thresholds)
        wall, cpu = time.perf_counter(), time.process_time()
        runner.run(_together(play, runs))
        return Cost(time.process_time() - cpu, time.perf_counter() - wall)


async def _together(play: Play, runs: int) -> None:
    await asyncio.gather(*(play() for _ in range(runs)))


def _report_memory() -> None:
    mine = _in_a_fresh_process(memory_of_a_run, ours, RUNS)
    report(
        "memory of a run that waits for its last answer (tracemalloc)",
        f"{mine / 1024:.1f} KB",
        f"at most {MOST_MEMORY // 1024} KB; ratio {mine / MOST_MEMORY:.2f}",
        mine <= MOST_MEMORY,
    )
    for peer, name in NAMES.items():
        theirs = _in_a_fresh_process(memory_of_a_run, peer, PEER_RUNS_FOR_MEMORY)
        report(f"… of {name}", f"{theirs / 1024:.1f} KB", "for information", True)


def memory_of_a_run(contestant: Contestant, runs: int) -> float:
    """Bytes held while all wait for the model with every tool result in hand: they never have more.

    The task and its listener count; what the collector can free does not.
    """
    return asyncio.run(_memory_at_the_gate(contestant, runs))


async def _memory_at_the_gate(contestant: Contestant, runs: int) -> float:
    gate = _Gate(runs)
    await contestant(Script(tool_turns=SHORT))()
    play = contestant(Script(tool_turns=SHORT, before_answer=gate.wait))
    gc.collect()
    tracemalloc.start()
    crowd = [asyncio.ensure_future(play()) for _ in range(runs)]
    await gate.is_full.wait()
    gc.collect()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    gate.opens.set()
    await asyncio.gather(*crowd)
    return used / runs


class _Gate:
    def __init__(self, expected: int) -> None:
        self._missing = expected
        self.is_full = asyncio.Event()
        self.opens = asyncio.Event()

    async def wait(self) -> None:
        self._missing -= 1
        if not self._missing:
            self.is_full.set()
        await self.opens.wait()


def _in_a_fresh_process(measure: Callable[..., Any], *given: Any) -> Any:
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, *given).result()

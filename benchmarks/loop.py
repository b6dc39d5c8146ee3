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
import sys
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeAlias

from benchmarks.contestants import Play, Script, bare, direct, langgraph, ours, pydantic_ai
from benchmarks.measure import Cost, cost_of, report

Contestant: TypeAlias = Callable[[Script], Play]

SHORT, MIDDLE, LONG = 5, 15, 30
ROUNDS = 8
RUNS = 1_000
PEER_RUNS = int(os.environ.get("BENCH_PEER_RUNS", RUNS))
PEER_RUNS_FOR_MEMORY = 100
MODEL_SECONDS = 0.05
TUNED = (10_000, 50, 50)
MOST_MEMORY = 40 * 1024
AT_MOST = {pydantic_ai: 0.10, langgraph: 0.15, direct: 1.0}
MOST_SECONDS = 0.00045
AT_MOST_TOGETHER = {pydantic_ai: 0.10, langgraph: 0.17}
NAMES = {
    pydantic_ai: "pydantic-ai",
    langgraph: "LangGraph",
    direct: "pydantic-ai direct in a bare loop",
}
LOOPS = (pydantic_ai, langgraph)


def run() -> None:
    short = turn_costs(SHORT, ours, bare, *AT_MOST)
    long = turn_costs(LONG, ours, *AT_MOST)
    _report_turns(SHORT, short)
    _report_turns(LONG, long)
    _report_flatness()
    _report_tree(short[ours], short[bare])
    _report_many()
    _report_memory()


# -- one run after the other -----------------------------------------------------------------------


def turn_costs(tool_turns: int, *contestants: Contestant) -> dict[Contestant, Cost]:
    """Of one turn: a run's cost, its beginning and its end included, shared among its turns.

    The contestants take turns, so that a busy moment of the machine hits all of them.
    """
    runs = max(1, LONG // tool_turns)
    turns = runs * (tool_turns + 1)
    plays = {contestant: contestant(Script(tool_turns=tool_turns)) for contestant in contestants}
    best = dict.fromkeys(contestants, Cost(float("inf"), float("inf")))
    for _ in range(ROUNDS):
        for contestant, play in plays.items():
            cost, so_far = _cost_of_runs(play, runs), best[contestant]
            cpu, wall = min(cost.cpu / turns, so_far.cpu), min(cost.wall / turns, so_far.wall)
            best[contestant] = Cost(cpu, wall)
    return best


def _cost_of_runs(play: Play, runs: int) -> Cost:
    with asyncio.Runner() as runner:
        return cost_of(lambda: runner.run(_one_by_one(play, runs)), calls=1, rounds=1)


async def _one_by_one(play: Play, runs: int) -> None:
    for _ in range(runs):
        await play()


def _report_turns(tool_turns: int, costs: dict[Contestant, Cost]) -> None:
    mine = costs[ours]
    report(
        f"a turn, {tool_turns} with a tool and an answer",
        f"{_ms(mine)}; {calls_of_a_turn(tool_turns):,.0f} Python calls",
        f"at most {MOST_SECONDS * 1e3:.2f} ms; ratio {mine.cpu / MOST_SECONDS:.2f}",
        mine.cpu <= MOST_SECONDS,
    )
    for peer, most in AT_MOST.items():
        theirs = costs[peer]
        ratio = mine.cpu / theirs.cpu
        report(
            f"a turn, {tool_turns} with a tool and an answer, to {NAMES[peer]}'s",
            f"{ratio:.3f} ({_ms(mine)} / {_ms(theirs)})",
            f"at most {most:.2f}; ratio {ratio / most:.2f}",
            ratio <= most,
        )


def calls_of_a_turn(tool_turns: int) -> float:
    """Calls of Python functions, those of asyncio included. Unlike time, they do not vary."""
    play = ours(Script(tool_turns=tool_turns))
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    with asyncio.Runner() as runner:
        runner.run(play())
        sys.setprofile(note)
        try:
            runner.run(play())
        finally:
            sys.setprofile(None)
    return count / (tool_turns + 1)


def _report_flatness() -> None:
    """All three lengths side by side; the costs of a run's beginning would hide growth in them."""
    best = dict.fromkeys((SHORT, MIDDLE, LONG), float("inf"))
    for _ in range(ROUNDS):
        for length in best:
            cost = _cost_of_runs(ours(Script(tool_turns=length)), 2).cpu / 2
            best[length] = min(best[length], cost)
    short, long = best[SHORT] / (SHORT + 1), best[LONG] / (LONG + 1)
    report(
        f"… in a run of {LONG}, to one in a run of {SHORT}",
        f"{long / short:.2f} ({long * 1e3:.2f} / {short * 1e3:.2f} ms)",
        f"at most 1.1; ratio {long / short / 1.1:.2f}",
        long <= 1.1 * short,
    )
    sooner = (best[MIDDLE] - best[SHORT]) / (MIDDLE - SHORT)
    later = (best[LONG] - best[MIDDLE]) / (LONG - MIDDLE)
    report(
        f"… turns {MIDDLE + 1} to {LONG} alone, to turns {SHORT + 1} to {MIDDLE}",
        f"{later / sooner:.2f} ({later * 1e3:.2f} / {sooner * 1e3:.2f} ms)",
        "for information",
        True,
    )


def _report_tree(mine: Cost, least: Cost) -> None:
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
    for peer in LOOPS:
        theirs = _in_a_fresh_process(memory_of_a_run, peer, PEER_RUNS_FOR_MEMORY)
        report(f"… of {NAMES[peer]}", f"{theirs / 1024:.1f} KB", "for information", True)


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

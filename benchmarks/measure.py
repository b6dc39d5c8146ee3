"""Measuring on a noisy machine: CPU time beside wall time, the best of several rounds, ratios to
peers.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """Seconds for one call."""

    cpu: float
    wall: float


def cost_of(work: Callable[[], object], *, calls: int, rounds: int = 60) -> Cost:
    """The cheapest round is the one that was disturbed least."""
    work()
    best_cpu = best_wall = float("inf")
    gc.collect()
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(calls):
            work()
        best_cpu = min(best_cpu, time.process_time() - cpu)
        best_wall = min(best_wall, time.perf_counter() - wall)
    return Cost(best_cpu / calls, best_wall / calls)


def memory_of(make: Callable[[], object], *, count: int) -> float:
    """Bytes that stay allocated for one of `count` objects."""
    keep = [make()]
    gc.collect()
    tracemalloc.start()
    keep.extend(make() for _ in range(count))
    gc.collect()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return used / count


def report(name: str, figure: str, target: str, ok: bool) -> None:
    print(f"  {'ok  ' if ok else 'MISS'}  {name:<58} {figure:<34} {target}")

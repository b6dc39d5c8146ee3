"""What it costs to classify a query: CPU time and the size of the weights."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import report
from oracle.evaluation.labelled import conversations, singles
from oracle.services.classification import linear_model as served
from oracle.services.classification.classifier import classify_query

MOST_SECONDS = 0.0001
MOST_BYTES = 1_000_000
ROUNDS = 5


def run() -> None:
    alone, talks = singles("test"), conversations("test")
    log = "why?\n" + "2025-03-04 ERROR ingest::sink: write failed, giving up attempts=1\n" * 1_500
    _report(
        "a single query", _cpu(lambda: [classify_query(row.query) for row in alone]) / len(alone)
    )
    _report(
        "a last turn",
        _cpu(lambda: [classify_query(row.query, row.history) for row in talks]) / len(talks),
    )
    _report("a pasted log of 100 KB", _cpu(lambda: classify_query(log)))
    size = Path(served.__file__).with_name("weights.txt").stat().st_size
    report(
        "weights.txt",
        f"{size / 1000:.0f} kB",
        f"< {MOST_BYTES / 1000:.0f} kB ({size / MOST_BYTES:.2f} of it)",
        size < MOST_BYTES,
    )


def _cpu(work: Callable[[], object]) -> float:
    """The cheapest of several rounds: the one that was disturbed least."""
    work()
    rounds: list[float] = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        rounds.append(time.process_time() - start)
    return min(rounds)


def _report(name: str, seconds: float) -> None:
    report(
        name,
        f"{seconds * 1e6:.0f} µs of CPU",
        f"< {MOST_SECONDS * 1e6:.0f} µs ({seconds / MOST_SECONDS:.2f} of it)",
        seconds < MOST_SECONDS,
    )

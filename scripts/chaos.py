"""Run a team of workers and front ends through many seeds of bad luck, on a PostgreSQL of its own.

    python scripts/chaos.py --seeds 10 --runs 100

Each seed kills workers and a front end, lets workers sleep past their leases and crashes PostgreSQL
twice, while clients listen. The checks are those of `tests/faults/chaos.py`. The last lines say
how long the runs of a worker that was killed, or fell asleep, waited for another one.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import psycopg

from benchmarks.many import postgresql
from oracle.services.storage.database import as_url
from tests.faults.chaos import rampage


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--runs", type=int, default=40)
    given = parser.parse_args()
    waits: defaultdict[str, list[float]] = defaultdict(list)
    with postgresql() as server:
        assert server is not None, "the test server is not installed"
        for seed in range(given.first, given.first + given.seeds):
            with psycopg.connect(server, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE seed_{seed}".encode())
            with tempfile.TemporaryDirectory() as folder:
                url = as_url(server).set(database=f"seed_{seed}")
                struck = asyncio.run(rampage(Path(folder), url, seed=seed, runs=given.runs))
            for what, seconds in struck.recoveries.items():
                waits[what] += seconds
            print(
                f"seed {seed}: {given.runs} runs, {', '.join(struck.strikes)}: all whole, "
                f"{struck.seconds:.0f} s, {struck.lines} lines of log; "
                f"waits {[*map(_rounded, struck.recoveries.items())]}",
                flush=True,
            )
    for what, seconds in waits.items():
        if seconds := sorted(seconds):
            p95 = seconds[int(0.95 * (len(seconds) - 1))]
            print(f"{what}: {len(seconds)} runs waited; p50 {seconds[len(seconds) // 2]:.1f} s, "
                  f"p95 {p95:.1f} s, longest {seconds[-1]:.1f} s")  # fmt: skip


def _rounded(waits: tuple[str, list[float]]) -> str:
    what, seconds = waits
    return f"{what} {[round(each, 1) for each in seconds]}"


if __name__ == "__main__":
    main()

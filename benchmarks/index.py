"""What the index costs: to build, to ask, to keep up to date, and how much memory it takes.

The tree is made of source files of this environment, copied under new names until there are enough.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from benchmarks.measure import report
from oracle.evaluation.retrieval import labelled_questions
from oracle.services.search import Index

FILES = 7_000
MANY_FILES = 30_000
LARGEST = 20_000
UPDATES = 100
MOST_BUILD = 15.0
MOST_QUERY = 0.010
MOST_UPDATE = (0.025, 0.060)
MOST_BYTES = 600_000_000


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        size = plant(root, FILES)
        with Index.open(root) as index:
            _build(index, size)
            _queries(index)
            _updates(index, root)
    _memory()


def plant(root: Path, count: int) -> int:
    """Fill a folder with files; gives their size together."""
    packages = Path(sysconfig.get_path("purelib"))
    sources = [
        file
        for file in sorted(packages.rglob("*.py"))
        if 200 < file.stat().st_size < LARGEST and "__pycache__" not in file.parts
    ]
    size = 0
    for number in range(count):
        source = sources[number % len(sources)]
        copy = root / f"part{number // len(sources)}" / source.relative_to(packages)
        copy.parent.mkdir(parents=True, exist_ok=True)
        content = source.read_bytes() + f"\n# copy {number}\n".encode()
        copy.write_bytes(content)
        size += len(content)
    return size


def _build(index: Index, size: int) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    done = index.refresh()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    report(
        f"build, {done.added} files, {size / 1e6:.0f} MB",
        f"{cpu:.1f} s of CPU, {wall:.1f} s",
        f"< {MOST_BUILD:.0f} s ({cpu / MOST_BUILD:.2f} of it)",
        cpu < MOST_BUILD,
    )
    wall, cpu = time.perf_counter(), time.process_time()
    index.refresh()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    report("refresh when nothing changed", f"{cpu:.2f} s of CPU, {wall:.2f} s", "", True)


def _queries(index: Index) -> None:
    questions = [*labelled_questions("tuning"), *labelled_questions("test")]
    for question in questions:
        index.search(question.question)
    spent: list[float] = []
    for question in questions:
        start = time.process_time()
        index.search(question.question)
        spent.append(time.process_time() - start)
    _percentiles("query", spent, (None, MOST_QUERY), "of CPU")


def _updates(index: Index, root: Path) -> None:
    paths = index.paths()
    spent: list[float] = []
    cpu = time.process_time()
    for number in range(UPDATES):
        path = paths[number * 7919 % len(paths)]
        with (root / path).open("a", encoding="utf-8") as file:
            file.write(f"\ndef added_{number}(): ...\n")
        start = time.perf_counter()
        index.update([path])
        spent.append(time.perf_counter() - start)
    cpu = (time.process_time() - cpu) / UPDATES
    _percentiles("update of one file", spent, MOST_UPDATE, "of wall time")
    report("update of one file, on average", f"{cpu * 1e3:.1f} ms of CPU", "", True)


def _percentiles(
    name: str, spent: list[float], targets: tuple[float | None, float], unit: str
) -> None:
    ordered = sorted(spent)
    for percent, target in zip((50, 95), targets, strict=True):
        value = ordered[len(ordered) * percent // 100]
        goal = f"< {target * 1e3:.0f} ms ({value / target:.2f} of it)" if target else ""
        report(
            f"{name}, p{percent}",
            f"{value * 1e3:.1f} ms {unit}",
            goal,
            target is None or value < target,
        )


def _memory() -> None:
    """In a process of its own: the highest mark is never lowered again."""
    with tempfile.TemporaryDirectory() as folder:
        size = plant(Path(folder), MANY_FILES)
        command = [sys.executable, "-m", "benchmarks.index", folder]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    peak, seconds, files = map(float, said.split())
    report(
        f"memory at most, {files:.0f} files, {size / 1e6:.0f} MB",
        f"{peak / 1e6:.0f} MB, {seconds:.0f} s of CPU",
        f"< {MOST_BYTES / 1e6:.0f} MB",
        peak < MOST_BYTES,
    )


if __name__ == "__main__":
    with Index.open(Path(sys.argv[1])) as built:
        added = built.refresh().added
        built.search("where are passwords checked")
    peak_kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(peak_kilobytes * 1024, time.process_time(), added)

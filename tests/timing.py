"""Bounds on time that mean the same on every machine.

What is measured is CPU time of this process, so that others do not count. A bound is given in
seconds of the machine that a bound was written on. A fixed piece of work, the yardstick, is
measured beside each try, and where it takes longer than it did there, the bound grows with it.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# What the yardstick took on the machine that the bounds were written on, when it was quiet.
YARDSTICK_SECONDS = 0.004
_WORDS = re.compile(r"(\w+)-(\d+)")


def _yardstick() -> None:
    """Do a bit of what our code does most: match, split, count, build."""
    counts: dict[str, int] = {}
    for number in range(2_500):
        if found := _WORDS.match(f"name{number % 97}-{number}"):
            counts[found[1]] = counts.get(found[1], 0) + len(found[2].split("1"))


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def slowness() -> float:
    """How much slower than that machine this one is now; at least 1."""
    return max(1.0, seconds(_yardstick) / YARDSTICK_SECONDS)


def takes_less(work: Callable[[], object], most: float, tries: int = 3) -> bool:
    """Whether it takes less than `most` seconds at its best. The first try nearly always does."""
    return any(seconds(work) < most * slowness() for _ in range(tries))


@contextmanager
def within(most: float) -> Iterator[None]:
    """Check that the block takes less than `most` seconds, for what can be done only once."""
    before = slowness()
    began = time.process_time()
    yield
    taken = time.process_time() - began
    assert taken < most * max(before, slowness())

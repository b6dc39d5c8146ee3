"""Bounds on time. What is measured is CPU time of this process, so that others do not count."""

import time
from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def takes_less(work: Callable[[], object], most: float, tries: int = 3) -> bool:
    """Whether it takes less than `most` seconds at its best. The first try nearly always does."""
    return any(seconds(work) < most for _ in range(tries))

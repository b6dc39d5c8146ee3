"""The allocator before version 3. Nothing imports it any more; see domain/planner.py."""

from dataclasses import dataclass
from datetime import datetime

TURNAROUND_MINUTES = 60
UNDER_KEEL_M = 0.5


@dataclass
class Slot:
    berth: str
    start: datetime
    end: datetime


class GreedyAllocator:
    """Gives the longest free berth to the longest vessel."""

    def __init__(self, berths: dict[str, float]):
        self.berths = berths
        self.slots: list[Slot] = []

    def allocate(self, length: float, start: datetime, end: datetime) -> str | None:
        for name, metres in sorted(self.berths.items(), key=lambda item: -item[1]):
            if metres < length:
                continue
            if all(s.end <= start or s.start >= end for s in self.slots if s.berth == name):
                self.slots.append(Slot(name, start, end))
                return name
        return None

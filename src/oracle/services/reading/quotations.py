"""The quotations in a tool's result, taken out of their fences again.

A result quotes each source in a fence that is longer than any inside it, so what a file contains
can neither end its quotation nor begin another one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

_HEAD: Final = re.compile(r"From (?P<where>.+) \(data, not instructions\):")
_FENCE: Final = re.compile(r"`{3,}")
_NUMBERED: Final = re.compile(r" *(\d+)  (.*)", re.S)
_LINES: Final = re.compile(r"(?!https?://)(?P<path>.+):(?P<start>\d+)(?:-\d+)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Quotation:
    """`first` is the number of the first line; 0 where the lines have none."""

    where: str
    path: str
    first: int
    lines: Sequence[str]

    @property
    def is_thread(self) -> bool:
        return self.where.startswith("thread:")

    @property
    def is_web(self) -> bool:
        return self.where.startswith(("http://", "https://"))

    def place(self, start: int, end: int) -> str:
        """How lines of it are cited, counted from 0; `end` is the last one."""
        if self.is_thread or self.is_web or not self.first:
            return self.where
        one, other = self.first + start, self.first + end
        return f"{self.path}:{one}" if one == other else f"{self.path}:{one}-{other}"


def quotations_in(content: str) -> list[Quotation]:
    found: list[Quotation] = []
    lines = content.split("\n")
    place = 0
    while place < len(lines) - 1:
        head = _HEAD.fullmatch(lines[place])
        bar = lines[place + 1]
        if head is None or not _FENCE.fullmatch(bar):
            place += 1
            continue
        end = _closing(lines, place + 2, bar)
        found.append(_quotation(head["where"], lines[place + 2 : end]))
        place = end + 1
    return found


def summary_of(content: str) -> str:
    """The tool's own first words: they stand before any quotation."""
    return content.split("\n", 1)[0].strip()


def _closing(lines: Sequence[str], start: int, bar: str) -> int:
    for place in range(start, len(lines)):
        if lines[place] == bar:
            return place
    return len(lines)


def _quotation(where: str, lines: Sequence[str]) -> Quotation:
    """With numbers only where the source has some; what was cut off in mid-line is left out."""
    place = _LINES.fullmatch(where)
    path = place["path"] if place else where
    if place is None and not where.startswith("thread:"):
        return Quotation(where=where, path=path, first=0, lines=list(lines))
    matched = [_NUMBERED.fullmatch(line) for line in lines]
    numbered = [match for match in takewhile(bool, matched) if match]
    return Quotation(
        where=where,
        path=path,
        first=int(numbered[0][1]) if numbered else 0,
        lines=[match[2] for match in numbered],
    )

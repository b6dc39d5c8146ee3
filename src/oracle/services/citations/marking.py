"""Marks in an answer: a few words after each citation that does not hold.

Marks are only added. The text is checked without the marks it has, so marking it a second time
changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.citations.finding import Citation
from oracle.services.citations.resolving import Resolved, Status

# Exactly the marks that `mark_of` makes, so that no words of the model are taken for a mark.
_MARK: Final = lazy_pattern(
    r" \(⚠ (?:not read|lines not read|entry not read|no such heading|changed since"
    r"|it says otherwise"
    r"|it is at lines? \d{1,9}(?:-\d{1,9})?|it is in the entry of [\dTZ:.-]{4,40})\)"
)
_SAID: Final[Mapping[Status, str]] = {
    "stale": "changed since",
    "unknown": "not read",
    "otherwise": "it says otherwise",
}


@dataclass(frozen=True, slots=True)
class Bare:
    """A text without its marks, and where the marks were."""

    text: str
    marks: Sequence[tuple[int, int]]
    """For each mark its place in `text`, and its length."""

    @classmethod
    def of(cls, marked: str) -> Bare:
        pieces: list[str] = []
        marks: list[tuple[int, int]] = []
        place = length = 0
        for found in _MARK.finditer(marked) if "⚠" in marked else ():
            pieces.append(marked[place : found.start()])
            length += len(pieces[-1])
            marks.append((length, found.end() - found.start()))
            place = found.end()
        return cls("".join([*pieces, marked[place:]]), marks)


def without_marks(marked: str) -> str:
    """The answer as the model wrote it and as it was streamed."""
    return Bare.of(marked).text


def mark_of(resolved: Resolved) -> str:
    """Empty for a citation that holds."""
    if resolved.status == "resolved":
        return ""
    if resolved.status == "unread":
        said = _unread(resolved.citation)
    elif resolved.status == "moved":
        said = _right_place(resolved)
    else:
        said = _SAID[resolved.status]
    return f" (⚠ {said})"


def _unread(citation: Citation) -> str:
    if citation.entry:
        return "entry not read"
    return "no such heading" if citation.kind == "note" else "lines not read"


def _right_place(resolved: Resolved) -> str:
    if resolved.citation.entry:
        return f"it is in the entry of {resolved.entry}"
    if resolved.first == resolved.last:
        return f"it is at line {resolved.first}"
    return f"it is at lines {resolved.first}-{resolved.last}"


@dataclass(frozen=True, slots=True)
class Marked:
    text: str
    spans: Sequence[tuple[int, int]]
    """Where each citation is in `text`."""


def with_marks(marked: str, bare: Bare, resolved: Sequence[Resolved]) -> Marked:
    """Add the missing marks to `marked`. `bare` is its text without marks, which was checked."""
    there = {place for place, _ in bare.marks}
    added: dict[int, str] = {}
    for one in resolved:
        place = one.citation.mark_at
        if place not in there and place not in added and (mark := mark_of(one)):
            added[place] = mark
    stops = sorted([*bare.marks, *((place, len(mark)) for place, mark in added.items())])
    spans = [(one.citation.start, one.citation.end) for one in resolved]
    return Marked(_inserted(marked, bare, added), _shifted(spans, stops))


def _inserted(marked: str, bare: Bare, added: Mapping[int, str]) -> str:
    if not added:
        return marked
    pieces: list[str] = []
    done = 0
    for place, offset in zip(sorted(added), _offsets(sorted(added), bare.marks), strict=True):
        pieces += [marked[done : place + offset], added[place]]
        done = place + offset
    return "".join([*pieces, marked[done:]])


def _shifted(
    spans: Sequence[tuple[int, int]], marks: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """A mark at the very end of a citation follows it and does not extend its span."""
    starts = _offsets([start for start, _ in spans], marks, including=True)
    ends = _offsets([end for _, end in spans], marks)
    return [
        (start + before, end + until)
        for (start, end), before, until in zip(spans, starts, ends, strict=True)
    ]


def _offsets(
    places: Sequence[int], marks: Sequence[tuple[int, int]], *, including: bool = False
) -> list[int]:
    """By how many characters the marks before each place move it; both lists are in order.

    `including` counts a mark at the place itself too: it comes before what begins there.
    """
    offsets: list[int] = []
    offset = number = 0
    for place in places:
        while number < len(marks) and (
            marks[number][0] < place or (including and marks[number][0] == place)
        ):
            offset += marks[number][1]
            number += 1
        offsets.append(offset)
    return offsets

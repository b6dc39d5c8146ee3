"""A place that answers a question about the project, and the sections of a document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.project.code_blocks import fence_at

_HEADING: Final = lazy_pattern(r"(?P<marks>#{1,6})\s+(?P<title>\S.*?)\s*#*$")
_OF_A_MANUAL: Final = lazy_pattern(r"\.(?P<kind>S[HS])\s+\"?(?P<title>[^\"]+?)\"?\s*$")
_UNDERLINE: Final = lazy_pattern(r"([=\-~^\"'*+#])\1{2,}\s*$")


class Reader(Protocol):
    """The files of a project. `read` gives the lines of one; none if it cannot be read."""

    @property
    def paths(self) -> Sequence[str]: ...

    def read(self, path: str) -> Sequence[str]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Lines `start` to `end` of a file, from 1, both included. `worth` is how well it answers."""

    path: str
    start: int
    end: int
    worth: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A heading with all below it, up to the next heading of the same level or a higher one.
    `own_end` is where its first subsection begins. Lines are counted from 0; the end is excluded.
    """

    title: str
    level: int
    start: int
    own_end: int
    end: int


def sections_of(lines: Sequence[str]) -> list[Section]:
    """The sections of a document, in markdown, reStructuredText or troff, in order."""
    heads = [*_headings(lines)]
    found: list[Section] = []
    for at, (start, level, title) in enumerate(heads):
        below = heads[at + 1 :]
        own_end = below[0][0] if below else len(lines)
        end = next((line for line, other, _ in below if other <= level), len(lines))
        found.append(Section(title=title, level=level, start=start, own_end=own_end, end=end))
    return found


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """The line, level and title of each heading. In a fence, `#` begins a comment."""
    marks: list[str] = []
    fence = ""
    for number, line in enumerate(lines):
        if marks_here := fence_at(lines, number):
            # A fence with a language only opens, and only the same marks close.
            is_bare = line.strip() == marks_here
            if fence:
                fence = "" if is_bare and marks_here.startswith(fence) else fence
            else:
                fence = marks_here
            continue
        if fence:
            continue
        if found := _HEADING.match(line):
            yield number, len(found["marks"]), found["title"]
        elif found := _OF_A_MANUAL.match(line):
            yield number, 1 if found["kind"] == "SH" else 2, found["title"]
        elif mark := _underlined(lines, number):
            # The order in which a document first uses its marks is the order of its levels.
            if mark not in marks:
                marks.append(mark)
            yield number, marks.index(mark) + 1, line.strip()


def _underlined(lines: Sequence[str], number: int) -> str:
    """The mark that underlines a title; empty if the line is none."""
    line, below = lines[number], "".join(lines[number + 1 : number + 2])
    is_text = bool(line.strip()) and not line.startswith((" ", "\t", "|", "-", "*", ">"))
    is_title = is_text and bool(re.search(r"\w", line)) and bool(_UNDERLINE.match(below))
    # A title may have a line above it too, so the length of the mark decides.
    return below[0] if is_title and len(below.rstrip()) >= min(len(line.rstrip()), 4) else ""


def trimmed(lines: Sequence[str], start: int, end: int, most: int) -> tuple[int, int]:
    """At most so many lines from 0-based `start`, without blank ones at the end (excluded).

    A cut never falls inside a fence if the rest of the fence is short.
    """
    stop = min(end, start + most)
    fences = sum(bool(fence_at(lines, n)) for n in range(start, stop))
    if fences % 2 and stop < end:
        closing = (n for n in range(stop, min(end, stop + most)) if fence_at(lines, n))
        stop = next(closing, stop - 1) + 1
    while stop > start + 1 and not lines[stop - 1].strip():
        stop -= 1
    return start, stop

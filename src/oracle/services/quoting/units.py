"""Cut a text into units that can be quoted whole: a section, a definition, a paragraph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.project.code_blocks import fence_at
from oracle.services.quoting.kinds_of_lines import (
    belongs_below,
    depth_of,
    is_heading,
    is_prose,
    level_of_heading,
    opens_definition,
)
from oracle.services.quoting.quotation import Quotation

MOST_LINES: Final = 26
"""A longer unit is cut."""
_ENOUGH: Final = 14
"""Small neighbours share a unit up to this length."""
_SHORT: Final = 4
_WIDTH: Final = 120
"""A longer line counts as several."""
_CLOSES: Final = lazy_pattern(r"\s*(?:[)\]}]|end\b|else\b|elif\b|except\b|finally\b|catch\b)")
_ITEM: Final = lazy_pattern(r"\s*(?:[-*+]|\d+[.)]|#\.|\.\. [\w:-]+::|\|)\s?")
_QUOTES: Final = ('"""', "'''")
_MARKS: Final = "=-~^\"'*+#."

Span = tuple[int, int]
"""The first and the last line, counted from 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """`above` are the lines that say what it is part of: headings, or the definitions around it."""

    source: Quotation
    start: int
    end: int
    above: tuple[int, ...] = ()


def units_of(source: Quotation) -> list[Unit]:
    text = _Text(source)
    whole = (0, len(source.lines) - 1)
    found = text.sections(whole) if is_prose(source) else text.items(whole, ())
    return [Unit(source=source, start=a, end=b, above=above) for (a, b), above in found]


def height(line: str) -> int:
    """How many lines of a screen it takes."""
    return 1 + len(line) // _WIDTH


_Cut = Iterator[tuple[Span, tuple[int, ...]]]


class _Text:
    def __init__(self, source: Quotation) -> None:
        self._lines = source.lines
        self._heights = [0, *accumulate(map(height, source.lines))]

    def sections(self, span: Span) -> _Cut:
        """Each section; of a long one, its paragraphs with the heading above."""
        heads = list(self._headings(span))
        around: list[tuple[int, int]] = []
        borders = [span[0], *(head for head in heads if head > span[0]), span[1] + 1]
        for start, following in pairwise(borders):
            is_headed = start in heads
            level = self._level(start) if is_headed else 0
            around = [pair for pair in around if pair[0] < level] if is_headed else around
            outer = tuple(line for _, line in around)
            own = (*outer, start) if is_headed else outer
            around += [(level, start)] if is_headed else []
            if (section := self._trimmed((start, following - 1))) is None:
                continue
            if self._fits(section, MOST_LINES):
                yield section, outer
            else:
                yield from ((part, own) for part in self._joined(self._paragraphs(section)))

    def items(self, span: Span, above: tuple[int, ...]) -> _Cut:
        """Each definition with the comment above it; what is between them, by blank lines."""
        if (trimmed := self._trimmed(span)) is None:
            return
        if self._fits(trimmed, _ENOUGH):
            yield trimmed, above
            return
        first, last = trimmed
        lines = self._lines
        depth = min(depth_of(lines[n]) for n in range(first, last + 1) if lines[n].strip())
        starts = [first, *(n for n in range(first + 1, last + 1) if self._begins(n, depth))]
        spans = zip(starts, [*(n - 1 for n in starts[1:]), last], strict=True)
        for each in self._with_small_ones(spans):
            if (whole := self._trimmed(each)) is None:
                continue
            if self._fits(whole, MOST_LINES):
                yield whole, above
            else:
                yield from self._parts(whole, above)

    def _fits(self, span: Span, most: int) -> bool:
        return self._heights[span[1] + 1] - self._heights[span[0]] <= most

    def _headings(self, span: Span) -> Iterator[int]:
        """A comment in a block of code looks like a heading of markdown."""
        is_code = False
        for number in range(span[0], span[1] + 1):
            is_code = is_code != bool(fence_at(self._lines, number))
            if not is_code and is_heading(self._lines, number):
                yield number

    def _level(self, number: int) -> int:
        marks = level_of_heading(self._lines, number)
        is_underline = len(marks) == 3 and not self._lines[number].startswith("#")
        return 10 + _MARKS.find(marks[0]) if is_underline else len(marks)

    def _paragraphs(self, span: Span) -> Iterator[Span]:
        """Between blank lines. A block of code is one; a long list is cut at its items."""
        number, last = span
        while number <= last:
            if not self._lines[number].strip():
                number += 1
                continue
            start, is_code = number, bool(fence_at(self._lines, number))
            number += 1
            while number <= last and (is_code or self._lines[number].strip()):
                if fence_at(self._lines, number):
                    number += is_code
                    break
                number += 1
            yield from self._at_items((start, number - 1))

    def _at_items(self, span: Span) -> Iterator[Span]:
        start, last = span
        if self._fits(span, MOST_LINES):
            yield span
            return
        for number in range(start + 1, last + 1):
            is_full = not self._fits((start, number), MOST_LINES)
            is_enough = not self._fits((start, number), _ENOUGH)
            if is_full or (is_enough and _ITEM.match(self._lines[number])):
                yield start, number - 1
                start = number
        yield start, last

    def _joined(self, spans: Iterable[Span]) -> Iterator[Span]:
        """What a colon announces stays with it, and small paragraphs stay together."""
        start, end = -1, -1
        for span in spans:
            most = MOST_LINES if start >= 0 and self._announces(end) else _ENOUGH
            if start >= 0 and self._fits((start, span[1]), most):
                end = span[1]
                continue
            if start >= 0:
                yield start, end
            start, end = span
        if start >= 0:
            yield start, end

    def _announces(self, number: int) -> bool:
        line = self._lines[number]
        return line.rstrip().endswith(":") or line.lstrip().startswith(".. ")

    def _begins(self, number: int, depth: int) -> bool:
        line, before = self._lines[number], self._lines[number - 1]
        if not line.strip() or depth_of(line) != depth or _CLOSES.match(line):
            return False
        if not before.strip():
            return True
        return (opens_definition(line) or belongs_below(line)) and not belongs_below(before)

    def _with_small_ones(self, spans: Iterable[Span]) -> Iterator[Span]:
        """Short statements side by side are one unit. A comment stays with what is below it."""
        kept: Span | None = None
        for span in spans:
            if kept is not None and self._belong_together(kept, span):
                kept = (kept[0], span[1])
                continue
            if kept is not None:
                yield kept
            kept = span
        if kept is not None:
            yield kept

    def _belong_together(self, one: Span, other: Span) -> bool:
        said = [line for line in self._lines[one[0] : one[1] + 1] if line.strip()]
        if all(map(belongs_below, said)):
            return True
        both = (one[0], other[1])
        return self._fits(both, _ENOUGH) and not (self._defines(one) and self._defines(other))

    def _defines(self, span: Span) -> bool:
        lines = self._lines[span[0] : span[1] + 1]
        return len(lines) >= _SHORT and any(map(opens_definition, lines))

    def _parts(self, span: Span, above: tuple[int, ...]) -> _Cut:
        """A long definition: its head with its description, then what is inside of it."""
        lines, (first, last) = self._lines, span
        opening = next((n for n in range(first, last) if not belongs_below(lines[n])), first)
        head = self._end_of_head(opening, last)
        below = next((n for n in range(head + 1, last + 1) if lines[n].strip()), None)
        if below is None or depth_of(lines[below]) <= depth_of(lines[opening]):
            yield from ((part, above) for part in self._joined(self._paragraphs(span)))
            return
        inside = list(self.items((head + 1, last), (*above, opening)))
        if not self._fits((first, head), MOST_LINES):
            cut, *others = self._joined(self._paragraphs((first, head)))
            yield cut, above
            yield from ((other, (*above, opening)) for other in others)
        elif head - first < _SHORT and inside and self._fits((first, inside[0][0][1]), MOST_LINES):
            yield (first, inside.pop(0)[0][1]), above
        else:
            yield (first, head), above
        yield from inside

    def _end_of_head(self, opening: int, last: int) -> int:
        """Up to the end of the docstring, or of the line that opens the body."""
        lines, end = self._lines, opening
        if lines[opening].rstrip().endswith(("(", ",")):
            depth = depth_of(lines[opening])
            end = next((n for n in range(opening + 1, last) if depth_of(lines[n]) <= depth), end)
        below = lines[end + 1].strip().lstrip("rRbBuUfF") if end < last else ""
        if below.startswith(_QUOTES):
            end += 1
            if below.count(below[:3]) < 2:
                end = next((n for n in range(end + 1, last + 1) if below[:3] in lines[n]), last)
        return end

    def _trimmed(self, span: Span) -> Span | None:
        kept = [n for n in range(span[0], span[1] + 1) if self._lines[n].strip()]
        return (kept[0], kept[-1]) if kept else None

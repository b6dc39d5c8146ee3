"""Cutting a file into passages, along its structure where it has one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.services.search.symbols import Symbol

TARGET_LINES: Final = 45
"""Neighbours share a chunk up to this length: enough text to be found, short enough to be read."""
MOST_LINES: Final = 80
"""A longer definition is cut."""
MOST_CHARACTERS: Final = 6_000
"""The same for definitions with long lines."""
_MOST_NAMES: Final = 60
"""Bounds a chunk of a generated table, where every line defines something."""


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Lines count from 1, both included. `names`: what begins here, and what is around it."""

    start: int
    end: int
    text: str
    names: tuple[str, ...] = ()


def chunks_of(lines: Sequence[str], symbols: Sequence[Symbol]) -> list[Chunk]:
    """Every line is in exactly one chunk. Small neighbours share one, long ones are cut."""
    spans = _spans(len(lines), [symbol.start for symbol in symbols])
    merged = _merged(spans, lines)
    cut = [piece for span in merged for piece in _cut(span, lines)]
    chunks: list[Chunk] = []
    position = 0
    ordered = sorted(symbols, key=lambda symbol: symbol.start)
    # The definitions that began in an earlier chunk and have not ended: their names count here too.
    around: list[Symbol] = []
    for start, end in cut:
        around = [symbol for symbol in around if symbol.end >= start]
        names = [symbol.name for symbol in around]
        while position < len(ordered) and ordered[position].start <= end:
            symbol = ordered[position]
            names.append(symbol.name)
            if symbol.end > end:
                around.append(symbol)
            position += 1
        text = "".join(lines[start - 1 : end])
        chunks.append(
            Chunk(start=start, end=end, text=text, names=tuple(dict.fromkeys(names))[:_MOST_NAMES])
        )
    return chunks


def _spans(count: int, starts: Sequence[int]) -> list[tuple[int, int]]:
    borders = sorted({1, *(start for start in starts if 1 <= start <= count)})
    return [
        (border, following - 1)
        for border, following in zip(borders, [*borders[1:], count + 1], strict=True)
        if following > border
    ]


def _merged(spans: Sequence[tuple[int, int]], lines: Sequence[str]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    size = 0
    for start, end in spans:
        length = sum(map(len, lines[start - 1 : end]))
        if merged and end - merged[-1][0] < TARGET_LINES and size + length <= MOST_CHARACTERS:
            merged[-1] = (merged[-1][0], end)
            size += length
        else:
            merged.append((start, end))
            size = length
    return merged


def _cut(span: tuple[int, int], lines: Sequence[str]) -> list[tuple[int, int]]:
    """Cuts at the last blank line in the last third of what fits, or else where it is full."""
    start, end = span
    pieces: list[tuple[int, int]] = []
    while True:
        fits = _fitting(start, end, lines)
        if fits >= end:
            return [*pieces, (start, end)]
        earliest = start + 2 * (fits - start) // 3
        stop = next(
            (line for line in range(fits, earliest, -1) if not lines[line - 1].strip()), fits
        )
        pieces.append((start, stop))
        start = stop + 1


def _fitting(start: int, end: int, lines: Sequence[str]) -> int:
    """The last line of a piece from `start` that is neither too long nor too large."""
    if end - start < MOST_LINES and sum(map(len, lines[start - 1 : end])) <= MOST_CHARACTERS:
        return end
    size = 0
    last = min(end, start + MOST_LINES - 1)
    for line in range(start, last + 1):
        size += len(lines[line - 1])
        # A first line that is too large alone is taken all the same, so that cutting gets further.
        if size > MOST_CHARACTERS and line > start:
            return line - 1
    return last

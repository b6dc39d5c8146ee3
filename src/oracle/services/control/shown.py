"""What the model was shown of each source: an answer can rest on that, and on nothing else.

A content is cut at its end, or in its middle. A source keeps the lines that are left in the
content, and a source without such lines is dropped.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, takewhile
from typing import Any, Final, NamedTuple

from oracle.services.control.repetition import name_of_result
from oracle.services.signals.said import is_visible
from oracle.services.tools.answer import numbered, only_lines

LONGEST_QUOTATION: Final = 400
"""Characters of a text that are kept with a place. The whole text is in the messages."""
LEAST_OF_A_LINE: Final = 40
"""Characters. A line that is cut counts as shown if so much of it is left."""
_WIDEST_NUMBER: Final = 8

Source = Mapping[str, Any]
Place = dict[str, Any]


class _Block(NamedTuple):
    """A text in the form in which a content quotes it, and its place there."""

    form: str
    at: int

    @property
    def end(self) -> int:
        # A line break may be the last of one and the first of the next.
        return self.at + len(self.form) - 1


class _Kept(NamedTuple):
    """A content has lost what is between these two places."""

    head: int
    tail: int

    def has(self, start: int, end: int) -> bool:
        return end <= self.head or start >= self.tail


def is_readable(source: Source) -> bool:
    """Whether there is something to read in it. A tool may give a place without its text."""
    text = source.get("text")
    return text is None or is_visible(str(text))


def places_of(sources: Sequence[Source], *, turn: int, call: str) -> list[Place]:
    """The sources as evidence; empty if there is nothing to read in them.

    A place without a text counts only next to a text: it is something that the text names.
    """
    if not any(map(is_readable, sources)):
        return []
    places: list[Place] = []
    for source in sources:
        text = str(source.get("text", ""))
        if text and not is_visible(text):
            continue
        name = name_of_result(True, f"{source['where']}\n{text}")
        place = {**source, "text": text[:LONGEST_QUOTATION], "name": name}
        places.append({**place, "turn": turn, "call": call})
    return places


def sources_in(sources: Sequence[Source], before: str, after: str) -> list[Place]:
    """The sources as far as the content has them, which was `before` and was cut to `after`."""
    if before == after:
        return [dict(source) for source in sources]
    kept = _kept(before, after)
    found: list[Place] = []
    place = 0
    for source in sources:
        text = str(source.get("text", ""))
        block = _located(source, text, before, place) if text else None
        if block is not None:
            found += _pieces(source, text, block, kept)
            place = block.end
        else:
            found += _first_lines(source, text, after) if text else _named(source, after)
    return found if any(map(is_readable, found)) else []


def _kept(before: str, after: str) -> _Kept:
    """What both have at their beginning, and what both have at their end."""
    shorter = min(len(before), len(after))
    head = _most(shorter, lambda count: before.startswith(after[:count]))
    tail = _most(shorter - head, lambda count: before.endswith(after[len(after) - count :]))
    return _Kept(head, len(before) - tail)


def _most(limit: int, holds: Callable[[int], bool]) -> int:
    """The largest count up to the limit for which it holds, if it holds for all smaller ones."""
    return bisect_left(range(1, limit + 1), True, key=lambda count: not holds(count))


def _located(source: Source, text: str, content: str, place: int) -> _Block | None:
    """The same text may be quoted twice, so it is searched for after the last one first."""
    for form in _forms(source, text):
        for begin in (place, 0):
            at = content.find(form, begin)
            if at >= 0:
                return _Block(form, at)
    return None


def _forms(source: Source, text: str) -> Iterator[str]:
    """How a content may quote the text: with the numbers of its lines, or without."""
    start = source.get("start")
    if isinstance(start, int):
        block = f"\n{numbered(text, start)}\n"
        # Of a source that was cut before, the numbers are as wide as those of the whole were.
        for width in range(_WIDEST_NUMBER):
            yield block[:-1].replace("\n", "\n" + " " * width) + "\n"
    yield text


def _pieces(source: Source, text: str, block: _Block, kept: _Kept) -> Iterator[Place]:
    """Runs of lines that the content still has. Only at the end of its head a line may be cut."""
    lines = text.split("\n")
    drawn = lines if block.form == text else block.form[1:-1].split("\n")
    begin = block.at + (block.form != text)
    starts = accumulate((len(line) + 1 for line in drawn), initial=begin)
    shown = [
        _shown_of(line, whole, start, kept)
        for line, whole, start in zip(lines, drawn, starts, strict=False)
    ]
    number = 0
    for is_shown, run in groupby(shown, key=lambda line: line is not None):
        some = [line or "" for line in run]
        if is_shown and is_visible("\n".join(some)):
            yield _part(source, number, some)
        number += len(some)


def _shown_of(line: str, drawn: str, start: int, kept: _Kept) -> str | None:
    """The line as far as it is left; None if it is not. `drawn` is the line with its number."""
    if kept.has(start, start + len(drawn)):
        return line
    part = line[: max(0, kept.head - start - (len(drawn) - len(line)))]
    return part if len(part.strip()) >= LEAST_OF_A_LINE else None


def _part(source: Source, first: int, lines: Sequence[str]) -> Place:
    text = "\n".join(lines)
    if text == source["text"]:
        return dict(source)
    return {**only_lines(source, first, len(lines)), "text": text}


def _first_lines(source: Source, text: str, content: str) -> Iterator[Place]:
    """For a text that the content does not quote as it is: its first lines that are in there."""
    lines = [*takewhile(lambda line: line.strip() in content, text.split("\n"))]
    if is_visible("\n".join(lines)):
        yield _part(source, 0, lines)


def _named(source: Source, content: str) -> Iterator[Place]:
    """A place without a text is there if its name is: `a.py:1`, and not as a part of `a.py:12`."""
    if re.search(rf"{re.escape(source['where'])}(?![\w-])", content):
        yield dict(source)

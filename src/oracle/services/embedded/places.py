"""Quote the best places as far as there is room, and name the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from oracle.services.embedded.response import exact_line, quoted
from oracle.services.quoting.kinds_of_lines import enclosing_name, is_definition, is_prose
from oracle.services.quoting.passages import Passage
from oracle.services.quoting.units import height
from oracle.services.tools.answer import code

_WORTH_QUOTING: Final = 0.2
_QUOTED: Final = 5
_LONGEST: Final = 14
_LONGEST_OTHER: Final = 8
_SHORTEST: Final = 3
_AROUND: Final = 5
"""Lines around a quotation: what leads to it, its fence and blank lines."""
MOST_LINES: Final = 38
_LISTED: Final = 4


def best_places(shown: Sequence[Passage], room: int = MOST_LINES) -> str:
    """The best places quoted, as many as there is room for, and a line of each of the others."""
    parts: list[str] = []
    others = [*shown]
    while others and len(parts) < _QUOTED:
        most = min(_LONGEST_OTHER if parts else _LONGEST, room - _AROUND)
        if parts and (others[0].score < _WORTH_QUOTING * shown[0].score or most < _SHORTEST):
            break
        cut = _cut(others[0], most)
        lead = f"Then {code(cut.where)}:" if parts else _lead(cut)
        parts.append(f"{lead}\n\n{quoted(cut.lines, cut.source.path)}")
        if cut.end < others[0].end:
            parts[-1] += f"\n\nThere is more after {code(cut.where)}."
        room -= sum(map(height, cut.lines)) + _AROUND
        others.pop(0)
    listed = others[: max(0, min(_LISTED, room - 2))]
    if listed:
        parts.append("Also:\n\n" + items(listed))
    return "\n\n".join(parts)


def _cut(passage: Passage, most: int) -> Passage:
    """As many lines of it as fit, with the best one; from its start, if that is near enough."""
    lines = passage.source.lines
    first = last = passage.best
    left = most - height(lines[first])
    while True:
        # What is above the best line says what it is about, what is below it what it means.
        up = first > passage.start and (
            passage.best - first <= last - passage.best or last == passage.end
        )
        number = first - 1 if up else last + 1
        if not passage.start <= number <= passage.end or left < height(lines[number]):
            return replace(passage, start=first, end=last)
        left -= height(lines[number])
        first, last = min(first, number), max(last, number)


def _lead(passage: Passage) -> str:
    if passage.defines:
        return f"{code(passage.defines)} is defined at {code(passage.best_where)}:"
    if is_prose(passage.source):
        return f"{code(passage.where)} says:"
    inside = enclosing_name(passage.source.lines, passage.best)
    if inside and not any(is_definition(line, inside) for line in passage.lines):
        return f"The best match is {code(passage.where)}, in {code(inside)}:"
    return f"The best match is {code(passage.where)}:"


def items(found: Sequence[Passage]) -> str:
    return "\n".join(f"- {code(p.best_where)}: {exact_line(p.best_line)}" for p in found)

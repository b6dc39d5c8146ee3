"""Which lines of a document open or close a block of code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oracle.patterns import lazy_pattern

_FENCE: Final = lazy_pattern(r"\s*(?P<marks>`{3,}|~{3,})")


def fence_at(lines: Sequence[str], number: int) -> str:
    """The marks that open or close a block of code; empty if the line has none.

    In reStructuredText a row of `~` below a title, as long as the title, only underlines it.
    """
    found = _FENCE.match(lines[number])
    if found is None:
        return ""
    marks, line = found["marks"], lines[number].rstrip()
    above = lines[number - 1].rstrip() if number else ""
    # A title of Markdown has its own sign, and needs no row below it.
    is_title = bool(above) and not above.startswith((" ", "\t", "~", "#"))
    is_underline = marks[0] == "~" and line == marks and len(above) <= len(line)
    return "" if is_underline and is_title else marks

"""Which runs of backticks are open, so that what follows on their line may be inline code."""

from __future__ import annotations

import re
from collections import defaultdict

_RUN = re.compile(r"`+")


class InlineCode:
    """A run is closed by the next run of the same length on its line; until then it is open.

    Kept are the runs that would open code if those before them turned out to be text; no two have
    the same length.
    """

    def __init__(self) -> None:
        self._open: dict[int, None] = {}
        self._last_offsets: dict[int, int] = {}
        self._line_is_known = False

    @property
    def open(self) -> bool:
        return bool(self._open)

    def closes(self, length: int) -> bool:
        """Whether a run of `length` closes an open one, with all that was opened in between."""
        if length not in self._open:
            return False
        while self._open.popitem()[0] != length:
            pass
        return True

    def add(self, length: int, offset: int) -> None:
        """A run that closes nothing. On a line known to its end it opens only what gets closed."""
        if not self._line_is_known or self._last_offsets.get(length, 0) > offset:
            self._open[length] = None

    def look_ahead(self, length: int, offset: int) -> None:
        """A run that closes nothing, in text that will be read again."""
        self._last_offsets[length] = offset

    def line_ends(self) -> None:
        """Looking ahead has reached the end of the line: what is open is text."""
        self._open.clear()
        self._line_is_known = True

    def start_line(self) -> None:
        if self._open or self._last_offsets or self._line_is_known:
            self._open.clear()
            self._last_offsets.clear()
            self._line_is_known = False


def code_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where inline code stands in a whole line, with its backticks, in order."""
    runs = list(_RUN.finditer(text, start, end))
    later: defaultdict[int, list[re.Match[str]]] = defaultdict(list)
    for run in reversed(runs):
        later[len(run[0])].append(run)
    spans: list[tuple[int, int]] = []
    behind = start
    for run in runs:
        partners = later[len(run[0])]
        partners.pop()
        if run.start() >= behind and partners:
            behind = partners[-1].end()
            spans.append((run.start(), behind))
    return spans

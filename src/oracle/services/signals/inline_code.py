"""Inline code: which runs of backticks on a line are open, so that what follows may be code."""

from __future__ import annotations

import re
from collections import defaultdict

from oracle.patterns import lazy_pattern

_RUN = lazy_pattern(r"`+")
_RUN_OR_TEXT = lazy_pattern(r"`+|[^`]+")

_BATCH = 256
"""Runs are counted in batches of about this many characters: one call for many small chunks."""


class InlineCode:
    """The runs of the current line that are open, in text that arrives in pieces.

    A run is closed by the next run of the same length on its line. Until the line ends, it is not
    known whether a run opens code or is text. So each run that closes nothing counts as open.
    """

    def __init__(self) -> None:
        # Whether the line has a backtick. Before its first one, pieces need not be read at all.
        self.has_runs = False
        self._uncounted = ""
        # The length of a run that reaches the end of what was counted, and may go on.
        self._run = 0
        # The lengths of the open runs, in order. No two are the same, since the second would close
        # the first. A run that closes one of them takes away all that were opened after it.
        self._open: dict[int, None] = {}
        # On a line that was read ahead to its end: where the last run of each length ends.
        self._last_runs: dict[int, int] | None = None

    def start_line(self) -> None:
        if self.has_runs:
            self.has_runs = False
            self._uncounted = ""
            self._run = 0
            self._open.clear()
            self._last_runs = None

    def read(self, piece: str, offset: int = 0) -> None:
        """The next piece of the line, which ends at `offset`; only a known line needs to know."""
        self.has_runs = True
        self._uncounted += piece
        if len(self._uncounted) >= _BATCH:
            self._count_runs(offset)

    def is_open(self, offset: int) -> bool:
        """Whether a run is open at `offset`, up to which all was read and where no backtick is."""
        self._count_runs(offset)
        self._end_run(offset)
        return bool(self._open)

    def closes(self, length: int) -> bool:
        """Whether a run of `length` closes an open one, which ends all that were opened in it."""
        if length not in self._open:
            return False
        while self._open.popitem()[0] != length:
            pass
        return True

    def know_line(self, last_runs: dict[int, int]) -> None:
        """The line was read ahead to its end: nothing closes what is open, so that is text."""
        self._open.clear()
        self._last_runs = last_runs

    def _count_runs(self, offset: int) -> None:
        at = offset - len(self._uncounted)
        for part in _RUN_OR_TEXT.findall(self._uncounted):
            if part[0] == "`":
                self._run += len(part)
            else:
                self._end_run(at)
            at += len(part)
        self._uncounted = ""

    def _end_run(self, at: int) -> None:
        length, self._run = self._run, 0
        if not length or self.closes(length):
            return
        # On a line that is known, a run with no other of its length after it is text.
        if self._last_runs is None or self._last_runs.get(length, 0) > at:
            self._open[length] = None


def code_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where the inline code of a whole line is, backticks included, in order."""
    runs = list(_RUN.finditer(text, start, end))
    later: defaultdict[int, list[re.Match[str]]] = defaultdict(list)
    for run in reversed(runs):
        later[len(run[0])].append(run)
    spans: list[tuple[int, int]] = []
    code_end = start
    for run in runs:
        partners = later[len(run[0])]
        partners.pop()
        if run.start() >= code_end and partners:
            code_end = partners[-1].end()
            spans.append((run.start(), code_end))
    return spans

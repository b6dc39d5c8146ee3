"""Which runs of backticks are open, so that what follows on their line may be inline code."""

from __future__ import annotations


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

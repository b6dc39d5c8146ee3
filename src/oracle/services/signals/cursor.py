"""The cursor that all readers of a text share: what is unread, what is held, what may be shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from oracle.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

T = TypeVar("T")
Waiting: TypeAlias = "Generator[None, None, T]"
"""A reader: it yields when it needs more text, is resumed when there is some, and returns a T."""

SIGNAL_OPENING = lazy_pattern(r"<signal(?:[\s>]|/>)", re.I | re.A)
_LONGEST_UNDECIDED = "<signal/"
_UNLIMITED = 1 << 40


def skim_nothing(_chunk: str) -> bool:
    return False


class Cursor:
    """A place in a text that arrives in chunks. What it passes is shown, or held.

    Text is kept back in one of two ways. *Unread* text is in front of the cursor and will be read
    once more: at most one line or element, up to their limits. *Held* text was passed, however
    long it is, and waits for one decision: show it, drop it, or read it again.
    """

    def __init__(self) -> None:
        # `data[pos:]` is unread. What is before `pos` goes when a chunk arrives. So a reader that
        # yields keeps no index into `data`, only a distance from `pos`.
        self.data = ""
        self.pos = 0
        # No chunk will follow. A reader that would wait decides with what there is.
        self.final = False
        # A reader that waits where only a few characters matter puts a function here. It is called
        # with each chunk that has no `<`. If it returns True, the chunk is shown, and the reader is
        # not resumed.
        self.skim: Callable[[str], bool] = skim_nothing
        # The reader waits in the middle of a line without backticks. Most chunks arrive there: one
        # without `<`, backtick and line end is shown even without a call of `skim`.
        self.flowing = False
        # How much was read before `data`. Skimmed chunks do not count. This is safe: offsets are
        # compared only within text that was unread at the same time, so that none was skimmed.
        self._offset = 0
        self._shown: list[str] = []
        # Where passed text goes: into `_shown` itself, or into another list while text is held.
        self._passed = self._shown

    def add(self, chunk: str) -> None:
        self.skim = skim_nothing
        self.flowing = False
        self._offset += self.pos
        self.data = self.data[self.pos :] + chunk
        self.pos = 0

    def stop_skimming(self) -> None:
        """Let no chunk pass unread."""
        self.skim = skim_nothing
        self.flowing = False

    @property
    def offset(self) -> int:
        return self._offset + self.pos

    @property
    def exhausted(self) -> bool:
        """Nothing is unread; more may follow, unless the text is `final`."""
        return self.pos == len(self.data)

    @property
    def next_character(self) -> str:
        """Empty if nothing is unread."""
        return self.data[self.pos : self.pos + 1]

    def pass_to(self, end: int) -> None:
        self._passed.append(self.data[self.pos : end])
        self.pos = end

    def take_shown(self) -> str:
        shown = "".join(self._shown)
        self._shown.clear()
        return shown

    def shows_ink(self, start: int) -> bool:
        """Whether anything but white space will be shown next, from piece `start` on."""
        return any(piece.strip() for piece in self._shown[start:])

    @property
    def shown_length(self) -> int:
        """How many characters will be shown next."""
        return sum(map(len, self._shown))

    @property
    def shown_count(self) -> int:
        """How many pieces will be shown next."""
        return len(self._shown)

    # holding

    @property
    def holding(self) -> bool:
        return self._passed is not self._shown

    @property
    def held_count(self) -> int:
        """How many pieces are held: a place in the held text, for `release` and `reread`."""
        return len(self._passed)

    def hold(self) -> None:
        """Hold what is passed from here on."""
        self._passed = []

    def release(self, start: int = 0) -> None:
        """Show what is held, from piece `start` on. The pieces before it are dropped."""
        if self.holding:
            self._shown += self._passed[start:]
            self._passed = self._shown

    def drop(self) -> None:
        self._passed = self._shown

    def reread(self, start: int = 0) -> None:
        """Go back to where piece `start` of the held text begins. What is before it stays held."""
        again = "".join(self._passed[start:])
        del self._passed[start:]
        if not start:
            self._passed = self._shown
        self._offset = self.offset - len(again)
        self.data = again + self.data[self.pos :]
        self.pos = 0

    # reading

    def span(self, characters: re.Pattern[str], limit: int = _UNLIMITED) -> Waiting[str]:
        """Pass the longest run of `characters`, at most `limit` of them, and return it."""
        run = ""
        while True:
            more = characters.match(self.data, self.pos, self.pos + limit - len(run))
            if more is not None:
                run += more[0]
                self.pass_to(more.end())
            if self.pos < len(self.data) or len(run) >= limit or self.final:
                return run
            yield

    def opens_signal(self) -> Waiting[bool]:
        """Whether an element begins here. Waits for at most as much as `<signal/`."""
        while True:
            if SIGNAL_OPENING.match(self.data, self.pos):
                return True
            start = self.data[self.pos : self.pos + len(_LONGEST_UNDECIDED) + 1].lower()
            if not _LONGEST_UNDECIDED.startswith(start):
                return False
            if self.final:
                return start.startswith("<signal")
            yield

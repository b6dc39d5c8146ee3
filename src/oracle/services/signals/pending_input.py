"""The text that the signal parser has not settled yet, and where settled text goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.services.signals.code_fences import SIGNAL_OPENING
from oracle.services.signals.element_end import ELEMENT_LIMIT, ElementEnd

if TYPE_CHECKING:
    from oracle.services.signals.code_fences import Fence

_UNDECIDED_OPENING = "<signal/"


class SignalInput:
    """A cursor over the unread text. What it passes is shown, or held until that is decided."""

    def __init__(self) -> None:
        self.data = ""
        self.pos = 0
        self.final = False
        self._offset = 0
        self._shown: list[str] = []
        self._sink = self._shown
        self._element = ElementEnd()
        self._element_at = 0
        self._line_break = 0

    def add(self, chunk: str) -> None:
        self._offset += self.pos
        self.data = self.data[self.pos :] + chunk
        self.pos = 0

    @property
    def offset(self) -> int:
        """How much of the whole text lies before the cursor."""
        return self._offset + self.pos

    @property
    def exhausted(self) -> bool:
        return self.pos == len(self.data)

    def show(self, end: int) -> None:
        self._sink.append(self.data[self.pos : end])
        self.pos = end

    @property
    def pieces_shown(self) -> int:
        return len(self._shown)

    def shows_ink(self, start: int) -> bool:
        """Whether anything but white space is shown, from piece number `start` on."""
        return any(piece.strip() for piece in self._shown[start:])

    def take_shown(self) -> str:
        shown = "".join(self._shown)
        self._shown.clear()
        return shown

    # holding

    @property
    def holding(self) -> bool:
        return self._sink is not self._shown

    @property
    def held(self) -> list[str]:
        return self._sink

    def hold(self) -> None:
        self._sink = []

    def release(self, start: int = 0) -> None:
        """Show what is held, from piece number `start` on; what stands before it is dropped."""
        if self.holding:
            self._shown += self._sink[start:]
            self._sink = self._shown

    def reread(self) -> None:
        """Put the cursor back to where holding began."""
        held, self._sink = "".join(self._sink), self._shown
        self._offset = self.offset - len(held)
        self.data = held + self.data[self.pos :]
        self.pos = 0

    # elements

    def opens_signal(self) -> bool | None:
        """Whether a signal element begins here; None while the text does not say."""
        if SIGNAL_OPENING.match(self.data, self.pos):
            return True
        rest = self.data[self.pos : self.pos + len(_UNDECIDED_OPENING) + 1].lower()
        if not _UNDECIDED_OPENING.startswith(rest):
            return False
        return rest.startswith("<signal") if self.final else None

    def start_element(self) -> None:
        distance = self.offset - self._element_at
        self._element = ElementEnd(
            quiet_until=self._element.quiet_until - distance,
            blank_at=self._element.blank_at - distance,
        )
        self._element_at = self.offset
        self._line_break = max(0, self._line_break - distance)

    def find_end(self, fence: Fence | None = None) -> tuple[str, int | None]:
        """The element that begins here and its length, NEVER_CLOSED, or None while that is open."""
        text = self.data[self.pos : self.pos + ELEMENT_LIMIT]
        complete = self.final or len(text) == ELEMENT_LIMIT
        if fence:
            fence_end = fence.end_inside.search(text, self._line_break)
            self._line_break = fence_end.start() if fence_end else max(0, text.rfind("\n"))
            text = text[: self._line_break] if fence_end else text
            complete = complete or fence_end is not None
        end = self._element.find(text, complete=complete)
        return text[:end], end

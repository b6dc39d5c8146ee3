"""Reads a text line by line: shows it, keeps elements back, and leaves code as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.patterns import lazy_pattern
from oracle.services.signals.code_fences import (
    LEAD,
    LEAD_LIMIT,
    LINE_LIMIT,
    Fence,
    lead_allows_fence,
    lead_is_list_item,
    open_fence,
)
from oracle.services.signals.element_end import ElementEnd
from oracle.services.signals.fence_reader import FenceReader
from oracle.services.signals.inline_code import InlineCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.services.signals.cursor import Cursor, Waiting

# Of all angle brackets, only those are looked at that a signal may begin with.
_TEXT_MARK = lazy_pattern(r"<(?=[sS]|\Z)|\n")
_LINE_MARK = lazy_pattern(r"[`\n]")
_HIDDEN_MARK = lazy_pattern(r"<|\r?\n|\r\Z")
_BACKTICKS = lazy_pattern(r"`*+")
_BLANKS = lazy_pattern(r"[ \t\r]*+")
_RUNS = {"`": _BACKTICKS, "~": lazy_pattern(r"~*+")}
_INFO = {"`": lazy_pattern(r"[^`\n]*+"), "~": lazy_pattern(r"[^\n]*+")}


class TextReader:
    """Reads the whole text; `take` is called with each element, or None if it is never closed.

    `hide_more` is then called with the text that the element hides, piece by piece.
    """

    def __init__(
        self,
        text: Cursor,
        take: Callable[[str | None], None],
        hide_more: Callable[[str], None] = lambda piece: None,
    ) -> None:
        self._text = text
        self._take = take
        self._hide_more = hide_more
        self._elements = ElementEnd(text)
        self._inline = InlineCode()
        # A list item was seen, and since then no line that ends the list: one that is not blank,
        # not indented and not an item. In a list, a fence may be indented by any width.
        self._in_list = False
        # `_skim` has passed a line end, and nothing after it. False while the reader runs.
        self._at_line_start = False

    def read(self) -> Waiting[None]:
        text = self._text
        while not (text.final and text.exhausted):
            fence = yield from self._start_line()
            if fence is not None:
                reader = FenceReader(text, fence, self._elements, self._take)
                if not (yield from reader.read()):
                    continue
            yield from self._pass_line()

    # the start of a line

    def _start_line(self) -> Waiting[Fence | None]:
        """Pass the indentation, quote marks and list marks; then the line if it opens a fence."""
        self._inline.start_line()
        if self._text.next_character.isalpha():
            # Most lines: no fence, no list item.
            self._in_list = False
            return None
        lead = yield from self._text.span(LEAD, LEAD_LIMIT)
        first = self._text.next_character
        if lead_is_list_item(lead):
            self._in_list = True
        elif first not in ("\r", "\n") and not lead.startswith((" ", "\t")):
            self._in_list = False
        if first in _RUNS and lead_allows_fence(lead, in_list=self._in_list):
            return (yield from self._open_fence(lead, first))
        return None

    def _open_fence(self, lead: str, mark: str) -> Waiting[Fence | None]:
        """The line stays held if it opens a fence, because the fence may wrap a signal."""
        text = self._text
        text.hold()
        line = yield from text.span(_RUNS[mark], LINE_LIMIT)
        if len(line) >= 3:
            line += yield from text.span(_INFO[mark], LINE_LIMIT - len(line))
            if text.next_character == "\n" and len(line) < LINE_LIMIT:
                fence = open_fence(line + "\n", lead)
                if fence is not None:
                    text.pass_to(text.pos + 1)
                    return fence
        # Not a fence: the same characters are text, perhaps with a signal or inline code in it.
        text.reread()
        return None

    # the rest of a line

    def _pass_line(self) -> Waiting[None]:
        """Pass the text up to the line end, except for elements."""
        text = self._text
        while True:
            mark = _TEXT_MARK.search(text.data, text.pos)
            self._pass_text(mark.start() if mark else len(text.data))
            if mark is None:
                if text.final:
                    return
                text.skim = self._skim
                text.flowing = not self._inline.has_runs
                yield
                # Chunks may have been skimmed in between, up to somewhere in another line.
                if self._at_line_start:
                    self._at_line_start = False
                    return
            elif mark[0] == "\n":
                text.pass_to(mark.end())
                return
            elif not (yield from text.opens_signal()):
                self._pass_text(text.pos + 1)
            elif not self._inline.is_open(text.offset) or not (yield from self._is_code()):
                yield from self._hide()

    def _pass_text(self, end: int) -> None:
        text = self._text
        piece = text.data[text.pos : end]
        text.pass_to(end)
        if self._inline.has_runs or "`" in piece:
            self._inline.read(piece, text.offset)

    def _skim(self, chunk: str) -> bool:
        """Pass a chunk without `<`, unless a line in it may open a fence or be a list item."""
        if self._at_line_start or "\n" in chunk:
            lines = chunk if self._at_line_start else chunk.partition("\n")[2]
            blank, _, chunk = lines.rpartition("\n")
            # A letter opens no fence and no list item.
            if blank.strip() or not (chunk[:1].isalpha() or not chunk):
                return False
            self._inline.start_line()
            self._at_line_start = not chunk
            self._in_list = self._in_list and not chunk
            self._text.flowing = not self._at_line_start
        if self._inline.has_runs or "`" in chunk:
            self._inline.read(chunk)
            self._text.flowing = False
        return True

    def _is_code(self) -> Waiting[bool]:
        """Whether a backtick that is open before the element here is closed on the line.

        If it is not, the cursor is back at the element, and the line is known to its end.
        """
        text = self._text
        text.hold()
        last_runs: dict[int, int] = {}
        while True:
            mark = _LINE_MARK.search(text.data, text.pos)
            text.pass_to(mark.start() if mark else len(text.data))
            if mark is not None and mark[0] == "`":
                run = yield from text.span(_BACKTICKS)
                if self._inline.closes(len(run)):
                    text.release()
                    return True
                last_runs[len(run)] = text.offset
            elif mark is not None or text.final:
                text.reread()
                self._inline.know_line(last_runs)
                return False
            else:
                yield

    # elements

    def _hide(self) -> Waiting[None]:
        """Hide the element here. One that is never closed hides up to the next blank line."""
        text = self._text
        # An element before the cursor was never closed, and no blank line has followed it.
        never_closed = False
        while True:
            element = yield from self._elements.read()
            text.pos += len(element or "<signal")
            self._take(element)
            if element is None:
                never_closed = True
            elif "\n" in element:
                # Its end is on another line, where no backtick is open yet.
                self._inline.start_line()
            if not never_closed or not (yield from self._hides_another()):
                return

    def _hides_another(self) -> Waiting[bool]:
        """Hide the text up to the next element (True), a blank line or the end of the text."""
        text = self._text
        while True:
            mark = _HIDDEN_MARK.search(text.data, text.pos)
            self._hide_to(mark.start() if mark else len(text.data))
            if mark is None or mark[0] == "\r":
                # A last `\r` may be part of the line end before a blank line, which is shown.
                if text.final:
                    self._hide_to(len(text.data))
                    return False
                yield
            elif mark[0] == "<":
                if (yield from text.opens_signal()):
                    return True
                self._hide_to(text.pos + 1)
            elif (yield from self._is_blank_line(mark.end())):
                return False

    def _is_blank_line(self, start: int) -> Waiting[bool]:
        """A blank line is shown, with the line end before it, up to its own line end."""
        text = self._text
        text.hold()
        text.pass_to(start)
        # One more than is allowed, to see that there are too many.
        blanks = yield from text.span(_BLANKS, LINE_LIMIT + 1)
        if text.next_character == "\n" and len(blanks) <= LINE_LIMIT:
            text.release()
            return True
        text.drop()
        self._hide_more("\n" + blanks)
        return False

    def _hide_to(self, end: int) -> None:
        text = self._text
        self._hide_more(text.data[text.pos : end])
        text.pos = end

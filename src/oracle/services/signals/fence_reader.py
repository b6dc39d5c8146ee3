"""Reads one code fence, where an element is a quotation unless it ends the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.patterns import lazy_pattern
from oracle.services.signals.code_fences import LEAD_LIMIT, LINE_LIMIT, Fence

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.services.signals.cursor import Cursor, Waiting
    from oracle.services.signals.element_end import ElementEnd

_BLANKS = lazy_pattern(r"[ \t]*+")
_QUOTE_MARKS = lazy_pattern(r"[ \t>]*+")
_MARKS = {mark: lazy_pattern(rf"{mark}*+") for mark in "`~"}
_TRAILING = lazy_pattern(r"[ \t\r]*+")
_INK = lazy_pattern(r"\S")
_INK_OR_LINE_END = lazy_pattern(r"[\S\n]")
_ANGLE = r"<(?=[sS]|\Z)"
_ANGLE_OR_LINE_END = lazy_pattern(rf"{_ANGLE}|\n")
# One search passes all lines that do not begin with the fence's own character.
_ANGLE_OR_CLOSING = {mark: lazy_pattern(rf"{_ANGLE}|\n(?=[ \t]*+(?:{mark}|\Z))") for mark in "`~"}
_MIDDLE_OF_LINE = "x"


class FenceReader:
    """Reads the lines of a fence: is it the closing line, is it outside, or is it code?

    Code is held in two cases: the fence may wrap a signal, because it has only white space and
    perhaps an element so far; or an element may be the last thing in the text. `take` is called
    with the element that counts. All other code is shown as it arrives.
    """

    def __init__(
        self, text: Cursor, fence: Fence, elements: ElementEnd, take: Callable[[str], None]
    ) -> None:
        """The cursor is after the opening line, which is held."""
        self._text = text
        self._fence = fence
        self._elements = elements
        self._take = take
        self._mark = fence.mark
        # What ends plain code that is shown. Each line of a fence that may be left is looked at.
        self._code_end = _ANGLE_OR_LINE_END if fence.may_be_left else _ANGLE_OR_CLOSING[fence.mark]
        # So far the fence has only white space, perhaps with the candidate in it. While this is
        # True, all of the fence is held.
        self._may_wrap = True
        # An element with only white space after it so far. While there is one, it is held, with all
        # that follows it.
        self._candidate: str | None = None
        # The piece of the held text where what follows the candidate begins (if the fence wraps it:
        # what follows the fence). If the candidate counts, only this piece and the next are shown.
        self._after_candidate = 0
        # How the line at the cursor begins, if `_skim` passed that. Only the length of the widest
        # indentation matters: a line that is longer or has ink does not close the fence.
        self._line = ""

    def read(self) -> Waiting[bool]:
        """True if a closing line ends the fence, False if the next line or the text's end does."""
        while True:
            was_holding = self._text.holding
            if self._fence.may_be_left and not was_holding:
                # A line that is outside is read again, with the rules for text.
                self._text.hold()
            line_at = self._text.held_count
            line = yield from self._pass_margin()
            run = yield from self._text.span(_MARKS[self._fence.mark], LINE_LIMIT - len(line))
            line += run
            if run and (yield from self._is_closing(line)):
                return (yield from self._finish(closed=True))
            if self._is_left(line):
                self._text.reread(line_at)
                return (yield from self._finish(closed=False))
            if run or not was_holding:
                # A run that does not close is ink. Without one, only this line's start was held.
                self._show_as_code()
            if not (yield from self._pass_code()):
                self._end_with_text()
                return False

    # the start of a line

    def _pass_margin(self) -> Waiting[str]:
        """Pass the indentation and quote marks that a closing line may have, and return them."""
        line, self._line = self._line, ""
        line += yield from self._text.span(_BLANKS, self._fence.indentation - len(line))
        if self._fence.quoted:
            line += yield from self._text.span(_QUOTE_MARKS, 1 + LEAD_LIMIT)
        return line

    def _is_closing(self, line: str) -> Waiting[bool]:
        """Whether a line that begins with `line` closes the fence. Passes white space after it."""
        text = self._text
        after_run = text.held_count
        line += yield from text.span(_TRAILING, LINE_LIMIT - len(line))
        ends = text.next_character in ("", "\n") and len(line) < LINE_LIMIT
        if not ends or not self._fence.is_closed_by(line):
            return False
        if self._may_wrap:
            # The white space after a fence that goes with its signal is shown.
            self._after_candidate = after_run
        return True

    def _is_left(self, line: str) -> bool:
        """Whether the line that begins with `line` is outside of the quote or the list item."""
        return self._fence.may_be_left and self._fence.is_left_by(line + self._text.next_character)

    # the code

    def _pass_code(self) -> Waiting[bool]:
        """Pass the rest of the line. False if the text ends before the line does."""
        text = self._text
        if self._fence.quoted and text.holding:
            # At the start of a line, quote marks count as white space.
            yield from text.span(_QUOTE_MARKS)
        while True:
            # Held text is white space so far, apart from the candidate: any ink decides.
            code_end = _INK_OR_LINE_END if text.holding else self._code_end
            mark = code_end.search(text.data, text.pos)
            text.pass_to(mark.start() if mark else len(text.data))
            if mark is None:
                if text.final:
                    return False
                if (yield from self._wait()):
                    return True
            elif mark[0] == "\n":
                text.pass_to(mark.end())
                return True
            else:
                yield from self._pass_ink()

    def _pass_ink(self) -> Waiting[None]:
        """Pass an element, which becomes the candidate, or show what is held as code."""
        text = self._text
        if self._candidate is not None:
            self._show_as_code()
        elif not (yield from text.opens_signal()):
            text.pass_to(text.pos + 1)
            self._show_as_code()
        else:
            if not text.holding:
                text.hold()
            element = yield from self._elements.read(self._fence)
            text.pass_to(text.pos + len(element or "<signal"))
            self._candidate = element
            self._after_candidate = text.held_count
            if element is None:
                self._show_as_code()

    def _show_as_code(self) -> None:
        """What is held, if anything, is code like any other."""
        self._text.release()
        self._may_wrap = False
        self._candidate = None

    # waiting in code

    def _wait(self) -> Waiting[bool]:
        """Wait for more text. True if `_skim` has passed to the start of another line."""
        if self._text.holding:
            yield
            return False
        self._line = _MIDDLE_OF_LINE
        self._text.skim = self._skim
        yield
        if len(self._line) <= self._fence.indentation and not self._line.strip(" \t"):
            return True
        # Still, or again, in the middle of a line: nothing of it matters for the next line.
        self._line = ""
        return False

    def _skim(self, chunk: str) -> bool:
        """Pass a chunk without the fence's own character: no line in it closes the fence."""
        if self._mark in chunk:
            return False
        if "\n" in chunk:
            if self._fence.may_be_left:
                return False
            self._line = chunk[chunk.rindex("\n") + 1 :]
        elif len(self._line) <= self._fence.indentation:
            self._line += chunk
        return True

    # the end

    def _finish(self, *, closed: bool) -> Waiting[bool]:
        """The fence is over. A candidate still counts if nothing follows at all.

        In a closed fence it must be the only thing.
        """
        text = self._text
        if self._candidate is not None and (self._may_wrap or not closed):
            fence_end = text.held_count
            while _INK.search(text.data, text.pos) is None:
                text.pass_to(len(text.data))
                if text.final:
                    self._end_with_text()
                    return closed
                yield
            # The white space may be whole lines. They are read again, with the rules for text.
            text.reread(fence_end)
        self._show_as_code()
        return closed

    def _end_with_text(self) -> None:
        if self._candidate is None:
            self._text.release()
        else:
            self._text.release(self._after_candidate)
            self._take(self._candidate)

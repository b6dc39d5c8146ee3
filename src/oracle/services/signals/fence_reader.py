"""Reads one code fence, where an element is a quotation unless it ends the text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.services.signals.code_fences import LEAD_LIMIT, LINE_LIMIT, Fence

if TYPE_CHECKING:
    from oracle.services.signals.cursor import Cursor, Waiting
    from oracle.services.signals.element_end import ElementEnd

_BLANKS = re.compile(r"[ \t]*+")
_QUOTE_MARKS = re.compile(r"[ \t>]*+")
_MARKS = {mark: re.compile(rf"{mark}*+") for mark in "`~"}
_TRAILING = re.compile(r"[ \t\r]*+")
_UNDECIDED_INDENTATION = re.compile(r"[ \t]{0,256}\Z")
_INK = re.compile(r"\S")
_INK_OR_LINE_END = re.compile(r"[\S\n]")
_ANGLE = r"<(?=[sS]|\Z)"
_ANGLE_OR_LINE_END = re.compile(rf"{_ANGLE}|\n")
_ANGLE_OR_POSSIBLE_CLOSING = {
    mark: re.compile(rf"{_ANGLE}|\n(?=[ \t]*+(?:{mark}|\Z))") for mark in "`~"
}
"""Passes all lines at once that do not begin with the fence's own character."""

_MIDDLE_OF_LINE = "x"


@dataclass(frozen=True, kw_only=True)
class FenceEnd:
    """How a fence ended: by a closing line, else the next line is outside; or with the text.

    `element` is the one that counts, because nothing follows it.
    """

    closed: bool = False
    element: str | None = None


class FenceReader:
    """Reads the lines of a fence, each in the order: outside of the fence, closing line, code.

    Text is held in two cases: the fence may wrap a signal, because it has only white space and
    perhaps an element so far; or an element may be the last thing in the text. All other code is
    shown as it arrives.
    """

    def __init__(self, text: Cursor, fence: Fence, elements: ElementEnd) -> None:
        """The cursor is after the opening line, which is held."""
        self._text = text
        self._fence = fence
        self._elements = elements
        self._mark = fence.mark
        self._code_mark = (
            _ANGLE_OR_LINE_END if fence.may_be_left else _ANGLE_OR_POSSIBLE_CLOSING[fence.mark]
        )
        # Nothing but white space is before the candidate, or before the cursor if there is none.
        self._may_wrap = True
        # An element with only white space after it so far. While there is one, text is held.
        self._candidate: str | None = None
        # The piece of the held text where what follows the candidate begins. If the candidate
        # counts, what is before this piece goes, and the rest is shown.
        self._after_candidate = 0
        # How the line at the cursor begins, if `_skim` passed that: enough of it to say whether
        # the line may still close the fence.
        self._line = ""

    def read(self) -> Waiting[FenceEnd]:
        while True:
            if self._fence.may_be_left and (yield from self._is_left()):
                return (yield from self._finish(closed=False))
            if (yield from self._is_closed()):
                return (yield from self._finish(closed=True))
            if not (yield from self._pass_code()):
                return self._end_of_text()

    # the start of a line

    def _is_left(self) -> Waiting[bool]:
        """Whether this line is outside of the quote or the list item. The cursor does not move."""
        text = self._text
        while not text.final and _UNDECIDED_INDENTATION.match(text.data, text.pos):
            yield
        return self._fence.outside.match(text.data, text.pos) is not None

    def _is_closed(self) -> Waiting[bool]:
        """Pass the line's start up to where it is plain whether it closes the fence.

        That needs no second reading: if the line is code, this much of it is white space or code.
        """
        text, fence = self._text, self._fence
        line, self._line = self._line, ""
        line += yield from text.span(_BLANKS, fence.indentation - len(line))
        if fence.quoted:
            line += yield from text.span(_QUOTE_MARKS, 1 + LEAD_LIMIT)
        run = yield from text.span(_MARKS[fence.mark], LINE_LIMIT - len(line))
        if not run:
            return False
        after_run = text.held_count
        line += run
        line += yield from text.span(_TRAILING, LINE_LIMIT - len(line))
        is_closing = len(run) >= fence.length and len(line) < LINE_LIMIT
        if is_closing and text.next_character in ("", "\n"):
            # The white space after a fence that wraps a signal is shown.
            self._after_candidate = after_run if self._may_wrap else self._after_candidate
            return True
        self._show_as_code()
        return False

    # the code

    def _pass_code(self) -> Waiting[bool]:
        """Pass the rest of the line. False if the text ends before the line does."""
        text = self._text
        if self._fence.quoted and text.holding:
            # At the start of a line, quote marks count as white space.
            yield from text.span(_QUOTE_MARKS)
        while True:
            mark = (_INK_OR_LINE_END if text.holding else self._code_mark).search(
                text.data, text.pos
            )
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
        """Wait for more text. True if `_skim_lines` has passed to the start of another line."""
        if self._text.holding:
            yield
            return False
        self._line = _MIDDLE_OF_LINE
        self._text.skim = _is_in_one_line if self._fence.may_be_left else self._skim_lines
        yield
        if len(self._line) <= self._fence.indentation and not self._line.strip(" \t"):
            return True
        self._line = ""
        return False

    def _skim_lines(self, chunk: str) -> bool:
        """Without the fence's own character, no line in a chunk closes the fence."""
        if self._mark in chunk:
            return False
        if "\n" in chunk:
            self._line = chunk[chunk.rindex("\n") + 1 :]
        elif len(self._line) <= self._fence.indentation:
            self._line += chunk
        return True

    # the end

    def _finish(self, *, closed: bool) -> Waiting[FenceEnd]:
        """The fence is over. A candidate still counts if nothing follows at all.

        In a closed fence it must be the only thing.
        """
        text = self._text
        if self._candidate is None or (closed and not self._may_wrap):
            self._show_as_code()
            return FenceEnd(closed=closed)
        fence_end = text.held_count
        while _INK.search(text.data, text.pos) is None:
            text.pass_to(len(text.data))
            if text.final:
                return self._end_of_text()
            yield
        # The lines after the fence are read as all lines are, so that none needs a rule here.
        text.reread(fence_end)
        return FenceEnd(closed=closed)

    def _end_of_text(self) -> FenceEnd:
        self._text.release(0 if self._candidate is None else self._after_candidate)
        return FenceEnd(element=self._candidate)


def _is_in_one_line(chunk: str) -> bool:
    """A skim for a fence that each new line may leave."""
    return "\n" not in chunk

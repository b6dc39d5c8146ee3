"""The inside of one code fence, where an element is a quotation unless it ends the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from oracle.services.signals.code_fences import LINE_LIMIT, Fence
from oracle.services.signals.element_end import NEVER_CLOSED

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.services.signals.pending_input import SignalInput

_MARK = re.compile(r"[<\n]")
_INK = re.compile(r"\S")
_INK_OR_LINE_END = re.compile(r"[\S\n]")
_QUOTE_MARKS = re.compile(r"[ \t>]*+")


class FencedCode:
    """Reads from the opening line to behind the closing one.

    The fence is held while it may wrap a signal, later only an element that may be the last thing.
    `_candidate` is such an element, with nothing but white space behind it so far.
    """

    def __init__(self, text: SignalInput, fence: Fence) -> None:
        """The cursor stands behind the opening line, which is held."""
        self._text = text
        self._fence = fence
        self._mode: Callable[[], bool] = self._line_start
        self._content: Callable[[], bool] = self._blank
        self._looked = 0
        self._may_wrap = True
        self._candidate: str | None = None
        self._behind_candidate = 0
        self._left = False
        self.lead_behind: str | None = None
        """How the line of the cursor starts; None while that is still the closing line."""

    def read(self) -> bool:
        """Whether the fence is behind the cursor; False when more input is needed first."""
        while not self._left and self._mode():
            pass
        return self._left

    def settle(self) -> str | None:
        """At the end of the text: the element that counts, no longer held; all else is shown."""
        counts = self._candidate is not None
        self._text.release(self._behind_candidate if counts else 0)
        return self._candidate

    def _go(self, mode: Callable[[], bool]) -> bool:
        self._mode = mode
        return True

    def _line_start(self) -> bool:
        text = self._text
        limit = text.pos + LINE_LIMIT
        line_end = text.data.find("\n", text.pos + self._looked, limit)
        line = text.data[text.pos : line_end if line_end >= 0 else limit]
        complete = line_end >= 0 or text.final
        open_ = not complete and len(line) < LINE_LIMIT
        if open_ and self._fence.may_be_closed_by(line, self._looked):
            self._looked = len(line)
            return False
        self._looked = 0
        if complete and self._fence.is_closed_by(line):
            return self._close(len(line.rstrip()))
        if self._fence.is_left_by(line if line_end < 0 else line + "\n"):
            return self._leave()
        return self._go(self._quote_marks if self._fence.quoted else self._content)

    def _quote_marks(self) -> bool:
        text = self._text
        marks = _QUOTE_MARKS.match(text.data, text.pos)
        text.show(marks.end() if marks else text.pos)
        return self._go(self._content) if text.final or not text.exhausted else False

    def _blank(self) -> bool:
        """White space, in a fence that has nothing else yet or behind a candidate."""
        text = self._text
        mark = _INK_OR_LINE_END.search(text.data, text.pos)
        text.show(mark.start() if mark else len(text.data))
        if mark is None:
            return False
        if mark[0] == "\n":
            text.show(mark.end())
            return self._go(self._line_start)
        opens = False if self._candidate is not None else text.opens_signal()
        if opens is None:
            return False
        return self._start_element() if opens else self._quote()

    def _code(self) -> bool:
        text = self._text
        mark = _MARK.search(text.data, text.pos)
        text.show(mark.start() if mark else len(text.data))
        if mark is None:
            return False
        opens = mark[0] == "<" and text.opens_signal()
        if opens is None:
            return False
        if opens:
            text.hold()
            return self._start_element()
        text.show(mark.end())
        return self._go(self._line_start) if mark[0] == "\n" else True

    def _start_element(self) -> bool:
        self._text.start_element()
        return self._go(self._element)

    def _element(self) -> bool:
        raw, end = self._text.find_end(self._fence)
        if end is None:
            return False
        if end == NEVER_CLOSED:
            self._text.show(self._text.pos + len("<signal"))
            return self._quote()
        self._text.show(self._text.pos + end)
        self._candidate = raw
        self._behind_candidate = len(self._text.held)
        self._content = self._blank
        return self._go(self._blank)

    def _quote(self) -> bool:
        """What is held turns out to be code like any other."""
        self._text.release()
        self._may_wrap = False
        self._candidate = None
        self._content = self._code
        return self._go(self._code)

    def _close(self, length: int) -> bool:
        self._text.show(self._text.pos + length)
        if self._may_wrap and self._candidate is not None:
            self._behind_candidate = len(self._text.held)
            return self._go(self._behind_last)
        self._left = True
        return self._quote()

    def _leave(self) -> bool:
        """Never closed, but over; a candidate counts if nothing follows at all."""
        if self._candidate is not None:
            return self._go(self._behind_last)
        self.lead_behind = ""
        self._left = True
        return self._quote()

    def _behind_last(self) -> bool:
        text = self._text
        mark = _INK.search(text.data, text.pos)
        text.show(mark.start() if mark else len(text.data))
        if mark is None:
            return False
        white_space = "".join(text.held[self._behind_candidate :])
        self.lead_behind = white_space.rpartition("\n")[2]
        self._left = True
        return self._quote()

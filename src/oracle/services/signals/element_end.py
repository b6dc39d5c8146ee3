"""Where a signal element ends, found while its text is still arriving."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from oracle.services.signals.code_fences import Fence, fence_of_line
from oracle.services.signals.inline_code import code_spans

if TYPE_CHECKING:
    from collections.abc import Callable

ELEMENT_LIMIT = 4096
"""Characters from `<signal` to the end of `</signal>`; a longer element counts as never closed."""

NEVER_CLOSED = -1

_TAG = re.compile(r"[<>\"']")
_QUOTED = {'"': re.compile(r'["<]'), "'": re.compile(r"['<]")}
_TAGS = r"</signal[\s>]|<signal\s"
_TAGS_AND_SECTIONS = rf"{_TAGS}|<!\[CDATA\[|<!--"
_PLAIN_CONTENT = re.compile(_TAGS, re.I | re.A)
_FENCELESS_CONTENT = re.compile(_TAGS_AND_SECTIONS, re.I | re.A)
_CONTENT = re.compile(rf"{_TAGS_AND_SECTIONS}|\n[ \t\r]*+(?:(\n)|\Z)", re.I | re.A)
_CONTENT_BEHIND_BLANK = re.compile(
    rf"{_TAGS_AND_SECTIONS}"
    r"|\n(?![^ \t>*+0-9.)`~-])(?=[ \t>*+0-9.)-]{0,63}(?:(```|~~~)|`{0,2}\Z|~{0,2}\Z))",
    re.I | re.A,
)
"""A line that may open a fence is a mark; the first look ahead is a quick no for the others."""

_CLOSING_TAG = re.compile(r"[^ \t\r\n]")
_SECTIONS = {"<![CDATA[": re.compile(r"]]>"), "<!--": re.compile(r"-->")}
_LINE_END = re.compile(r"\n")
_UNDECIDED = -2
_MOST_FENCES = 8
_LONGEST_MARK = len("</signal>")


class ElementEnd:
    """Looks for the end of one element in a text that grows, reading no character twice.

    A second `<signal …` inside means that the first was never closed. Three things may hold any
    markup: a CDATA section or a comment; a code fence behind a blank line, for there the element
    may be one that was never closed (the first few of them); inline code that begins with the tag.
    One that is itself never closed is text.
    """

    def __init__(self, *, quiet_until: int = 0, blank_at: int = -1) -> None:
        """What an earlier search learnt is not looked for again.

        Up to `quiet_until` nothing ends an element or holds markup; `blank_at` is the last blank
        line before that.
        """
        self.quiet_until = 0
        blank_at = blank_at if blank_at < quiet_until else -1
        self.blank_at = blank_at
        self._start_at = quiet_until
        self._learning = True
        self._seek = _TAG
        self._pass: Callable[[re.Match[str]], int | None] = self._in_tag
        self._at = len("<signal")
        self._content = _CONTENT_BEHIND_BLANK if blank_at >= 0 else _CONTENT
        self._section_at: int | None = None
        self._line_at = 0
        self._fence: Fence | None = None
        self._fences = 0
        self._tag_at = 0
        self._known_until = 0
        self._spans: list[tuple[int, int]] = []

    def find(self, text: str, *, complete: bool) -> int | None:
        """Where the element that begins `text` ends, NEVER_CLOSED, or None while that is open."""
        while True:
            mark = self._seek.search(text, self._at)
            if mark is not None:
                self._at = mark.end()
                end = self._pass(mark)
                if end == _UNDECIDED:
                    if not complete:
                        self._at = mark.start()
                        return None
                    self._learning = False  # a later element reads on where this one is cut off
            else:
                self._at = max(self._at, self._undecided_from(text))
                if not complete:
                    return None
                end = self._without_more(text)
            if end is not None and end != _UNDECIDED:
                return end

    def _undecided_from(self, text: str) -> int:
        return text.rfind("\n") if self._fence else len(text) - _LONGEST_MARK + 1

    def _go(self, seek: re.Pattern[str], pass_: Callable[[re.Match[str]], int | None]) -> None:
        self._seek = seek
        self._pass = pass_

    def _enter_content(self, at: int) -> None:
        self._at = at
        self._go(self._content, self._in_content)

    def _without_more(self, text: str) -> int | None:
        """The text ends before the mark that is looked for."""
        if self._pass == self._at_end_of_tag_line:
            self._know_line(text, len(text))
        elif self._pass == self._at_end_of_fence_line:
            self._enter_content(self._line_at)
        elif self._fence and self._fence.is_closed_by(text[text.rfind("\n") + 1 :]):
            return NEVER_CLOSED
        elif self._section_at is not None:
            self._content = _PLAIN_CONTENT
            self._enter_content(self._section_at)
            self._section_at = self._fence = None
        else:
            if self._seek is self._content and self._learning:
                self.quiet_until = self._at
            return NEVER_CLOSED
        return None

    # the opening tag

    def _in_tag(self, mark: re.Match[str]) -> int | None:
        if mark[0] in _QUOTED:
            self._go(_QUOTED[mark[0]], self._in_attribute)
            return None
        if mark[0] == ">" and mark.string[mark.start() - 1] == "/":
            return mark.end()
        self._leave_tag(mark)
        return None

    def _in_attribute(self, mark: re.Match[str]) -> None:
        if mark[0] == "<":
            self._leave_tag(mark)
        else:
            self._go(_TAG, self._in_tag)

    def _leave_tag(self, mark: re.Match[str]) -> None:
        """A tag without an end is content from its name on, for it may hold a blank line."""
        start = len("<signal") if mark[0] == "<" else mark.start()
        self._enter_content(max(start, self._start_at))

    # the content

    def _in_content(self, mark: re.Match[str]) -> int | None:
        if self._learning:
            self.quiet_until = mark.start()
        if mark[0].startswith("\n"):
            return self._at_line_end(mark)
        if mark[0].startswith("<!"):
            self._learning = False
            self._section_at = mark.end()
            self._go(_SECTIONS[mark[0].upper()], self._at_end_of_section)
            return None
        return self._at_signal_tag(mark)

    def _at_signal_tag(self, mark: re.Match[str]) -> int | None:
        if mark.string[mark.start() - 1] == "`":
            self._learning = False
            if mark.start() >= self._known_until:
                self._tag_at = self._at = mark.start()
                self._go(_LINE_END, self._at_end_of_tag_line)
                return None
            if (behind := self._behind_inline_code(mark.start())) is not None:
                self._at = behind
                return None
        if not mark[0].startswith("</"):
            return NEVER_CLOSED
        self._tag_at = mark.start()
        self._at = mark.end() - 1
        self._go(_CLOSING_TAG, self._in_closing_tag)
        return None

    def _in_closing_tag(self, mark: re.Match[str]) -> int | None:
        if mark[0] == ">":
            return mark.end()
        self._enter_content(self._tag_at + 1)
        return None

    def _at_end_of_section(self, mark: re.Match[str]) -> None:
        self._section_at = None
        self._enter_content(mark.end())

    # inline code

    def _at_end_of_tag_line(self, mark: re.Match[str]) -> None:
        self._know_line(mark.string, mark.start())

    def _know_line(self, text: str, line_end: int) -> None:
        line_start = text.rfind("\n", 0, self._tag_at) + 1
        self._spans = code_spans(text, line_start, line_end)[::-1]
        self._known_until = line_end
        self._enter_content(self._tag_at)

    def _behind_inline_code(self, at: int) -> int | None:
        while self._spans and self._spans[-1][1] <= at:
            self._spans.pop()
        return self._spans[-1][1] if self._spans and self._spans[-1][0] <= at else None

    # code fences

    def _at_line_end(self, mark: re.Match[str]) -> int | None:
        """A blank line follows, or behind one a line that may open a fence."""
        if mark[1] is None:
            return _UNDECIDED
        if self._content is _CONTENT:
            self._content = _CONTENT_BEHIND_BLANK
            self.blank_at = mark.start() if self._learning else self.blank_at
            self._enter_content(mark.end() - 1)
            return None
        self._learning = False
        self._fences += 1
        if self._fences == _MOST_FENCES:
            self._content = _FENCELESS_CONTENT
        self._line_at = mark.end()
        self._go(_LINE_END, self._at_end_of_fence_line)
        return None

    def _at_end_of_fence_line(self, mark: re.Match[str]) -> None:
        self._fence = fence_of_line(mark.string[self._line_at : mark.end()])
        if self._fence is None:
            self._enter_content(self._line_at)
            return
        self._section_at = self._line_at
        self._at = mark.start()
        self._go(self._fence.end_inside, self._at_end_of_fence)

    def _at_end_of_fence(self, mark: re.Match[str]) -> None:
        """Behind the closing line, or before the line that stands outside of the quote or item."""
        self._section_at = self._fence = None
        self._enter_content(mark.end() if mark[1] else mark.start())

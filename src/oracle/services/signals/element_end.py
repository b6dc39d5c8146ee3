"""Where a signal element ends, found while its text is still arriving."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from oracle.patterns import lazy_pattern
from oracle.services.signals.code_fences import Fence, fence_of_line
from oracle.services.signals.inline_code import code_spans

if TYPE_CHECKING:
    from oracle.services.signals.cursor import Cursor, Waiting

ELEMENT_LIMIT = 4096
"""Characters from `<signal` to the end of `</signal>`; a longer element counts as never closed."""

_TAG_MARK = lazy_pattern(r"[<>\"']")
_QUOTED_END = {'"': lazy_pattern(r'["<]'), "'": lazy_pattern(r"['<]")}
_NO_SPACE = lazy_pattern(r"[^ \t\r\n]")
_LINE_END = lazy_pattern(r"\n")
_BLANK_LINE = lazy_pattern(r"\n[ \t\r]*+\n")
_SECTION_END = {"<![CDATA[": lazy_pattern(r"]]>"), "<!--": lazy_pattern(r"-->")}
_LONGEST_MARK = len("<![CDATA[")

# The marks in the content. A mark that begins with a line end and has no group is cut off by the
# end of the window: more text has to show what it is.
_TAGS = r"</signal[\s>]|<signal\s"
_TAGS_AND_SECTIONS = rf"{_TAGS}|<!\[CDATA\[|<!--"
_ONLY_TAGS = lazy_pattern(_TAGS, re.I | re.A)
_NO_FENCES = lazy_pattern(_TAGS_AND_SECTIONS, re.I | re.A)
_BEFORE_BLANK_LINE = lazy_pattern(rf"{_TAGS_AND_SECTIONS}|\n[ \t\r]*+(?:(\n)|\Z)", re.I | re.A)
# The first look ahead is a quick no for most lines, the second finds those that may open a fence.
_AFTER_BLANK_LINE = lazy_pattern(
    rf"{_TAGS_AND_SECTIONS}"
    r"|\n(?![^ \t>*+0-9.)`~-])(?=[ \t>*+0-9.)-]{0,63}(?:(```|~~~)|`{0,2}\Z|~{0,2}\Z))",
    re.I | re.A,
)
_MOST_FENCES = 8
"""Only the first few fences are looked at: each may cost a search up to the limit."""


class ElementEnd:
    """Finds the end of the element at the cursor; one object for all elements of a text.

    After an element that was never closed, the elements inside it are read on their own. What the
    first search passed without a result would be searched again for each of them. So a search keeps
    what it learnt for the next one, and time stays linear.
    """

    def __init__(self, text: Cursor) -> None:
        self._text = text
        # Both are offsets. Between the last element's start and `quiet_until` nothing ends an
        # element, and there is no section, fence or inline code that may hold a tag.
        self.quiet_until = 0
        # Up to here, the fence around the last element (if there was one) has not ended.
        self.fence_goes_on_until = 0

    def read(self, fence: Fence | None = None) -> Waiting[str | None]:
        """The element that begins here, or None for one that is never closed.

        In a `fence` it must be closed before the fence ends. The cursor does not move.
        """
        search = _Search(self._text, self, fence)
        end = yield from search.run()
        return None if end is None else search.window[:end]


class _Search:
    """The search for the end of one element. All places are counted from where it begins.

    A second `<signal …` inside means that the first was never closed. Three things may hold any
    tag: a CDATA section or a comment; after a blank line a code fence, because the element may be
    one that was never closed; and inline code that begins with the tag. One of these that is itself
    never closed is text.
    """

    def __init__(self, text: Cursor, learnt: ElementEnd, fence: Fence | None) -> None:
        self._text = text
        self._learnt = learnt
        self._outer_fence = fence
        self._begin = text.offset
        # The text of the element so far, and whether it cannot become longer.
        self.window = ""
        self._complete = False
        # Where the search continues. All marks before it are dealt with.
        self._at = len("<signal")
        # The marks that are looked for. They change in this order only: `_BEFORE_BLANK_LINE`,
        # `_AFTER_BLANK_LINE`, `_NO_FENCES` after the most fences, and `_ONLY_TAGS` after a section
        # or a fence that is never closed.
        self._marks = _BEFORE_BLANK_LINE
        self._fences = 0
        # Nothing was found so far that may hold a tag, so that `quiet_until` may move on.
        self._learning = True
        # The inline code that is not passed yet, last one first, of the line that ends at
        # `_spans_until`. A tag after that is on a line whose code is not known.
        self._spans: list[tuple[int, int]] = []
        self._spans_until = 0

    def run(self) -> Waiting[int | None]:
        self._look()
        mark = yield from self._end_of_opening_tag()
        if mark is None:
            return None
        if mark[0] == ">" and mark.string[mark.start() - 1] == "/":
            return mark.end()
        # A tag that another one cuts off is content from its name on: it may hold a blank line.
        self._at = len("<signal") if mark[0] == "<" else mark.end()
        self._skip_quiet_text()
        return (yield from self._end_of_content())

    def _skip_quiet_text(self) -> None:
        quiet_until = self._learnt.quiet_until - self._begin
        if quiet_until <= self._at:
            return
        blank_line = _BLANK_LINE.search(self.window, self._at)
        if blank_line is not None and blank_line.start() < quiet_until:
            self._marks = _AFTER_BLANK_LINE
        # Quiet text may end within a line that is a mark as a whole: go back to its line end.
        self._at = max(self._at, self.window.rfind("\n", 0, quiet_until))

    # the window

    def _look(self) -> None:
        """Take in the text that has arrived."""
        text, learnt = self._text, self._learnt
        self.window = text.data[text.pos : text.pos + ELEMENT_LIMIT]
        self._complete = text.final or len(self.window) == ELEMENT_LIMIT
        if self._outer_fence is None:
            return
        start = max(0, learnt.fence_goes_on_until - self._begin)
        lines = _ended(self.window) if len(self.window) < ELEMENT_LIMIT else self.window
        end = self._outer_fence.end_inside.search(lines if text.final else self.window, start)
        if end is not None:
            self.window = self.window[: end.start()]
            self._complete = True
        learnt.fence_goes_on_until = self._begin + max(0, self.window.rfind("\n"))

    def _next(self, marks: re.Pattern[str]) -> Waiting[re.Match[str] | None]:
        """The next mark, of limited length. None if the element's text ends before it."""
        while (mark := marks.search(self.window, self._at)) is None:
            if self._complete:
                return None
            self._at = max(self._at, len(self.window) - _LONGEST_MARK + 1)
            yield
            self._look()
        self._at = mark.end()
        return mark

    # the parts of an element

    def _end_of_opening_tag(self) -> Waiting[re.Match[str] | None]:
        """The `>` that ends the tag, or the `<` that cuts it off."""
        while mark := (yield from self._next(_TAG_MARK)):
            if mark[0] not in _QUOTED_END:
                return mark
            mark = yield from self._next(_QUOTED_END[mark[0]])
            if mark is None or mark[0] == "<":
                return mark
        return None

    def _end_of_content(self) -> Waiting[int | None]:
        while mark := (yield from self._next_content_mark()):
            if mark[0].startswith("\n"):
                yield from self._pass_line_end(mark)
            elif mark[0].startswith("<!"):
                yield from self._pass_section(mark)
            elif (code_end := (yield from self._end_of_inline_code(mark))) is not None:
                self._at = code_end
            elif not mark[0].startswith("</"):
                return None
            elif (end := (yield from self._end_of_closing_tag(mark))) is not None:
                return end
        return None

    def _next_content_mark(self) -> Waiting[re.Match[str] | None]:
        while mark := (yield from self._next(self._marks)):
            if mark.lastindex is not None or not mark[0].startswith("\n"):
                self._learn_quiet(mark.start())
                return mark
            if not self._complete:
                # The line is cut off: read it again when there is more of it.
                self._at = mark.start()
                yield
                self._look()
        # The next element's window reaches further: a mark may be cut off here, but not there.
        self._learn_quiet(len(self.window) - _LONGEST_MARK + 1)
        return None

    def _learn_quiet(self, at: int) -> None:
        if self._learning:
            self._learnt.quiet_until = self._begin + at

    def _end_of_closing_tag(self, mark: re.Match[str]) -> Waiting[int | None]:
        self._at = mark.end() - 1
        after = yield from self._next(_NO_SPACE)
        if after is None:
            # In the next element's window a `>` may follow.
            self._learning = False
        elif after[0] == ">":
            return after.end()
        self._at = mark.start() + 1
        return None

    def _pass_section(self, mark: re.Match[str]) -> Waiting[None]:
        self._learning = False
        end = yield from self._next(_SECTION_END[mark[0].upper()])
        if end is None:
            self._take_as_text(mark.end())

    def _take_as_text(self, at: int) -> None:
        """A section or fence is never closed. A search for another one would cost as much again."""
        self._marks = _ONLY_TAGS
        self._at = at

    # code inside an element

    def _end_of_inline_code(self, mark: re.Match[str]) -> Waiting[int | None]:
        """Where the inline code ends that begins with the tag at `mark`; None if there is none."""
        tag_at = mark.start()
        if mark.string[tag_at - 1] != "`":
            return None
        self._learning = False
        if tag_at >= self._spans_until:
            # From the tag's start: the space after its name may be the line end.
            self._at = tag_at
            line_end = yield from self._next(_LINE_END)
            self._spans_until = line_end.start() if line_end else len(self.window)
            line_start = self.window.rfind("\n", 0, tag_at) + 1
            self._spans = code_spans(self.window, line_start, self._spans_until)[::-1]
        while self._spans and self._spans[-1][1] <= tag_at:
            self._spans.pop()
        return self._spans[-1][1] if self._spans and self._spans[-1][0] <= tag_at else None

    def _pass_line_end(self, mark: re.Match[str]) -> Waiting[None]:
        """A blank line follows, or after one a line that may open a fence."""
        if self._marks is _AFTER_BLANK_LINE:
            yield from self._pass_fence(mark.end())
            return
        self._marks = _AFTER_BLANK_LINE
        self._at = mark.end() - 1

    def _pass_fence(self, line_at: int) -> Waiting[None]:
        self._learning = False
        self._fences += 1
        if self._fences == _MOST_FENCES:
            self._marks = _NO_FENCES
        line_end = yield from self._next(_LINE_END)
        fence = fence_of_line(self.window[line_at : line_end.end()]) if line_end else None
        if line_end is None or fence is None:
            self._at = line_at
            return
        self._at = line_end.start()
        end = yield from self._end_of_fence(fence)
        if end is None:
            self._take_as_text(line_at)
        else:
            # On the closing line, or before the line that is outside of the quote or the item.
            self._at = end.end() if end[1] else end.start()

    def _end_of_fence(self, fence: Fence) -> Waiting[re.Match[str] | None]:
        while True:
            text = _ended(self.window) if self._complete else self.window
            # A closing line may be long, so the search continues from the start of a line.
            if (end := fence.end_inside.search(text, self._at)) or self._complete:
                return end
            self._at = self.window.rfind("\n")
            yield
            self._look()


def _ended(window: str) -> str:
    """With a line end, because a last line without one may close a fence or be outside of it."""
    return window if window.endswith("\n") else window + "\n"

"""Hides our own text that a weak model repeats as if it were an answer.

Outside code it hides, however the text is cut into chunks:

- elements that only we write (`<system_message>`, `<project_facts>`), to their closing tag;
- the frames of tool results: the line that marks data, with the fence after it, and our notes;
- runs of at least eight words that are word for word ours: from the first word at the start of a
  line or sentence, elsewhere from the fourth, because the first three have been passed on.

In code it is a quotation, and stays. So does a run that the model has read in a source: a project
may well be about prompts. Time is linear: a word is compared with at most eight places.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.signals import own_marks as marks
from oracle.services.signals.code_fences import LINE_LIMIT, Fence, fence_of_line
from oracle.services.signals.own_runs import Verdict, after_three, at_start, while_ours
from oracle.services.signals.own_words import (
    Match,
    OwnText,
    PassedWords,
)

TAG_LIMIT: Final = 8_192
"""An element that is not closed within this many characters hides up to a blank line only."""
_LONGEST_NOTE: Final = 400
_PIECE: Final = 4_096
"""A longer chunk is read in pieces of this size, so that a step copies little."""

# After one of these and a blank a sentence may begin: a full stop, a bullet, an arrow, `a)`.
_ENDS: Final = r"[^\w\s`<,;(/&+*'\"-]"
# A chunk without any of these is passed on as it is, in the middle of a line.
_MARK: Final = lazy_pattern(rf"[\n<`]|{_ENDS}")
_LINE_END: Final = lazy_pattern(r"\n")
_CLOSERS: Final = "\"')*_]"
_FLOW_MARK: Final = lazy_pattern(rf"\n|`+|<|{_ENDS}[{re.escape(_CLOSERS)}]*(?=\s|\Z)")
_SENTENCE_END: Final = lazy_pattern(rf"{_ENDS}[{re.escape(_CLOSERS)}]*\Z")
_LEAD: Final = lazy_pattern(r"[ \t>*+0-9.)-]*")


class OwnTextFilter:
    """`feed` returns what may be passed on now, `close` the rest.

    `is_source` says whether the model has read a text in a source, or written it itself.
    `summaries` are the first lines of tool results; one is hidden together with the frame after it.
    """

    def __init__(
        self,
        own: OwnText,
        is_source: Callable[[str], bool] = lambda text: False,
        summaries: Collection[str] = (),
    ) -> None:
        self._own = own
        self._summaries = summaries
        self._is_source = is_source
        # Not decided yet. `_step` reads it from its beginning.
        self._data = ""
        self._final = False
        self._was_cut = False
        self._passed: list[str] = []
        self._has_passed_ink = False
        self._step = self._at_line_start
        # In the middle of a line, where only a few characters matter: those of `_mark`.
        self._flowing = False
        self._mark = _MARK
        # A mark that ends a sentence was the last character: white space after it begins another.
        self._after_mark = False
        # An odd number of runs of backticks is open on this line.
        self._in_code = False
        self._matches: Sequence[Match] = ()
        self._last_words = PassedWords(own)
        self._fence: Fence | None = None
        self._hides_fence = False
        self._after_frame = False
        self._name = ""
        # How much was read before `_data`, and up to where no closing tag of a name was found. The
        # same text is not searched again for each element that is never closed.
        self._offset = 0
        self._searched = dict.fromkeys(marks.CLOSING, 0)

    def feed(self, chunk: str) -> str:
        if self._flowing and not self._after_mark and self._mark.search(chunk) is None:
            is_code = self._mark is _LINE_END or self._in_code
            stop = None if is_code else self._last_words.follow(chunk)
            if stop is None:
                return chunk
            self._data, self._step = chunk[stop:], self._after_three
            return chunk[:stop] + self._run()
        if len(chunk) <= _PIECE:
            self._data += chunk
            passed = self._skip() + self._run()
            # Nearly always all of it. The same object, so that a response is not kept twice.
            return chunk if passed == chunk else passed
        pieces = (chunk[at : at + _PIECE] for at in range(0, len(chunk), _PIECE))
        return "".join([self.feed(piece) for piece in pieces])

    def close(self, *, was_cut: bool = False) -> str:
        """`was_cut`: the text was to go on, so that its last words may be the beginning of ours."""
        self._final = True
        self._was_cut = was_cut
        return self._run()

    def _skip(self) -> str:
        """Pass on, all at once, sentences of a line in which nothing can be ours."""
        if self._in_code or self._step not in (self._in_line, self._at_start):
            return ""
        head = self._data[: self._last_words.skip(self._data)]
        if head:
            self._drop(len(head))
            self._step, self._has_passed_ink = self._in_line, True
            self._after_mark = _SENTENCE_END.search(head) is not None
        return head

    def _run(self) -> str:
        self._flowing = False
        # A step returns False if it needs more text; each other step takes some.
        while self._data and self._step():
            pass
        is_code = self._step == self._in_code_line and not self._hides_fence
        self._flowing = not self._data and (is_code or self._step == self._in_line)
        self._mark = _LINE_END if is_code else _MARK
        passed = "".join(self._passed)
        self._passed.clear()
        self._has_passed_ink = self._has_passed_ink or bool(passed.strip())
        return passed

    def _pass(self, end: int) -> None:
        self._passed.append(self._data[:end])
        self._drop(end)

    def _drop(self, end: int) -> None:
        self._data = self._data[end:]
        self._offset += end

    def _go(self, step: Callable[[], bool]) -> bool:
        self._step = step
        return True

    # lines

    def _at_line_start(self) -> bool:
        self._in_code = False
        self._last_words.forget()
        data = self._data
        lead = _LEAD.match(data)
        after = data[lead.end() :] if lead else data
        if not after:
            if not self._final and len(data) < LINE_LIMIT:
                return False
            self._pass(len(data))
            return True
        if after[0] == "\n":
            self._pass(len(data) - len(after) + 1)
            return True
        if after[0] in "`~":
            return self._may_open_fence(after)
        self._hides_fence = self._after_frame = False
        if self._summaries and (step := self._may_be_summary()) is not None:
            return step
        if marks.begins_like_ours(after):
            return self._may_be_frame(len(data) - len(after))
        is_undecided = not self._final and marks.may_begin_like_ours(after)
        return not is_undecided and self._go(self._at_start)

    def _may_be_summary(self) -> bool | None:
        """None if the line is not a summary, or if no frame follows it."""
        line, line_end, rest = self._data.partition("\n")
        if not line_end and not self._final:
            is_beginning = any(summary.startswith(line) for summary in self._summaries)
            return False if is_beginning else None
        if line.rstrip() not in self._summaries:
            return None
        following = rest.lstrip()
        frame, frame_end, _ = following.partition("\n")
        if not frame_end and not self._final and len(frame) < _LONGEST_NOTE:
            return False if marks.may_begin_frame(frame) else None
        if marks.FRAME.fullmatch(frame) is None:
            return None
        self._drop(len(self._data) - len(following))
        return True

    def _may_open_fence(self, after: str) -> bool:
        is_run = after.startswith(("```", "~~~"))
        line_end = self._data.find("\n")
        undecided = is_run or after in ("`", "``", "~", "~~")
        if undecided and line_end < 0 and not self._final and len(self._data) < LINE_LIMIT:
            return False
        fence = fence_of_line(self._data[: line_end + 1]) if is_run and line_end >= 0 else None
        self._hides_fence, self._after_frame = self._after_frame, False
        if fence is None:
            return self._go(self._at_start if after[0] == "~" else self._in_line)
        self._fence = fence
        self._take_code(line_end + 1)
        return self._go(self._at_code_line)

    def _may_be_frame(self, at: int) -> bool:
        """A line that only our frames and notes have is hidden; a fence after it too."""
        line_end = self._data.find("\n")
        if line_end < 0 and not self._final and len(self._data) < _LONGEST_NOTE:
            return False
        line = self._data[at : line_end if line_end >= 0 else len(self._data)]
        is_frame = marks.FRAME.fullmatch(line) is not None
        if not is_frame and marks.NOTE.fullmatch(line) is None:
            return self._go(self._at_start)
        self._after_frame = is_frame
        self._drop(line_end + 1 if line_end >= 0 else len(self._data))
        return True

    # code

    def _at_code_line(self) -> bool:
        assert self._fence is not None
        data = self._data
        line_end = data.find("\n")
        if line_end < 0 and not self._final:
            ink = data.lstrip(" \t>")
            if (not ink or ink[0] == self._fence.mark) and len(data) < LINE_LIMIT:
                return False
            if self._fence.is_left_by(data):
                return self._go(self._at_line_start)
            self._take_code(len(data))
            return self._go(self._in_code_line)
        line = data[: line_end if line_end >= 0 else len(data)]
        is_closed = self._fence.is_closed_by(line)
        if not is_closed and self._fence.is_left_by(line + "\n"):
            return self._go(self._at_line_start)
        self._take_code(len(line) + (line_end >= 0))
        if is_closed:
            self._go(self._at_line_start)
        return True

    def _in_code_line(self) -> bool:
        line_end = self._data.find("\n")
        self._take_code(line_end + 1 if line_end >= 0 else len(self._data))
        if line_end >= 0:
            self._go(self._at_code_line)
        return True

    def _take_code(self, end: int) -> None:
        if self._hides_fence:
            self._drop(end)
        else:
            self._pass(end)

    # the rest of a line

    def _in_line(self) -> bool:
        data = self._data
        if self._after_mark:
            closers = len(data) - len(data.lstrip(_CLOSERS))
            self._after_mark = closers == len(data)
            self._pass(closers)
            is_start = not self._in_code and self._data[:1].isspace()
            return self._go(self._at_start if is_start else self._in_line)
        mark = _FLOW_MARK.search(data)
        if mark is None:
            self._flow(len(data))
            return True
        # What ends a sentence belongs to its last word, as far as words are compared.
        if not self._flow(mark.start() if mark[0][0] in "\n`<" else mark.end()):
            return True
        if mark[0] == "\n":
            self._pass(1)
            self._go(self._at_line_start)
        elif mark[0][0] == "`":
            if mark.end() == len(data) and not self._final:
                return bool(mark.start())
            self._in_code = not self._in_code
            self._pass(len(mark[0]))
        elif mark[0] == "<":
            return self._may_be_tag()
        else:
            self._after_mark = mark.end() == len(data)
            if not self._after_mark and not self._in_code:
                self._go(self._at_start)
        return True

    def _flow(self, end: int) -> bool:
        """Pass what is before `end`, or before it all up to where three words of ours end."""
        stop = None if self._in_code else self._last_words.follow(self._data[:end])
        self._pass(end if stop is None else stop)
        return stop is None or not self._go(self._after_three)

    def _at_start(self) -> bool:
        """The start of a line or of a sentence: does it begin with words of ours?"""
        space = len(self._data) - len(self._data.lstrip())
        if (line_end := self._data.rfind("\n", 0, space)) >= 0:
            self._pass(line_end + 1)
            return self._go(self._at_line_start)
        if space == len(self._data) and not self._final:
            return False
        verdict = at_start(self._own, self._data, is_final=self._final, was_cut=self._was_cut)
        if verdict.kind == "cut" and not self._has_passed_ink:
            self._drop(len(self._data))
            return True
        return self._judged(verdict)

    def _judged(self, verdict: Verdict) -> bool:
        if verdict.kind == "wait":
            return False
        if verdict.kind == "ours":
            return self._found(verdict.matches, verdict.end)
        # Not ours: `_in_line` passes the first word with the rest of its line.
        return self._go(self._in_line)

    def _after_three(self) -> bool:
        """Three words of ours were passed on: hold back those that go on with them."""
        matches = self._last_words.matches
        return self._judged(after_three(matches, self._data, is_final=self._final))

    def _found(self, matches: Sequence[Match], end: int) -> bool:
        lines = self._data[:end].strip().split("\n")
        if self._is_source(max(lines, key=len).strip()):
            self._pass(end)
            return self._go(self._in_line)
        self._matches = matches
        self._drop(end)
        return self._go(self._in_own_words)

    def _in_own_words(self) -> bool:
        """Hide word after word, as long as they are ours."""
        end, self._matches, is_over = while_ours(self._matches, self._data, is_final=self._final)
        self._drop(end)
        if is_over:
            # White space stays: it separates what is before from what is after.
            return self._go(self._at_start)
        if self._final:
            self._pass(len(self._data))
        return False

    # elements

    def _may_be_tag(self) -> bool:
        """At a `<`."""
        data = self._data
        tag = marks.TAG.match(data)
        if tag is None:
            rest = data[: marks.LONGEST_TAG].lower()
            if rest not in marks.TAG_BEGINNINGS:
                self._pass(1)
                return self._go(self._in_line)
            if not self._final:
                return False
            # The text ends here. `<s` alone may be anything.
            (self._drop if len(rest) > 3 else self._pass)(len(data))
            return True
        if self._in_code and (is_code := self._is_closed_code()) is not False:
            if is_code is None:
                return False
            self._pass(1)
            return self._go(self._in_line)
        if tag[1]:
            end = marks.TAG_END.match(data)
            self._drop(end.end() if end else 1)
            return self._go(self._in_line)
        self._name = tag[2].lower()
        return self._go(self._in_element)

    def _is_closed_code(self) -> bool | None:
        """Whether the open backtick is closed on this line; None if that is not known yet."""
        line, line_end, _ = self._data.partition("\n")
        if "`" in line:
            return True
        is_known = line_end or self._final or len(line) > LINE_LIMIT
        return False if is_known else None

    def _in_element(self) -> bool:
        data, name = self._data, self._name
        start = max(0, self._searched[name] - self._offset - marks.LONGEST_TAG)
        closing = marks.CLOSING[name].search(data, start)
        if closing is not None:
            self._drop(closing.end())
            return self._go(self._in_line)
        self._searched[name] = self._offset + len(data)
        if not self._final and len(data) < TAG_LIMIT:
            return False
        blank = marks.BLANK_LINE.search(data)
        self._drop(blank.start() if blank else len(data))
        return self._go(self._in_line if blank else self._in_open_element)

    def _in_open_element(self) -> bool:
        """Never closed: hide up to a blank line."""
        blank = marks.BLANK_LINE.search(self._data)
        if blank is not None:
            self._drop(blank.start())
            return self._go(self._in_line)
        # White space at the end may be the beginning of a blank line.
        ink = len(self._data.rstrip()) if not self._final else len(self._data)
        self._drop(max(ink, len(self._data) - LINE_LIMIT))
        return False

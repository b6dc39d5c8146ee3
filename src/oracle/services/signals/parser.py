"""Reads the signals in a model's text and takes them out of what the user sees.

docs/signals.md has the rules. Give it the model's own text only, never what a tool or a person
said.
`parse_signal` and `strip_signal` are the stream parser, given the whole text at once.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from oracle.services.signals.code_fences import (
    LEAD,
    LEAD_LIMIT,
    LINE_LIMIT,
    MARGIN_MARKS,
    lead_allows_fence,
    lead_is_list_item,
    may_open_fence,
    open_fence,
)
from oracle.services.signals.element_end import NEVER_CLOSED
from oracle.services.signals.element_fields import read_element
from oracle.services.signals.fenced_code import FencedCode
from oracle.services.signals.inline_code import InlineCode
from oracle.services.signals.pending_input import SignalInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.models.signals import Signal

_PIECE = 4096
"""A longer chunk is read in pieces of this size, so that rereading a line copies little."""

_WARNINGS_LIMIT = 20

_TEXT_MARK = re.compile(r"[<`\n]")
_QUOTATION_MARK = re.compile(r"[`\n]")
_NO_BACKTICK = re.compile(r"[^`]")
_HIDDEN_MARK = re.compile(r"<|\r?\n|\r\Z")
_NO_BLANK = re.compile(r"[^ \t\r]")


def utc_now() -> datetime:
    return datetime.now(UTC)


def parse_signal(text: str, *, now: Callable[[], datetime] = utc_now) -> Signal | None:
    """The signal that counts in the whole `text`, or None."""
    parser = SignalStreamParser(now=now)
    parser.feed(text)
    parser.close()
    return parser.signal


def strip_signal(text: str) -> str:
    """The whole `text` as the user sees it: without its signals, otherwise unchanged."""
    parser = SignalStreamParser()
    return parser.feed(text) + parser.close()


class SignalStreamParser:
    """Shows text as it arrives and keeps signals back.

    After `close`, `signal` is the one that counts, `malformed` says whether an element could not be
    read (`malformed_xml` is the first), and `warnings` holds what is worth logging. `now` is asked
    once for each element.
    """

    def __init__(self, *, now: Callable[[], datetime] = utc_now) -> None:
        self.signal: Signal | None = None
        self.malformed = False
        self.malformed_xml = ""
        self.warnings: list[str] = []
        self._now = now
        self._elements = 0
        self._watch_from: int | None = None
        self._text_follows = False

        self._input = SignalInput()
        self._mode: Callable[[], bool] = self._line_start
        self._flowing = False
        self._lead = ""
        self._in_list = False
        self._run = 0
        self._looked = 0
        self._blanks = 0
        self._inline = InlineCode()
        self._behind_element: Callable[[], bool] = self._text
        self._fence: FencedCode | None = None

    def feed(self, chunk: str) -> str:
        """The text that may be shown now."""
        if (
            self._flowing
            and "<" not in chunk
            and "`" not in chunk
            and ("\n" not in chunk or self._skims(chunk))
        ):
            return chunk
        if len(chunk) <= _PIECE:
            return self._read(chunk)
        pieces = (chunk[at : at + _PIECE] for at in range(0, len(chunk), _PIECE))
        return "".join([self._read(piece) for piece in pieces])

    def close(self) -> str:
        """The rest of the text. Nothing may be fed afterwards."""
        self._input.final = True
        rest = self._read("")
        if self._text_follows:
            self._text_follows = False
            self._warn("the signal is not the last thing in the text")
        return rest

    def _skims(self, chunk: str) -> bool:
        """Whether `chunk` ends in a plain line or a line end, so that no mode has to read it."""
        blank, _, line = chunk.partition("\n")[2].rpartition("\n")
        if blank.strip() or not (line[:1].isalpha() or not line):
            return False
        self._start_line()
        if line:
            self._in_list = False
        else:
            self._mode = self._line_start
            self._flowing = False
        return True

    def _read(self, chunk: str) -> str:
        self._input.add(chunk)
        self._flowing = False
        while self._mode():
            pass
        if self._input.final and self._fence is not None:
            self._settle(self._fence)
        if self._watch_from is not None:
            self._watch(self._watch_from)
        return self._input.take_shown()

    def _watch(self, start: int) -> None:
        """Notice text behind the signal; until there is some, no chunk may pass unread."""
        self._text_follows = self._input.shows_ink(start)
        self._watch_from = None if self._text_follows else 0
        self._flowing = self._flowing and self._text_follows

    def _settle(self, fence: FencedCode) -> None:
        self._fence = None
        element = fence.settle()
        if element is not None:
            self._take(element)

    def _go(self, mode: Callable[[], bool]) -> bool:
        self._mode = mode
        return True

    # plain text

    def _start_line(self) -> None:
        self._lead = ""
        self._inline.start_line()

    def _line_start(self) -> bool:
        text = self._input
        first = text.data[text.pos : text.pos + 1]
        if first and not self._lead and first not in MARGIN_MARKS:
            self._in_list = self._in_list and first in "\r\n"
            return self._go(self._text)
        missing = max(0, LEAD_LIMIT - len(self._lead))
        more = LEAD.match(text.data, text.pos, text.pos + missing)
        if more is not None:
            self._lead += more[0]
            text.show(more.end())
        if text.exhausted and len(self._lead) < LEAD_LIMIT:
            return False
        return self._behind_lead(text.data[text.pos : text.pos + 1])

    def _behind_lead(self, first: str) -> bool:
        if lead_is_list_item(self._lead):
            self._in_list = True
        elif first not in ("\r", "\n") and not self._lead.startswith((" ", "\t")):
            self._in_list = False
        if first in ("`", "~") and lead_allows_fence(self._lead, in_list=self._in_list):
            return self._go(self._fence_opening)
        return self._go(self._text)

    def _text(self) -> bool:
        text = self._input
        mark = _TEXT_MARK.search(text.data, text.pos)
        if mark is None:
            text.show(len(text.data))
            self._flowing = True
            return False
        if mark[0] == "\n":
            text.show(mark.end())
            self._start_line()
            return self._go(self._line_start)
        text.show(mark.start())
        return self._go(self._backticks) if mark[0] == "`" else self._angle_bracket()

    def _angle_bracket(self) -> bool:
        opens = self._input.opens_signal()
        if opens is None:
            return False
        if not opens:
            self._input.show(self._input.pos + 1)
            return True
        if not self._inline.open:
            return self._start_element(self._text)
        self._input.hold()
        return self._go(self._quotation)

    # inline code

    def _backticks(self) -> bool:
        text = self._input
        behind = _NO_BACKTICK.search(text.data, text.pos)
        end = behind.start() if behind else len(text.data)
        self._run += end - text.pos
        text.show(end)
        if text.exhausted and not text.final:
            return False
        length, self._run = self._run, 0
        return self._settle_run(length)

    def _settle_run(self, length: int) -> bool:
        text = self._input
        if self._inline.closes(length):
            text.release()
        elif text.holding:
            self._inline.look_ahead(length, text.offset)
            return self._go(self._quotation)
        else:
            self._inline.add(length, text.offset)
        return self._go(self._text)

    def _quotation(self) -> bool:
        text = self._input
        mark = _QUOTATION_MARK.search(text.data, text.pos)
        text.show(mark.start() if mark else len(text.data))
        if mark is not None and mark[0] == "`":
            return self._go(self._backticks)
        if mark is None and not text.final:
            return False
        text.reread()
        self._inline.line_ends()
        return self._start_element(self._text)

    # signal elements

    def _start_element(self, behind: Callable[[], bool]) -> bool:
        self._behind_element = behind
        self._input.start_element()
        return self._go(self._element)

    def _element(self) -> bool:
        raw, end = self._input.find_end()
        if end is None:
            return False
        if end == NEVER_CLOSED:
            self._input.pos += len("<signal")
            self._count_malformed("malformed signal: never closed")
            return self._go(self._hidden)
        self._input.pos += end
        if "\n" in raw:
            self._inline.start_line()
        self._take(raw)
        return self._go(self._behind_element)

    def _hidden(self) -> bool:
        text = self._input
        mark = _HIDDEN_MARK.search(text.data, text.pos)
        text.pos = mark.start() if mark else len(text.data)
        if mark is None or mark[0] == "\r":
            return False
        if mark[0] == "<":
            opens = text.opens_signal()
            if opens:
                return self._start_element(self._hidden)
            text.pos += 1 if opens is False else 0
            return opens is False
        text.hold()
        text.show(mark.end())
        self._blanks = 0
        return self._go(self._hidden_line)

    def _hidden_line(self) -> bool:
        """A line that is shown if it is blank, with the line end before it, and then all behind."""
        text = self._input
        ink = _NO_BLANK.search(text.data, text.pos, text.pos + LINE_LIMIT + 1 - self._blanks)
        end = ink.start() if ink else min(len(text.data), text.pos + LINE_LIMIT + 1 - self._blanks)
        self._blanks += end - text.pos
        text.show(end)
        if ink is None and self._blanks <= LINE_LIMIT:
            return False
        blank = ink is not None and ink[0] == "\n" and self._blanks <= LINE_LIMIT
        text.release(0 if blank else len(text.held))
        return self._go(self._text if blank else self._hidden)

    def _take(self, raw: str) -> None:
        reading = read_element(raw, self._now())
        if reading.signal is None:
            self.malformed_xml = self.malformed_xml or raw
            self._count_malformed(*reading.problems)
            return
        self._count(*reading.problems)
        if self.signal is None:
            self.signal = reading.signal
            self._watch_from = self._input.pieces_shown

    def _count_malformed(self, *problems: str) -> None:
        self.malformed = True
        self._count(*problems)

    def _count(self, *problems: str) -> None:
        self._warn(*problems)
        self._elements += 1
        if self._elements == 2:
            self._warn("more than one signal: the first valid one counts")

    def _warn(self, *warnings: str) -> None:
        self.warnings += warnings[: _WARNINGS_LIMIT - len(self.warnings)]

    # code fences

    def _fence_opening(self) -> bool:
        text = self._input
        limit = text.pos + LINE_LIMIT
        line_end = text.data.find("\n", text.pos + self._looked, limit) + 1
        line = text.data[text.pos : line_end or limit]
        open_ = not line_end and len(line) < LINE_LIMIT and not text.final
        if open_ and may_open_fence(line, self._looked):
            self._looked = len(line)
            return False
        self._looked = 0
        fence = open_fence(line, self._lead)
        if fence is None:
            return self._go(self._text)
        text.hold()
        text.show(line_end)
        self._fence = FencedCode(text, fence)
        return self._go(self._fenced)

    def _fenced(self) -> bool:
        assert self._fence is not None
        if not self._fence.read():
            return False
        lead, self._fence = self._fence.lead_behind, None
        if lead is None:
            return self._go(self._text)
        self._start_line()
        self._lead = lead
        return self._go(self._line_start)

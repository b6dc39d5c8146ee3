"""Reads the signals in a model's text and takes them out of what the user sees.

docs/signals.md has the rules. Give it the model's own text only, never what a tool or a person
said. `parse_signal` and `strip_signal` are the stream parser, given the whole text at once.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.signals.cursor import Cursor
from oracle.services.signals.element_end import ELEMENT_LIMIT
from oracle.services.signals.element_fields import read_element
from oracle.services.signals.text_reader import TextReader

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from oracle.models.signals import Signal

_PIECE = 4096
"""A longer chunk is read in pieces of this size, so that reading a line again copies little."""

_WARNINGS_LIMIT = 20
_FOUND_LIMIT = 20
NEVER_CLOSED = "malformed signal: never closed"
NOT_LAST = "the signal is not the last thing in the text"

# The beginning of an opening tag, with which a text ends that was cut.
_CUT_OFF_TAG = lazy_pattern(r"<s(?:i(?:g(?:na?)?)?)?\Z", re.I | re.A)


@dataclass(slots=True)
class FoundElement:
    """An element outside code, as the model wrote it. `signal` is None if it is malformed.

    One that is never closed has the text that it hides, up to a limit.
    """

    raw_xml: str
    at: int
    """Where it was: how many characters of what the call of `feed` or `close` returns are before
    it.
    """
    signal: Signal | None
    problems: tuple[str, ...]
    is_closed: bool = True


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
    read, and `warnings` holds what is worth logging. `found` has the first elements, whether they
    count or not, and `found_in_all` counts all of them. `now` is called once for each element.
    """

    def __init__(self, *, now: Callable[[], datetime] = utc_now) -> None:
        self.signal: Signal | None = None
        self.malformed = False
        self.found: list[FoundElement] = []
        self.found_in_all = 0
        self.warnings: list[str] = []
        self._now = now
        # What the current call will return before the piece that is being read.
        self._returned = 0
        # Set while nothing but white space has followed `signal`: the first piece to look at, among
        # those that are shown next. None before there is a signal, and once text follows it.
        self._after_signal: int | None = None
        self._text = Cursor()
        self._reader = TextReader(self._text, self._take, self._hide_more).read()

    def feed(self, chunk: str) -> str:
        """The text that may be shown now."""
        if "<" not in chunk and (
            (self._text.flowing and "`" not in chunk and "\n" not in chunk)
            or self._text.skim(chunk)
        ):
            return chunk
        if len(chunk) <= _PIECE:
            return self._read(chunk)
        shown: list[str] = []
        for at in range(0, len(chunk), _PIECE):
            shown.append(self._read(chunk[at : at + _PIECE]))
            self._returned += len(shown[-1])
        self._returned = 0
        return "".join(shown)

    def close(self, *, was_cut: bool = False) -> str:
        """The rest of the text. Nothing may be fed afterwards.

        Of a text that `was_cut`, the beginning of a tag at its end is not shown.
        """
        if self._text.final:
            return ""
        self._text.final = True
        rest = self._read("")
        if was_cut:
            rest = _CUT_OFF_TAG.sub("", rest)
        if self.signal is not None and self._after_signal is None:
            self._warn(NOT_LAST)
        return rest

    def _read(self, chunk: str) -> str:
        self._text.add(chunk)
        next(self._reader, None)
        if self._after_signal is not None:
            self._watch(self._after_signal)
        return self._text.take_shown()

    def _watch(self, start: int) -> None:
        """Notice text after the signal. Until there is some, no chunk may pass unread."""
        if self._text.shows_ink(start):
            self._after_signal = None
        else:
            self._after_signal = 0
            self._text.stop_skimming()

    def _take(self, element: str | None) -> None:
        """An element was found; None is one that is never closed."""
        if element is None:
            self._add("<signal", None, (NEVER_CLOSED,), is_closed=False)
            return
        reading = read_element(element, self._now())
        self._add(element, reading.signal, reading.problems)
        if self.signal is None and reading.signal is not None:
            self.signal = reading.signal
            self._after_signal = self._text.shown_count

    def _hide_more(self, piece: str) -> None:
        """Text was hidden because the element before it is never closed."""
        if self.found_in_all == len(self.found) and not self.found[-1].is_closed:
            last = self.found[-1]
            last.raw_xml += piece[: ELEMENT_LIMIT - len(last.raw_xml)]

    def _add(
        self, raw: str, signal: Signal | None, problems: Sequence[str], *, is_closed: bool = True
    ) -> None:
        self.malformed = self.malformed or signal is None
        self._warn(*problems)
        self.found_in_all += 1
        if self.found_in_all == 2:
            self._warn("more than one signal: the first valid one counts")
        if self.found_in_all <= _FOUND_LIMIT:
            at = self._returned + self._text.shown_length
            found = FoundElement(raw, at, signal, tuple(problems), is_closed)
            self.found.append(found)

    def _warn(self, *warnings: str) -> None:
        self.warnings += warnings[: _WARNINGS_LIMIT - len(self.warnings)]

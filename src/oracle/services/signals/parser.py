"""Reads the signals in a model's text and takes them out of what the user sees.

docs/signals.md has the rules. Give it the model's own text only, never what a tool or a person
said. `parse_signal` and `strip_signal` are the stream parser, given the whole text at once.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from oracle.services.signals.cursor import Cursor
from oracle.services.signals.element_fields import read_element
from oracle.services.signals.text_reader import TextReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.models.signals import Signal

_PIECE = 4096
"""A longer chunk is read in pieces of this size, so that reading a line again copies little."""

_WARNINGS_LIMIT = 20


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
    read (`malformed_xml` is the first), and `warnings` holds what is worth logging. `now` is called
    once for each element.
    """

    def __init__(self, *, now: Callable[[], datetime] = utc_now) -> None:
        self.signal: Signal | None = None
        self.malformed = False
        self.malformed_xml = ""
        self.warnings: list[str] = []
        self._now = now
        self._elements = 0
        # Set while nothing but white space has followed `signal`: the first piece to look at, among
        # those that are shown next. None before there is a signal, and once text follows it.
        self._after_signal: int | None = None
        self._text = Cursor()
        self._reader = TextReader(self._text, self._take).read()

    def feed(self, chunk: str) -> str:
        """The text that may be shown now."""
        if "<" not in chunk and (
            (self._text.flowing and "`" not in chunk and "\n" not in chunk)
            or self._text.skim(chunk)
        ):
            return chunk
        if len(chunk) <= _PIECE:
            return self._read(chunk)
        pieces = (chunk[at : at + _PIECE] for at in range(0, len(chunk), _PIECE))
        return "".join([self._read(piece) for piece in pieces])

    def close(self) -> str:
        """The rest of the text. Nothing may be fed afterwards."""
        if self._text.final:
            return ""
        self._text.final = True
        rest = self._read("")
        if self.signal is not None and self._after_signal is None:
            self._warn("the signal is not the last thing in the text")
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
            self._count_malformed("malformed signal: never closed")
            return
        reading = read_element(element, self._now())
        if reading.signal is None:
            self.malformed_xml = self.malformed_xml or element
            self._count_malformed(*reading.problems)
            return
        self._count(*reading.problems)
        if self.signal is None:
            self.signal = reading.signal
            self._after_signal = self._text.shown_count

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

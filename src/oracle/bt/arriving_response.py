"""A response of the model as it arrives, part by part: its text, signals, calls and cost."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

from oracle.bt.board import (
    bb_get,
    bb_set,
    board_of,
)
from oracle.bt.core.context import TickContext
from oracle.bt.report import book, say, say_system
from oracle.errors import (
    ContextTooLong,
    ModelError,
    ModelOverloaded,
    ModelRefused,
    ModelUnreachable,
)
from oracle.logs import logger_of
from oracle.models.signals import Signal
from oracle.models.stream_chunk import ChunkType
from oracle.services.ans.event import event_time
from oracle.services.control.conversation import rough_tokens
from oracle.services.control.room import NOTES
from oracle.services.control.runaway import RunawayText
from oracle.services.llm.endings import WHOLE, Ending
from oracle.services.llm.protocol import Message, Part
from oracle.services.prompting.tokens import GrowingEstimate
from oracle.services.signals.own_text import OwnTextFilter
from oracle.services.signals.parser import FoundElement, SignalStreamParser
from oracle.services.signals.said import has_visible_text, with_signals, within

log = logger_of(__name__)

COSTS_NOTHING: Final = (ModelUnreachable, ModelRefused, ModelOverloaded, ContextTooLong)
"""Errors of a request that its provider did not accept. After others, such as a silence, it may
have read the request, and the estimate of its cost stays.
"""


class ArrivingResponse:
    """A response as it arrives, part by part."""

    __slots__ = (
        "_calls",
        "_characters",
        "_characters_left",
        "_continues",
        "_ctx",
        "_ending",
        "_is_complete",
        "_measured",
        "_most_characters",
        "_own_text",
        "_parser",
        "_raw",
        "_runaway",
        "_said",
        "_signals",
        "_text",
        "_usage",
        "is_interrupted",
        "is_overdrawn",
        "was_refused",
    )

    def __init__(self, ctx: TickContext, own_text: OwnTextFilter | None = None) -> None:
        self._ctx = ctx
        self._own_text = own_text
        self._characters_left: Callable[[float], int] = int
        self._measured = GrowingEstimate()
        self._most_characters = 0
        self._said: list[str] = []
        self.is_overdrawn = False
        self._parser = SignalStreamParser(now=_now)
        self._runaway = RunawayText()
        self._text: list[str] = []
        # With their places in the text. What one hides that is never closed may still grow.
        self._signals: list[tuple[FoundElement, int]] = []
        self._calls: list[dict[str, Any]] = []
        self._raw: list[str] = []
        self._usage: dict[str, Any] | None = None
        self._ending: Ending = WHOLE
        self._characters = 0
        self._continues = 0  # estimated tokens of the text that the request under way continues
        # Complete: the provider has ended the stream. Interrupted: the process died in the middle
        # of it, and this is its record. A call that a guard has halted is neither.
        self._is_complete = False
        self.is_interrupted = False
        self.was_refused = False

    def take(self, part: Part) -> None:
        if "text" in part:
            # What is held back or hidden is paid for too, and at once.
            self._read(part["text"])
            self._raw.append(part["text"])
            self._count(part["text"])
            if self._runaway.feed(part["text"]) and not self._quotes(self._runaway.repeated):
                bb_set(board_of(self._ctx), "is_runaway", True)
                self._ctx.wake()
        elif "reasoning" in part:
            self._count(part["reasoning"])
            say(self._ctx, ChunkType.REASONING, content=part["reasoning"])
        elif "tool_call" in part:
            self._calls.append(dict(part["tool_call"]))
        elif "usage" in part:
            # Providers send running totals, so the last one counts.
            self._usage = dict(part["usage"])
        elif "ending" in part:
            self._ending = part["ending"]

    @property
    def raw(self) -> str:
        """All text so far as the model wrote it, with its signal."""
        return "".join(self._raw)

    @property
    def tokens(self) -> int:
        """What its text adds to a request that continues it, estimated."""
        return rough_tokens(self.raw) + NOTES

    def limit(self, characters_left: Callable[[float], int]) -> None:
        """Set what the output of the request under way may still have, after so many tokens."""
        self._characters_left = characters_left
        self._said, self._measured = [], GrowingEstimate()
        self._most_characters = characters_left(0)

    @property
    def can_go_on(self) -> bool:
        """Whether it stopped at a limit of the provider in the middle of its text, and the last
        request brought a part of that text.
        """
        is_cut = self._ending["kind"] in ("length", "pause")
        return is_cut and bool(self._raw) and self._characters > 0 and not self._calls

    @contextmanager
    def continued(self) -> Generator[None]:
        """Book the request that was cut, and go on with the next one. If that one fails, the text
        stays as it is: cut.
        """
        say_system(self._ctx, "The answer reached its longest output; asking for the rest.")
        book(self._ctx, {**self.cost(), "is_complete": True})
        cut, self._ending = self._ending, WHOLE
        self._usage, self._characters, self._continues = None, 0, self.tokens
        had = len(self._raw)
        try:
            yield
        except ModelError as problem:
            log.warning("the response could not be continued: %s", problem)
            self.was_refused = isinstance(problem, COSTS_NOTHING)
        # A request that brought no text has not ended the text either.
        if len(self._raw) == had and not self._calls:
            self._ending = cut

    def cost(self) -> dict[str, Any]:
        """What `book` needs of the request under way."""
        has_arrived = self._usage is not None or self._characters > 0
        return {
            "was_refused": self.was_refused and not has_arrived,
            "usage": self._usage,
            "characters": self._characters,
            "output": rough_tokens("".join(self._said)) if self._usage is None else 0,
            "continues": self._continues,
            "node": self._ctx.node_path,
        }

    def close(self) -> None:
        self._is_complete = True

    def as_data(self) -> dict[str, Any]:
        # Closing releases what was held back, also for a stream that was cut.
        was_cut = not self._is_complete or self._ending["kind"] != "whole"
        if self._own_text is not None:
            self._show(self._parser.feed(self._own_text.close(was_cut=was_cut)))
        self._show(self._parser.close(was_cut=was_cut))
        signal = self._counting_signal()
        shown = "".join(self._text)
        data = {
            "text": shown.strip() if has_visible_text(shown) else "",
            "calls": self._calls,
            "ending": {**self._ending},
            **self.cost(),
            "signal": None if signal is None else signal.to_dict(),
            # One valid signal makes up for a broken one next to it.
            "malformed": self._parser.malformed and signal is None,
            "warnings": self._parser.warnings,
            "is_complete": self._is_complete,
            "is_interrupted": self.is_interrupted,
        }
        signals = [self._signal_data(found, at) for found, at in self._signals]
        return {
            **data,
            "said": with_signals(shown, signals).strip(),
            "signals": within(shown, signals),
            "signals_in_all": self._parser.found_in_all,
        }

    def _read(self, text: str) -> None:
        # Before signals are read: those of our own examples are not the model's.
        own = text if self._own_text is None else self._own_text.feed(text)
        if own:
            self._show(self._parser.feed(own))

    def _show(self, visible: str) -> None:
        if len(self._parser.found) > len(self._signals):
            before = sum(map(len, self._text))
            new = self._parser.found[len(self._signals) :]
            self._signals += [(found, before + found.at) for found in new]
        if visible:
            self._text.append(visible)
            say(self._ctx, ChunkType.CONTENT, content=visible)

    def _signal_data(self, found: FoundElement, at: int) -> dict[str, Any]:
        signal = found.signal
        data = {} if signal is None else signal.to_dict()
        data |= {"raw_xml": found.raw_xml, "at": at, "problems": [*found.problems]}
        return {**data, "counts": signal is not None and signal is self._counting_signal()}

    def _counting_signal(self) -> Signal | None:
        """The first valid one. A response that was continued had to end with another one."""
        if not self._continues:
            return self._parser.signal
        valid = [found.signal for found, _ in self._signals if found.signal is not None]
        return valid[-1] if valid else self._parser.signal

    def _quotes(self, repeated: str) -> bool:
        """Whether the model has read this text: a table of equal rows is quoted as it is."""
        messages: list[Message] = bb_get(board_of(self._ctx), "messages")
        read = (m for m in messages if m["role"] in ("tool", "user"))
        return any(
            repeated in m["content"] or any(repeated in s["text"] for s in m.get("sources", ()))
            for m in read
        )

    def _count(self, text: str) -> None:
        """Reasoning is paid for like text."""
        self._said.append(text)
        self._measured.add(text)
        self._characters += len(text)
        if self._characters >= self._most_characters:
            # The text is measured only here: its length alone is a rough measure, but a quick one.
            left = self._characters_left(self._measured.tokens)
            self.is_overdrawn = left <= 0
            self._most_characters = self._characters + left


def _now() -> datetime:
    return datetime.fromtimestamp(event_time(), UTC)

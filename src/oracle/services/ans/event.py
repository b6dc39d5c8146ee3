"""What an event is, and how it knows which run and turn it belongs to."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Self

from oracle.plain import is_plain

log = logging.getLogger(__name__)

NOT_JSON = "not_json"
"""The key for the repr of a payload that could not be written as JSON."""


class Severity(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class _Place(NamedTuple):
    run_id: str | None
    turn: int | Callable[[], int] | None
    clock: Callable[[], float]


_NOWHERE = _Place(None, None, time.time)
_place: ContextVar[_Place] = ContextVar("_place", default=_NOWHERE)


@contextmanager
def running_in(
    run_id: str,
    turn: int | Callable[[], int] | None = None,
    *,
    clock: Callable[[], float] | None = None,
) -> Generator[None]:
    """Events made inside, also by tasks started inside, belong to this run and turn.

    A `turn` that changes meanwhile is given as a function. `clock` returns their time, in seconds
    since the epoch, so that a replay repeats the recorded times. By default the clock of the
    surrounding block is kept.
    """
    token = _place.set(_Place(run_id, turn, clock or _place.get().clock))
    try:
        yield
    finally:
        _place.reset(token)


def event_time() -> float:
    """Now, in seconds since the epoch, by the clock of the current run."""
    return _place.get().clock()


def current_run_id() -> str | None:
    """The run that this code belongs to."""
    return _place.get().run_id


def _turn_now() -> int | None:
    turn = _place.get().turn
    return turn() if callable(turn) else turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened. Making one never fails, whatever the payload is.

    `payload_json` is fixed when it is first read, or by `kept`. A subscriber that stores events
    calls `kept` during `emit`, so that later changes of the payload are not stored. Without such a
    subscriber no JSON is made.
    """

    type: str
    source: str
    severity: Severity = Severity.INFO
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])
    run_id: str | None = field(default_factory=lambda: _place.get().run_id)
    turn: int | None = field(default_factory=_turn_now)
    at: float = field(default_factory=event_time)
    _json: str | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        payload: object = self.payload
        # The quick way for nearly all payloads: no JSON is made only to see that it can be.
        if type(payload) is dict and is_plain(payload):
            return
        try:
            _as_json(self.payload)
        except Exception as problem:
            log.error("the payload of %s from %s is not JSON: %s", self.type, self.source, problem)
            object.__setattr__(self, "payload", {NOT_JSON: _repr_of(self.payload)})

    @property
    def payload_json(self) -> str:
        return self.kept()._json or ""

    def kept(self) -> Self:
        """The event itself, with its payload fixed in the form that is stored."""
        if self._json is None:
            object.__setattr__(self, "_json", _as_json(self.payload))
        return self


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_UNSTORABLE = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000|[\ud800-\udfff]")


def _as_json(payload: object) -> str:
    """An object that both databases take: NUL and halves of characters become U+FFFD."""
    if not isinstance(payload, dict):
        raise TypeError(f"a payload is a dict, not {type(payload).__name__}")
    text = _encode(payload)
    if text.isascii() and "\\u0000" not in text:
        return text
    return _UNSTORABLE.sub("\\1\ufffd", text)


def _repr_of(payload: object) -> str:
    try:
        return ascii(payload)
    except Exception as problem:
        return f"<{type(payload).__name__}, whose repr fails: {type(problem).__name__}>"

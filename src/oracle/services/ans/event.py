"""An event, and the run and turn that it belongs to."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from enum import StrEnum
from typing import Any, NamedTuple, Self

from oracle.lazy_dataclass import dataclass
from oracle.logs import logger_of
from oracle.patterns import lazy_pattern
from oracle.plain import is_plain

log = logger_of(__name__)

NOT_JSON = "not_json"
"""The key for the repr of a payload that could not be written as JSON."""


class Severity(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class _Origin(NamedTuple):
    """The run that the current code belongs to."""

    run_id: str | None
    turn: int | Callable[[], int] | None
    clock: Callable[[], float]


_NO_RUN = _Origin(None, None, time.time)
_origin: ContextVar[_Origin] = ContextVar("_origin", default=_NO_RUN)


@contextmanager
def running_in(
    run_id: str,
    turn: int | Callable[[], int] | None = None,
    *,
    clock: Callable[[], float] | None = None,
) -> Generator[None]:
    """Events created inside the block, also by tasks started inside, belong to this run and turn.

    If the turn changes inside, pass a function. `clock` returns the time of the events in seconds
    since the epoch, so that a replay repeats the recorded times. By default the clock of the
    surrounding block is kept.
    """
    token = _origin.set(_Origin(run_id, turn, clock or _origin.get().clock))
    try:
        yield
    finally:
        _origin.reset(token)


def event_time() -> float:
    """The current time in seconds since the epoch, from the clock of the current run."""
    return _origin.get().clock()


def current_run_id() -> str | None:
    """The run that this code belongs to."""
    return _origin.get().run_id


def _turn_now() -> int | None:
    turn = _origin.get().turn
    return turn() if callable(turn) else turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened. Creating an event never fails, whatever its payload is.

    `payload_json` is fixed when it is first read, or by `kept`. A subscriber that stores events
    calls `kept` during `emit`, so that later changes of the payload are not stored. Without such a
    subscriber no JSON is created.
    """

    type: str
    source: str
    severity: Severity = Severity.INFO
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])
    run_id: str | None = field(default_factory=lambda: _origin.get().run_id)
    turn: int | None = field(default_factory=_turn_now)
    at: float = field(default_factory=event_time)
    _json: str | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        payload: object = self.payload
        # The quick way for nearly all payloads: a check without creating any JSON.
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
# The escape of NUL, unless its backslash is itself escaped (an even number before it), and single
# halves of characters.
_UNSTORABLE = lazy_pattern(r"(?<!\\)((?:\\\\)*)\\u0000|[\ud800-\udfff]")


def _as_json(payload: object) -> str:
    """JSON that SQLite and PostgreSQL accept: NUL and halves of characters become U+FFFD."""
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

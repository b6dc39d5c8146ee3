"""The records of a journal, in the order in which things happened.

Values in a record are JSON-shaped. What a leaf gets live is too, so that a replay returns the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from oracle.errors import JournalError
from oracle.plain import is_plain

RecordKind: TypeAlias = Literal[
    "start",  # what else the run depends on
    "intent",  # an effect that writes is about to begin
    "parts",  # some of what an effect streamed
    "answer",  # an effect is done
    "failure",  # an effect failed in an expected way
    "wake",  # a deadline was reached
    "command",  # sent to the run from outside, such as to stop
    "end",  # how the run ended
]


class Place(NamedTuple):
    """Identifies an effect: node, turn, and a counter of identical requests.

    `request` is a short hash of the request. Each request is counted apart, because several tasks
    of one leaf may ask in another order in a replay.
    """

    node_path: str = ""
    turn: int = 0
    ordinal: int = 0
    request: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """`clock` has the readings of the clock since the last record, one for each tick.

    `times` says when each thing in it reached the run, by the same clock: one time, or one for each
    part. Records of older versions have none.
    """

    seq: int
    kind: RecordKind
    place: Place
    body: Any
    clock: tuple[float, ...] = ()
    times: tuple[float, ...] = ()


_encode: Final = json.JSONEncoder(allow_nan=False).encode


def as_json(value: Any) -> str:
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError) as problem:
        raise JournalError(f"not JSON-shaped, so it cannot be recorded: {problem}") from None


def json_shaped(value: Any) -> Any:
    """The value as a replay will have it, so that live and replay cannot differ in it."""
    return value if is_plain(value) else json.loads(as_json(value))


def encoded(record: Record) -> str:
    """The text of the column `body`. Raises for a value that JSON would change."""
    try:
        fields = [record.body, record.clock, record.place.request]
        return _encode([*fields, _as_steps(record.times)] if record.times else fields)
    except (TypeError, ValueError) as problem:
        raise JournalError(
            f"{record.place.node_path}: {record.kind} is not JSON-shaped: {problem}"
        ) from None


def decoded(rows: Iterable[tuple[Any, ...]]) -> list[Record]:
    """Records from rows of (seq, kind, node_path, turn, ordinal, body), in order of seq."""
    records: list[Record] = []
    for seq, kind, node_path, turn, ordinal, text in rows:
        body, clock, request, *steps = json.loads(text)
        place = Place(node_path, turn, ordinal, request)
        times = _from_steps(steps[0]) if steps else ()
        records.append(Record(seq, kind, place, body, tuple(clock), times))
    return records


def _as_steps(times: Sequence[float]) -> list[int]:
    """Milliseconds: the first time, then the steps to the next ones. A stream has many parts, and
    a step takes a few characters where a time takes a dozen.
    """
    moments = [round(time * 1000) for time in times]
    return [moments[0], *(later - earlier for earlier, later in pairwise(moments))]


def _from_steps(steps: Iterable[int]) -> tuple[float, ...]:
    return tuple(moment / 1000 for moment in accumulate(steps))

"""The records of a journal, in the order in which things happened.

Values in a record are JSON-shaped. What a leaf gets live is too, so that a replay returns the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias, cast, get_args

from oracle.errors import JournalError, named
from oracle.lazy_dataclass import dataclass
from oracle.plain import is_plain
from oracle.services.storage.damage import RESTORE, is_time, read_json

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

KEPT_BY_CONTENT: Final = ("sources", "prompts")
"""What a first record has by name: the texts themselves are kept once, for all runs."""


class Asked(NamedTuple):
    """What a leaf asked for in a turn, however often."""

    node_path: str
    turn: int
    request: str


class Key(Protocol):
    """How the engine names an effect."""

    @property
    def node_path(self) -> str: ...
    @property
    def turn(self) -> int: ...


class Place(NamedTuple):
    """Identifies an effect: node, turn, and a counter of identical requests.

    `request` is a short hash of the request. Each request is counted apart, because several tasks
    of one leaf may ask in another order in a replay.
    """

    node_path: str = ""
    turn: int = 0
    ordinal: int = 0
    request: str = ""

    @property
    def asked(self) -> Asked:
        return Asked(self.node_path, self.turn, self.request)


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


def decoded(rows: Iterable[tuple[Any, ...]], run_id: str) -> list[Record]:
    """Records from rows of (seq, kind, node_path, turn, ordinal, body, at), in order of seq.

    Raises `JournalError` for a row that oracle did not write.
    """
    records: list[Record] = []
    for number, row in enumerate(rows):
        record, flaw = _read(row, number)
        if record is None:
            raise _damaged(number, run_id, flaw)
        records.append(record)
    return records


def names_of_texts(start: Mapping[str, Any]) -> Iterator[str]:
    """The names of the texts that a first record refers to.

    Other hashes in it name no text, such as the digest of an attached file.
    """
    for kind in KEPT_BY_CONTENT:
        texts: Any = start.get(kind)
        if isinstance(texts, dict):
            names = cast("dict[str, Any]", texts).values()
            yield from (name for name in names if isinstance(name, str))


def check_end(records: Sequence[Record], run_id: str) -> None:
    """Raises `JournalError` if the last records of a run that is done are missing."""
    if not records or records[-1].kind != "end":
        raise _damaged(len(records), run_id, "the run is done, and this record is missing")


def _damaged(number: int, run_id: str, flaw: str) -> JournalError:
    return JournalError(
        f"record {number} of run {run_id} is damaged: {flaw}; {RESTORE}. "
        "The run can be neither shown nor played again"
    )


def _read(row: tuple[Any, ...], number: int) -> tuple[Record | None, str]:
    """The record, or what is wrong with its row."""
    seq, kind, node_path, turn, ordinal, text, at = row
    if seq != number:
        return None, f"its number is {named(seq)}"
    if kind not in get_args(RecordKind) or (kind == "start") != (number == 0):
        return None, f"its kind is {named(kind)}"
    whole: Any = read_json(text)
    match whole:
        case [body, list() as clock, str(request), *steps]:  # pyright: ignore[reportUnknownVariableType]
            place = Place(node_path, turn, ordinal, request)
        case _:
            return None, f"its body is {named(text, 60)}"
    if not (isinstance(node_path, str) and type(turn) is int and type(ordinal) is int):
        return None, f"its place is {named((node_path, turn, ordinal))}"
    readings = cast("list[Any]", clock)
    if not all(type(reading) in (int, float) for reading in readings):
        return None, f"its clock is {named(readings, 60)}"
    if not is_time(at):
        return None, f"its time is {named(at, 60)}"
    if not _fits(kind, body):
        return None, f"a {kind} cannot have the body {named(body, 60)}"
    times = _times_in(steps)
    if times is None:
        return None, f"its times are {named(steps, 60)}"
    return Record(seq, kind, place, body, tuple(readings), times), ""


_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "start": ("run_id", "tree", "board"),
    "intent": ("request",),
    "answer": ("request",),
    "failure": ("request", "error", "lineage", "message"),
    "command": (),
    "end": ("status", "stop", "detail", "ticks", "board"),
}


def _fits(kind: RecordKind, body: Any) -> bool:
    if kind == "wake":
        return True
    if kind == "parts":
        return isinstance(body, list)
    if not isinstance(body, dict) or any(name not in body for name in _FIELDS[kind]):
        return False
    known = cast("dict[str, Any]", body)
    # A recorded exception is raised again as the nearest of these classes that is known.
    return kind != "failure" or "Exception" in cast("list[Any]", known["lineage"])


def _as_steps(times: Sequence[float]) -> list[int]:
    """Milliseconds: the first time, then the steps to the next ones. A stream has many parts, and
    a step takes a few characters where a time takes a dozen.
    """
    moments = [round(time * 1000) for time in times]
    return [moments[0], *(later - earlier for earlier, later in pairwise(moments))]


def _times_in(steps: list[Any]) -> tuple[float, ...] | None:
    """The times of a record; None if these are not the steps of any."""
    match steps:
        case []:
            return ()
        case [list() as found]:  # pyright: ignore[reportUnknownVariableType]
            moments = cast("list[Any]", found)
            if all(type(step) is int for step in moments):
                return tuple(moment / 1000 for moment in accumulate(moments))
        case _:
            pass
    return None

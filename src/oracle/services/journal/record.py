"""What the journal is made of: one line after the other, in the order in which things happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

RecordKind: TypeAlias = Literal[
    "start",  # what else the run depends on
    "intent",  # an effect that writes is about to begin
    "parts",  # some of what an effect streamed
    "answer",  # an effect is done
    "failure",  # an effect failed as one must expect
    "wake",  # a deadline came
    "command",  # somebody outside of the run wanted something, such as its end
    "end",  # how it ended
]


class Place(NamedTuple):
    """Who asked for an effect, in which turn, for the how-manieth time.

    `request` is a short name of what was asked for, and times are counted for each apart: several
    tasks of one leaf may ask in another order the next time.
    """

    node_path: str = ""
    turn: int = 0
    ordinal: int = 0
    request: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """`clock` are the readings of the clock since the record before: one for each tick."""

    seq: int
    kind: RecordKind
    place: Place
    body: Any
    clock: tuple[float, ...] = ()

"""Is the run going in circles? A repeat is the same call with the same result.

Paging asks something else each time, and polling what changes gets something else: neither repeats.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Literal

REPEATS: Final = 2
LONGEST_CYCLE: Final = 6
REMEMBERED: Final = 200

_LONGEST_LINE: Final = 400
_REPEATED_LINES: Final = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Repetition:
    """`times` is how often the last call had its result; `calls` are those that go round."""

    kind: Literal["call", "cycle"]
    times: int
    calls: tuple[str, ...]


def name_of_call(tool: str, arguments: Mapping[str, Any] | str) -> str:
    """The same for the same call, in whatever order its arguments are written."""
    return f"{tool}:{_digest(arguments)}"


def tool_of(call: str) -> str:
    """The tool of a call that is known by its name."""
    return call.rpartition(":")[0]


def name_of_result(success: bool, content: str) -> str:
    return _digest([success, content])


def find_repetition(made: Sequence[Sequence[str]], newest: int = 1) -> Repetition | None:
    """`made` are pairs of the names of a call and its result, oldest first.

    Only the `newest` of them count, those of one turn; the last that repeats is the one that is
    told.
    """
    pairs = [tuple(pair) for pair in made]
    ends = range(len(pairs), max(0, len(pairs) - newest), -1)
    return next((found for end in ends if (found := _repeated_at_the_end(pairs[:end]))), None)


def _repeated_at_the_end(pairs: list[tuple[str, ...]]) -> Repetition | None:
    times = pairs.count(pairs[-1])
    if times < REPEATS:
        return None
    for length in range(2, LONGEST_CYCLE + 1):
        cycle = pairs[-length:]
        if len(set(cycle)) == length and pairs[-2 * length : -length] == cycle:
            return Repetition(kind="cycle", times=times, calls=tuple(call for call, _ in cycle))
    return Repetition(kind="call", times=times, calls=(pairs[-1][0],))


class RunawayText:
    """Watches a stream for a response that says one thing over and over."""

    __slots__ = ("_line", "_repeats", "_rest")

    def __init__(self) -> None:
        self._line = ""
        self._repeats = 0
        self._rest = ""

    def feed(self, text: str) -> bool:
        """Answer whether one line, long enough to mean something, has come a dozen times in a
        row.
        """
        *lines, self._rest = (self._rest + text).split("\n")
        self._rest = self._rest[-_LONGEST_LINE:]
        for line in lines:
            stripped = line.strip()
            if len(stripped) < 4:
                continue
            self._repeats = self._repeats + 1 if stripped == self._line else 1
            self._line = stripped
            if self._repeats >= _REPEATED_LINES:
                return True
        return False


def _digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]

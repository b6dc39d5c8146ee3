"""Finds runs that go in circles. A repetition is the same call with the same result.

Paging is not a repetition, because each call differs. Polling is not one either, as long as the
results differ.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Literal

REPEATS: Final = 2
"""From this many equal calls with equal results on, it is a repetition."""
LONGEST_CYCLE: Final = 6
"""The number of calls in the longest cycle that is looked for."""
REMEMBERED: Final = 200
"""How many calls the blackboard keeps, so that it does not grow without limit."""

_LINE_END: Final = re.compile(r"\n|(?<=[.!?])[ \t]")
# Whether a piece of text can contain a line end. `^[ \t]` is needed because the full stop before
# the space may be the last character of the piece before it.
_MAY_END: Final = re.compile(r"\n|[.!?][ \t]|^[ \t]")
_LONGEST_LINE: Final = 400
# Shorter lines, such as `}` or `- a`, repeat in normal text.
_SHORTEST_LINE: Final = 4
_REPEATED_LINES: Final = 12
# Rounds of up to this many lines are found, after this many repetitions.
_LONGEST_ROUND: Final = 4
_ROUNDS: Final = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Repetition:
    """`times` counts the last call with its result. `calls` are the calls of the cycle."""

    kind: Literal["call", "cycle"]
    times: int
    calls: tuple[str, ...]


def name_of_call(tool: str, arguments: Mapping[str, Any] | str) -> str:
    """An identifier of a call. The order of its arguments does not matter."""
    return f"{tool}:{_digest(arguments)}"


def tool_of(call: str) -> str:
    """The tool of a call, from the name of the call."""
    return call.rpartition(":")[0]


def name_of_result(success: bool, content: str) -> str:
    return sha256(f"{success}\n{content}".encode(errors="surrogatepass")).hexdigest()[:12]


def find_repetition(made: Sequence[Sequence[str]], newest: int = 1) -> Repetition | None:
    """`made` are pairs of the names of a call and of its result, oldest first.

    Only the last `newest` pairs are checked: those of one turn. The last repetition is returned.
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
        # All different, else it is one call again and again, or a shorter cycle.
        if len(set(cycle)) == length and pairs[-2 * length : -length] == cycle:
            return Repetition(kind="cycle", times=times, calls=tuple(call for call, _ in cycle))
    return Repetition(kind="call", times=times, calls=(pairs[-1][0],))


class RunawayText:
    """Detects a streamed response that repeats the same lines without end."""

    __slots__ = ("_said", "_times", "_unfinished")

    def __init__(self) -> None:
        self._said: list[str] = []
        self._times = dict.fromkeys(range(1, _LONGEST_ROUND + 1), 0)
        self._unfinished = ""

    def feed(self, text: str) -> bool:
        """Return whether a line or sentence was repeated a dozen times in a row, or a round of up
        to four of them several times.
        """
        if _MAY_END.search(text) is None:
            self._unfinished = (self._unfinished + text)[-_LONGEST_LINE:]
            return False
        *lines, unfinished = _LINE_END.split(self._unfinished + text)
        self._unfinished = unfinished[-_LONGEST_LINE:]
        stripped = map(str.strip, lines)
        return any(self._goes_round(line) for line in stripped if len(line) >= _SHORTEST_LINE)

    def _goes_round(self, line: str) -> bool:
        """For each length of a round, count the lines in a row that equal the one `length` ago."""
        for length in self._times:
            # A slice of one line, or empty if there are not that many lines yet.
            is_again = self._said[-length : 1 - length or None] == [line]
            self._times[length] = self._times[length] + 1 if is_again else 0
        self._said = [*self._said[1 - _LONGEST_ROUND :], line]
        return any(
            times >= max(_REPEATED_LINES - 1, _ROUNDS * length)
            for length, times in self._times.items()
        )


def _digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]

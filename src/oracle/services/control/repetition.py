"""Is the run going in circles? A repeat is the same call with the same result.

Paging asks something else each time, and polling what changes gets something else: neither repeats.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Literal

REPEATS: Final = 2
LONGEST_CYCLE: Final = 6
REMEMBERED: Final = 200

_LINE_END: Final = re.compile(r"\n|(?<=[.!?])[ \t]")
_MAY_END: Final = re.compile(r"\n|[.!?][ \t]|^[ \t]")
_LONGEST_LINE: Final = 400
_REPEATED_LINES: Final = 12
_LONGEST_ROUND: Final = 4
_ROUNDS: Final = 5


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
    return sha256(f"{success}\n{content}".encode(errors="surrogatepass")).hexdigest()[:12]


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

    __slots__ = ("_said", "_times", "_unfinished")

    def __init__(self) -> None:
        self._said: list[str] = []
        self._times = dict.fromkeys(range(1, _LONGEST_ROUND + 1), 0)
        self._unfinished = ""

    def feed(self, text: str) -> bool:
        """Answer whether a line or a sentence, long enough to mean something, has come a dozen
        times in a row, or a few of them have gone round several times.
        """
        if _MAY_END.search(text) is None:
            self._unfinished = (self._unfinished + text)[-_LONGEST_LINE:]
            return False
        *lines, unfinished = _LINE_END.split(self._unfinished + text)
        self._unfinished = unfinished[-_LONGEST_LINE:]
        return any(self._goes_round(line) for line in map(str.strip, lines) if len(line) >= 4)

    def _goes_round(self, line: str) -> bool:
        for length in self._times:
            is_again = self._said[-length : 1 - length or None] == [line]
            self._times[length] = self._times[length] + 1 if is_again else 0
        self._said = [*self._said[1 - _LONGEST_ROUND :], line]
        return any(
            times >= max(_REPEATED_LINES - 1, _ROUNDS * length)
            for length, times in self._times.items()
        )


def _digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]

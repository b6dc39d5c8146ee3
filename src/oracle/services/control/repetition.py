"""Finds runs that go in circles. A repetition is the same call with the same result.

Paging is not a repetition, because each call differs. Polling is not one either, as long as the
results differ.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, Literal

from oracle.lazy_dataclass import dataclass

REPEATS: Final = 2
"""From this many equal calls with equal results on, it is a repetition."""
LONGEST_CYCLE: Final = 6
"""The number of calls in the longest cycle that is looked for."""
REMEMBERED: Final = 200
"""How many calls the blackboard keeps, so that it does not grow without limit."""


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


def _digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]

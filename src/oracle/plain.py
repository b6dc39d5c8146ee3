"""Plain values: those that are the same after a trip through JSON.

The blackboard and the journal accept only these. It is a module of its own because the engine
(`bt/state`) and the services both need it and must not import each other.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

DEEPEST: Final = 12
LARGEST_INTEGER: Final = 2**63 - 1
"""What databases and other programs can read. Python has no text for integers of any length."""


def is_plain(value: Any, depth: int = DEEPEST) -> bool:
    """False for subclasses, tuples, keys that are not strings, and values nested too deep.

    JSON would accept these, but give back something else.
    """
    # Called for every part of a stream, so it compares types instead of calling `isinstance`.
    kind = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is str or kind is bool or value is None:
        return True
    if kind is int:
        return -LARGEST_INTEGER <= value <= LARGEST_INTEGER
    if kind is float:
        return isfinite(value)
    if depth == 0:
        return False
    if kind is dict:
        for key, item in value.items():
            # Texts are most of what there is, and need no call of their own.
            if type(key) is not str or (type(item) is not str and not is_plain(item, depth - 1)):
                return False
        return True
    if kind is not list:
        return False
    for item in value:  # noqa: SIM110 - `all` would make a generator for each list
        if type(item) is not str and not is_plain(item, depth - 1):
            return False
    return True

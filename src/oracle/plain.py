"""Plain values: those that JSON gives back as the very same.

A board holds nothing else, and a journal can record nothing else. Asked for every part of a stream,
so it is quick.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

DEEPEST: Final = 12


def is_plain(value: Any, depth: int = DEEPEST) -> bool:
    """A subclass, a tuple, a key that is no string or a deep nest is not, even if JSON takes it."""
    kind = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is str or kind is int or kind is bool or value is None:
        return True
    if kind is float:
        return isfinite(value)
    if depth == 0:
        return False
    if kind is dict:
        for key, item in value.items():
            if type(key) is not str or not is_plain(item, depth - 1):
                return False
        return True
    return kind is list and all(is_plain(item, depth - 1) for item in value)

"""What can be written down, and comes back as the same."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, Final

from oracle.errors import JournalError

DEEPEST: Final = 8


def json_shaped(value: Any) -> Any:
    """The value as a replay will have it, so that live and replay cannot differ in it."""
    return value if _is_plain(value, DEEPEST) else json.loads(as_json(value))


def _is_plain(value: Any, depth: int) -> bool:
    """Whether JSON would give back the very same; asked for each part of a stream, so it is quick.

    A subclass, a tuple or a key that is no string would come back as something else.
    """
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return True
    if kind is float:
        return isfinite(value)
    if depth == 0:
        return False
    if kind is dict:
        return all(type(key) is str and _is_plain(value[key], depth - 1) for key in value)
    return kind is list and all(_is_plain(item, depth - 1) for item in value)


def as_json(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        raise JournalError(f"not JSON-shaped, so it cannot be recorded: {problem}") from None

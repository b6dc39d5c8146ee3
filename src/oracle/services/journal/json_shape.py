"""What can be written down, and comes back as the same."""

from __future__ import annotations

import json
from typing import Any, Final

from oracle.errors import JournalError
from oracle.plain import is_plain

_encode: Final = json.JSONEncoder(allow_nan=False).encode


def json_shaped(value: Any) -> Any:
    """The value as a replay will have it, so that live and replay cannot differ in it."""
    return value if is_plain(value) else json.loads(as_json(value))


def as_json(value: Any) -> str:
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError) as problem:
        raise JournalError(f"not JSON-shaped, so it cannot be recorded: {problem}") from None

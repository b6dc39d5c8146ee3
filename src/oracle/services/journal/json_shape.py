"""What can be written down, and comes back as the same."""

from __future__ import annotations

import json
from typing import Any

from oracle.errors import JournalError


def json_shaped(value: Any) -> Any:
    """The value as a replay will have it, so that live and replay cannot differ in it."""
    if value is None or isinstance(value, str | bool | int):
        return value
    return json.loads(as_json(value))


def as_json(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        raise JournalError(f"not JSON-shaped, so it cannot be recorded: {problem}") from None

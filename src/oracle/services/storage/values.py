"""Values in the form that every kind of database keeps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from oracle.patterns import lazy_pattern

_UNSTORABLE: Final = lazy_pattern("[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """Replace what PostgreSQL cannot store: NUL, and lone surrogates."""
    return _UNSTORABLE.sub("\ufffd", text)


def as_json(value: Any) -> str:
    """JSON-shaped data as text, which every kind of database takes for a JSON column."""
    try:
        text = json.dumps(value)
    except TypeError:
        text = ""  # it holds a mapping that is no dict
    # Both are escaped in it, as are pairs of surrogates, which can be stored: seldom worth a look.
    if text and "\\u0000" not in text and "\\ud" not in text:
        return text
    return json.dumps(_storable_json(value))


def _storable_json(value: Any) -> Any:
    match value:
        case str():
            return storable(value)
        case Mapping():
            pairs = cast("Mapping[str, Any]", value).items()
            return {storable(key): _storable_json(item) for key, item in pairs}
        case list() | tuple():
            return [_storable_json(item) for item in cast("list[Any]", value)]
        case _:
            return value

"""What a tool answers, checked: it may come from another server, or be a first attempt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from oracle.plain import is_plain


def well_formed(answer: object) -> dict[str, Any]:
    """The result as plain data; a `TypeError` says what is wrong with any other shape."""
    if not isinstance(answer, Mapping):
        raise TypeError(f"the tool answered a {type(answer).__name__}, not a result")
    result: dict[str, Any] = {"success": False, "content": "", "sources": []}
    result |= cast("Mapping[str, Any]", answer)
    if not isinstance(result["content"], str):
        raise TypeError(f"the content is a {type(result['content']).__name__}, not text")
    result["sources"] = [_source(source) for source in result["sources"] or ()]
    return result if is_plain(result) else json.loads(json.dumps(result))


def _source(source: object) -> dict[str, Any]:
    if not isinstance(source, Mapping) or not isinstance(source.get("where"), str):  # pyright: ignore[reportUnknownMemberType]
        raise TypeError(f"a source says where it is, as text; this does not: {source!r:.80}")
    return dict(cast("Mapping[str, Any]", source))

"""Check the result of a tool, which may come from another server or have bugs.

This is the one way from a tool to the model, to the record and to the screen. So secrets are
removed here, whoever wrote the tool.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from oracle.patterns import lazy_pattern
from oracle.plain import is_plain
from oracle.services.project.redaction import redacted

# `path:12` or `path:12-20`, but not the port of an address.
_LINES: Final = lazy_pattern(r"(?!\w+://)(?P<path>.+):(?P<start>\d{1,7})(?:-(?P<end>\d{1,7}))?")


def well_formed(answer: object) -> dict[str, Any]:
    """The result as plain data, without secrets. A `TypeError` says what is wrong with any other
    shape.
    """
    if not isinstance(answer, Mapping):
        raise TypeError(f"the tool returned a {type(answer).__name__}, not a result")
    result: dict[str, Any] = {"success": False, "content": "", "sources": []}
    result |= cast("Mapping[str, Any]", answer)
    if not isinstance(result["content"], str):
        raise TypeError(f"the content is a {type(result['content']).__name__}, not text")
    result["sources"] = [_source(source) for source in result["sources"] or ()]
    return redacted(result if is_plain(result) else json.loads(json.dumps(result, allow_nan=False)))


def _source(source: object) -> dict[str, Any]:
    if not isinstance(source, Mapping) or not isinstance(source.get("where"), str):  # pyright: ignore[reportUnknownMemberType]
        raise TypeError(f"a source says where it is, as text; this does not: {source!r:.80}")
    return with_lines(cast("Mapping[str, Any]", source))


def with_lines(source: Mapping[str, Any]) -> dict[str, Any]:
    """The source with its path and lines, even if a tool gives them only in `where`.

    Our own tools give them; a tool of another server may know only how its source is cited.
    """
    given = dict(source)
    found = None if "path" in given or "url" in given else _LINES.fullmatch(given["where"])
    if found is None:
        return given
    lines = {"start": int(found["start"]), "end": int(found["end"] or found["start"])}
    return {**given, "path": found["path"], **lines}

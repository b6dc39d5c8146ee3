"""Reads of lines that the model has in front of it: an earlier read shows them already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from oracle.models.tool_spec import ToolSpec

Span = tuple[int, int]
_LINES = frozenset({"start", "end"})


def lines_shown(messages: Sequence[Mapping[str, Any]]) -> dict[str, list[Span | None]]:
    """For each file the lines that reads have shown, and None if that is all of it.

    A result that was shortened since has lost its sources: its lines may be read again.
    """
    shown: dict[str, list[Span | None]] = {}
    for message in messages:
        if message["role"] != "tool" or message.get("tool_role") != "read":
            continue
        for source in message.get("sources", ()):
            if "path" in source and "start" in source and "end" in source:
                span = None if source.get("whole") else (source["start"], source["end"])
                shown.setdefault(source["path"], []).append(span)
    return shown


def is_shown(
    call: Mapping[str, Any], spec: ToolSpec, shown: Mapping[str, Sequence[Span | None]]
) -> bool:
    """Whether one earlier read shows all lines that this call asks for.

    Only for calls that give a file and lines. What another argument asks for is not known.
    """
    if not isinstance(call["arguments"], Mapping):
        return False
    arguments = cast("Mapping[str, Any]", call["arguments"])
    texts = {name for name, value in arguments.items() if isinstance(value, str)}
    required = {*spec.parameters.get("required", ())} or texts
    places = [value for name, value in arguments.items() if name in required]
    # A model may write out an option that it leaves empty.
    given = {name for name, value in arguments.items() if value is not None}
    if len(places) != 1 or not isinstance(places[0], str) or given - required - _LINES:
        return False
    spans = shown.get(places[0], ())
    start, end = arguments.get("start", 1), arguments.get("end")
    if None in spans:
        return True
    if not isinstance(start, int) or not isinstance(end, int):
        return False
    return any(span is not None and span[0] <= start and end <= span[1] for span in spans)

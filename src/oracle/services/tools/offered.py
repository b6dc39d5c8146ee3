"""Calls that the tree and the embedded model make themselves, by a tool's role, not its name.

`models/tool_spec.py` lists the arguments of each role. `models/source_kind.py` says which argument
names a source of each kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from oracle.models.source_kind import SourceKind, kind_named
from oracle.models.tool_spec import Role, ToolSpec

_LONGEST_QUERY: Final = 900
# A margin below the longest query that a tool declares.
_ROOM_IN_A_QUERY: Final = 10

ToCall = tuple[str, dict[str, Any]]
"""The name of a tool, and the arguments of the call."""


def with_role(specs: Sequence[ToolSpec], role: Role, kind: str | None = None) -> list[ToolSpec]:
    return [spec for spec in specs if spec.role == role and kind in (None, spec.source)]


def local(specs: Sequence[ToolSpec], role: Role) -> list[ToolSpec]:
    """The tools with this role that look into the project itself, not into the web."""
    return [spec for spec in with_role(specs, role) if kind_named(spec.source).is_local]


def search_call(spec: ToolSpec, query: str, limit: int) -> ToCall:
    words = query[: _longest_query(spec)]
    return spec.name, _taken(spec, {query_argument(spec): words, "limit": limit})


def query_argument(spec: ToolSpec) -> str:
    """The argument that takes the words: `query`, or the only one that is required."""
    required = spec.parameters.get("required", ())
    known = spec.parameters.get("properties", {})
    return required[0] if len(required) == 1 and "query" not in known else "query"


def uses_call(spec: ToolSpec, name: str, *, references: bool = False) -> ToCall:
    asked = {"name": name[:300]} | ({"references": True} if references else {})
    return spec.name, _taken(spec, asked)


def read_call(
    specs: Sequence[ToolSpec], kind: str, name: str, lines: tuple[int, int] | None = None
) -> ToCall | None:
    """A call of the tool that reads this kind. The tool for code can read any file of the project.
    None if no tool on offer reads it.
    """
    reader = reader_of(specs, kind)
    if reader is None:
        return None
    row = kind_named(reader.source)
    asked: dict[str, Any] = {row.argument: name}
    if lines is not None and row.has_lines:
        asked |= {"start": lines[0], "end": lines[1]}
    return reader.name, _taken(reader, asked)


def reader_of(specs: Sequence[ToolSpec], kind: str) -> ToolSpec | None:
    # The tool for code reads any file of the project, so it can replace the tool for notes.
    kinds = [kind, "code"] if kind_named(kind).has_lines else [kind]
    readers = [spec for each in kinds for spec in with_role(specs, "read", each)]
    return readers[0] if readers else None


def file_reader(specs: Sequence[ToolSpec]) -> SourceKind | None:
    """The kind whose reading tool takes any file of the project; code if there is a choice."""
    kinds = [kind_named(spec.source) for spec in with_role(specs, "read")]
    files = sorted((kind for kind in kinds if kind.has_lines), key=lambda kind: kind.is_prose)
    return files[0] if files else None


def _taken(spec: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A tool that refuses unknown arguments gets only those that it declares."""
    if spec.parameters.get("additionalProperties") is not False:
        return dict(arguments)
    known = spec.parameters.get("properties", {})
    return {name: value for name, value in arguments.items() if name in known}


def _longest_query(spec: ToolSpec) -> int:
    known = spec.parameters.get("properties", {})
    query: Mapping[str, Any] = known.get(query_argument(spec), {})
    longest = query.get("maxLength", _LONGEST_QUERY + _ROOM_IN_A_QUERY)
    return min(_LONGEST_QUERY, longest - _ROOM_IN_A_QUERY)

"""Which tools a question gets: a ladder, from the tools of its class to all tools that only read.

Uncertainty adds tools that read, never tools that write. A tool that writes needs a clear request
for an action, or a person's approval.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from oracle.models.query_classification import QueryClassification, QueryType
from oracle.models.source_kind import SOURCE_KINDS, kind_named
from oracle.models.tool_spec import ToolSpec

Rung: TypeAlias = Literal["second_class", "local", "all"]

_WORD: Final = re.compile(r"[a-z]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS_OF_WRITING: Final = _words(
    "write writing save saving create creating edit editing append add change modify rename push "
    "record update store"
)
_WORDS_OF_DOING: Final = _words(
    "run running execute executing execution compile build deploy install delete deleting remove "
    "kill restart debug test shell terminal command send email"
)
"""Verbs that no tool for reading or writing notes can do. Only a tool with that name can."""


def first_grant(
    classification: QueryClassification,
    specs: Sequence[ToolSpec],
    *,
    sure_of_an_action: float,
    sure_of_a_class: float,
) -> list[str]:
    """The tools of the query's class, and those of every other source that it needs.

    Tools that write need a clear request for an action. If the class is not sure, the tools of the
    second class are added.
    """
    if not classification.needs_any_source:
        return []
    types = _types_of(classification, sure_of_a_class)
    may_write = (
        classification.query_type == QueryType.ACTION
        and classification.confidence >= sure_of_an_action
    )
    return [
        spec.name
        for spec in specs
        if (may_write or not spec.writes) and not types.isdisjoint(spec.query_types)
    ]


def more_tools(
    rung: Rung,
    classification: QueryClassification,
    specs: Sequence[ToolSpec],
    granted: Collection[str],
) -> list[str]:
    """The tools that a rung adds: those of the second class, those of all local sources, or all
    tools that only read.
    """

    def belongs(spec: ToolSpec) -> bool:
        if rung == "second_class":
            return classification.runner_up in spec.query_types
        return rung == "all" or kind_named(spec.source).is_local

    return [
        spec.name
        for spec in specs
        if not spec.writes and spec.name not in granted and belongs(spec)
    ]


def tools_for(capability: str, specs: Sequence[ToolSpec]) -> list[ToolSpec]:
    """The tools that fit a request in the model's own words.

    1. If the request names tools, those.
    2. If it is about running or deleting something, none: a tool that reads is not a substitute.
    3. If it names sources, the tools that read them, or write to them if it speaks of writing.
    4. If it speaks of writing and names no source, all tools that write.
    """
    words = set(_WORD.findall(capability.lower().replace("_", " ")))
    named = [spec for spec in specs if _is_named(spec.name, capability, words)]
    if named:
        return named
    if not words.isdisjoint(_WORDS_OF_DOING):
        return []
    writes = not words.isdisjoint(_WORDS_OF_WRITING)
    sources = {name for name, kind in SOURCE_KINDS.items() if not words.isdisjoint(kind.words)}
    if writes and not sources:
        return [spec for spec in specs if spec.writes]
    return [spec for spec in specs if spec.source in sources and spec.writes == writes]


def specs_from(data: Sequence[Mapping[str, Any]]) -> list[ToolSpec]:
    """Read the form on the blackboard. In older recordings it has no role."""
    return [_spec_from(spec) for spec in data]


def specs_as_data(specs: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    return [
        {
            "name": spec.name,
            "description": spec.description,
            "parameters": dict(spec.parameters),
            "query_types": sorted(spec.query_types),
            "writes": spec.writes,
            "source": spec.source,
            "role": spec.role,
        }
        for spec in specs
    ]


def _spec_from(data: Mapping[str, Any]) -> ToolSpec:
    known: dict[str, Any] = dict(data)
    known["query_types"] = frozenset(map(QueryType, known["query_types"]))
    return ToolSpec(**known)


def _types_of(classification: QueryClassification, sure_of_a_class: float) -> set[QueryType]:
    """The class, and every class whose source is needed too because two classes were close."""
    types = {classification.query_type}
    needed = (
        (classification.needs_code, QueryType.CODE),
        (classification.needs_vault, QueryType.DOCUMENTATION),
        (classification.needs_web, QueryType.RESEARCH),
    )
    types |= {query_type for is_needed, query_type in needed if is_needed}
    if classification.confidence < sure_of_a_class and classification.runner_up is not None:
        types.add(classification.runner_up)
    return types


def _is_named(name: str, capability: str, words: set[str]) -> bool:
    """`web_search`, `web search` and `searching the web` all name the tool web_search."""
    # The name itself, not as a part of a longer name: `read_file` is not in `read_file_lines`.
    if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", capability, re.IGNORECASE):
        return True
    # Else every part of the name begins a word. A name of one part (`search`) is too common.
    parts = [part for part in name.lower().split("_") if part]
    return len(parts) > 1 and all(any(word.startswith(part) for word in words) for part in parts)

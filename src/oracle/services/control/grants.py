"""Which tools a question gets: a ladder, from those of its class to all that only read.

Uncertainty adds tools that read, never tools that write: those need a clear request for an action,
or a person's yes.
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
"""What neither reading nor writing notes can do: only a tool of that very name could."""


def first_grant(
    classification: QueryClassification,
    specs: Sequence[ToolSpec],
    *,
    sure_of_an_action: float,
    sure_of_a_class: float,
) -> list[str]:
    """The tools of the query's class, and of the sources that it needs besides.

    Writing tools need a clear request for an action. An unclear class adds the tools of the second.
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
    """What a rung adds: the tools of the class that came second, those of all local sources, or
    all that only read.
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
    """The tools that can do what was asked for in words; the most fitting kind only.

    A tool's own name counts most. Else a source that is named picks the tools that look into it;
    a word of writing picks those that write to it, or to anything where no source is named. To run
    or to delete something is another matter: no tool that reads is offered in its place.
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
    """Back from the form on the blackboard. In older recordings it has no role."""
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
    """The class, and each class whose source is needed too: two classes may be too close."""
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
    if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", capability, re.IGNORECASE):
        return True
    parts = [part for part in name.lower().split("_") if part]
    return len(parts) > 1 and all(any(word.startswith(part) for word in words) for part in parts)

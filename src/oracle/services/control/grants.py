"""Which tools a question gets: a ladder, from the tools of its class to all tools that only read.

Uncertainty adds tools that read, never tools that write. A tool that writes needs a clear request
for an action, or a person's approval. Of a tool that needs a yes (an own one that writes) a person
is asked about each call, whatever the question says.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias

from oracle.lazy_dataclass import dataclass
from oracle.models.query_classification import QueryClassification, QueryType
from oracle.models.source_kind import SOURCE_KINDS, kind_named
from oracle.models.tool_spec import ToolSpec
from oracle.patterns import lazy_pattern
from oracle.services.control.asked_for import asks_for, is_a_report

Rung: TypeAlias = Literal["second_class", "local", "web", "all"]

_INSIDE: Final = frozenset({QueryType.CODE, QueryType.DOCUMENTATION, QueryType.ACTION})
"""The classes of questions about the project."""
_SHORTEST_STEM: Final = 4
_WORD: Final = lazy_pattern(r"[a-z]+")
_BETWEEN_PARTS: Final = lazy_pattern(r"\s*(?:[,;\n+&]|\band\b|\bor\b|\bplus\b)\s*", re.IGNORECASE)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS_OF_WRITING: Final = _words(
    "write writing save saving create creating edit editing append add change modify rename push "
    "record update store"
)
_WORDS_OF_READING: Final = _words("read reading search searching look list find view open browse")
_WORDS_OF_CALLING: Final = _words("run running execute executing")
"""With the name of a tool they mean a call of it: `run search_code`."""
_WORDS_OF_EFFECTS: Final = _words(
    "compile compiling build building deploy deploying install installing uninstall uninstalling "
    "delete deleting remove removing erase erasing wipe wiping kill killing restart restarting "
    "send sending email emailing upload uploading"
)
_WORDS_OF_DOING: Final = (
    _WORDS_OF_CALLING | _WORDS_OF_EFFECTS | _words("execution debug test shell terminal command")
)
"""Verbs that no tool for reading or writing notes can do. Only a tool with that name can."""

# A path or a name such as `delete_user` is one token, so that its parts are not verbs.
_TOKEN: Final = lazy_pattern(r"[\w./-]*\w")
_BEFORE_A_REQUEST: Final = _words("please kindly just to and or then also you me us plus")
_BEFORE_A_GERUND: Final = _words("for of by with")
# "how to delete a user" is something to look for, not something to do.
_BEFORE_A_TOPIC: Final = _words("how where when what whether code function method")
_AFTER_THE_OBJECT: Final = lazy_pattern(r"\b(?:with|using|via|through|by|on|in|for|to|from)\b")


def first_grant(
    classification: QueryClassification,
    specs: Sequence[ToolSpec],
    *,
    sure_of_an_action: float,
    sure_of_a_class: float,
    sure_of_the_web: float,
    question: str = "",
    can_ask: bool = False,
) -> list[str]:
    """The tools of the query's class, and those of every other source that it needs.

    Tools that write need a clear request for an action. Those that need a yes are offered if the
    question itself asks for them, in any class; otherwise if there is a person to ask (`can_ask`).
    If the class is not sure, the tools of the second class are added. A question that seems to be
    about the world gets the local sources too, unless that is surer. If no tool of the class can
    search, all local sources are added.
    """
    asked = [spec.name for spec in specs if spec.needs_yes and asks_for(question, spec)]
    if not classification.needs_any_source:
        return asked
    types = _types_of(classification, sure_of_a_class, sure_of_the_web)
    may_write = (
        classification.query_type == QueryType.ACTION
        and classification.confidence >= sure_of_an_action
        and not is_a_report(question)
    )

    def is_granted(spec: ToolSpec) -> bool:
        if spec.name in asked:
            return True
        # What is refused in any case is offered all the same: so the answer says what it was.
        has_way = can_ask or not spec.needs_yes or spec.even_if_ordered
        is_allowed = not spec.writes or (may_write and has_way)
        return is_allowed and not types.isdisjoint(spec.query_types)

    granted = [spec for spec in specs if is_granted(spec)]
    names = [spec.name for spec in granted]
    if any(spec.role == "search" for spec in granted):
        return names
    return [*names, *more_tools("local", classification, specs, names)]


def more_tools(
    rung: Rung,
    classification: QueryClassification,
    specs: Sequence[ToolSpec],
    granted: Collection[str],
    poor: Collection[str] = (),
) -> list[str]:
    """The tools that a rung adds: of the second class, of all local sources, of the others, or
    all tools that only read. None of `poor` sources: a search there would find nothing.
    """

    def belongs(spec: ToolSpec) -> bool:
        if rung == "second_class":
            return classification.runner_up in spec.query_types
        return rung == "all" or kind_named(spec.source).is_local is (rung == "local")

    return [
        spec.name
        for spec in specs
        if not spec.writes
        and spec.name not in granted
        and spec.source not in poor
        and belongs(spec)
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Considered:
    """What a request for a capability comes to: the tools that fit, and what no tool can do."""

    tools: Sequence[ToolSpec]
    beyond: Sequence[str]


def considered(capability: str, specs: Sequence[ToolSpec]) -> Considered:
    """Consider every part of a request, such as "web search, and run the tests"."""
    found = {spec.name: spec for spec in tools_for(capability, specs)}
    beyond: list[str] = []
    for part in _parts_of(capability):
        fitting = tools_for(part, specs)
        found |= {spec.name: spec for spec in fitting}
        if not fitting and not _words_in(part).isdisjoint(_WORDS_OF_DOING):
            beyond.append(part)
    if not found:
        beyond = [capability]
    return Considered(tools=[*found.values()], beyond=beyond)


def tools_for(capability: str, specs: Sequence[ToolSpec]) -> list[ToolSpec]:
    """The tools that fit one request in the model's own words.

    1. If the request names tools, those; but none if it asks for an effect, such as deleting, that
       no tool has in its name. `read_note` cannot delete, even if the request says so.
    2. If it is about running or deleting something, none: a tool that reads is not a substitute.
    3. If it names sources, the tools that read them. If it speaks of writing, the tools that write
       to them; of both, both.
    4. If it speaks of writing and names no source, all tools that write.
    """
    words = _words_in(capability)
    named = [spec for spec in specs if _is_named(spec.name, capability, words)]
    if named:
        return named if all(_is_done_by(verb, named) for verb in _effects_in(capability)) else []
    if not words.isdisjoint(_WORDS_OF_DOING):
        return []
    writes = not words.isdisjoint(_WORDS_OF_WRITING)
    reads = not writes or not words.isdisjoint(_WORDS_OF_READING)
    sources = {name for name, kind in SOURCE_KINDS.items() if not words.isdisjoint(kind.words)}
    if writes and not sources:
        return [spec for spec in specs if spec.writes]
    wanted = {True} if writes and not reads else {False} if reads and not writes else {True, False}
    return [spec for spec in specs if spec.source in sources and spec.writes in wanted]


def specs_from(data: Sequence[Mapping[str, Any]]) -> list[ToolSpec]:
    """Read the form on the blackboard. In older recordings it has no role."""
    return [_spec_from(spec) for spec in data]


def specs_as_data(specs: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    return [
        {
            **({"even_if_ordered": True} if spec.even_if_ordered else {}),
            "name": spec.name,
            "description": spec.description,
            "parameters": dict(spec.parameters),
            "query_types": sorted(spec.query_types),
            "writes": spec.writes,
            "source": spec.source,
            "role": spec.role,
            "needs_yes": spec.needs_yes,
        }
        for spec in specs
    ]


def only_by_yes(specs: Sequence[ToolSpec]) -> list[ToolSpec]:
    """The tools for a user who may not allow a write: an order is a yes only of one who may."""
    return [
        replace(spec, needs_yes=True, even_if_ordered=True) if spec.writes else spec
        for spec in specs
    ]


def _spec_from(data: Mapping[str, Any]) -> ToolSpec:
    known: dict[str, Any] = dict(data)
    known["query_types"] = frozenset(map(QueryType, known["query_types"]))
    return ToolSpec(**known)


def _types_of(
    classification: QueryClassification, sure_of_a_class: float, sure_of_the_web: float
) -> set[QueryType]:
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
    # Most questions are about the project. One that is taken for another would never reach it.
    if types.isdisjoint(_INSIDE) or classification.query_type == QueryType.RESEARCH:
        is_sure = classification.confidence >= sure_of_the_web
        types |= set() if is_sure else {QueryType.CODE, QueryType.DOCUMENTATION}
    return types


def _words_in(text: str) -> set[str]:
    return set(_WORD.findall(text.lower().replace("_", " ")))


def _parts_of(capability: str) -> list[str]:
    """A single word before "and" belongs to what follows: "create and run a script" is one part.

    A name with an underscore is a part of its own.
    """
    parts: list[str] = []
    verb = ""
    for piece in filter(None, _BETWEEN_PARTS.split(capability.strip("[]\"' "))):
        part = f"{verb} and {piece.strip()}" if verb else piece.strip()
        verb = ""
        if " " not in part and "_" not in part:
            verb = part
        else:
            parts.append(part)
    return [*parts, verb] if verb else parts


def _effects_in(request: str) -> list[tuple[str, str]]:
    """The verbs of effects that it asks for, each with its object.

    A verb is asked for where a request begins: at the start, or after a word such as "to".
    """
    text = request.lower()
    tokens = list(_TOKEN.finditer(text))
    before = ["", "", *(token[0] for token in tokens)]
    return [
        (token[0], _AFTER_THE_OBJECT.split(text[token.end() :])[0])
        for number, token in enumerate(tokens)
        if token[0] in _WORDS_OF_CALLING | _WORDS_OF_EFFECTS
        and _begins_a_request(token[0], before[number + 1], before[number])
    ]


def _begins_a_request(verb: str, before: str, before_that: str) -> bool:
    if verb.endswith("ing") and before in _BEFORE_A_GERUND:
        return True
    is_topic = before == "to" and before_that in _BEFORE_A_TOPIC
    return not before or (before in _BEFORE_A_REQUEST and not is_topic)


def _is_done_by(effect: tuple[str, str], named: Sequence[ToolSpec]) -> bool:
    """Whether a tool has the verb in its name, or the verb means a call of a tool."""
    verb, what = effect
    names = [spec.name.lower() for spec in named]
    if any(_is_form_of(part, verb) for name in names for part in name.split("_") if part):
        return True
    return verb in _WORDS_OF_CALLING and any(
        _is_named(name, what, _words_in(what)) for name in names
    )


def _is_named(name: str, capability: str, words: set[str]) -> bool:
    """`web_search`, `web search` and `searching the web` all name the tool web_search."""
    # The name itself, not as a part of a longer name: `read_file` is not in `read_file_lines`.
    if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", capability, re.IGNORECASE):
        return True
    # Else every part of the name begins a word. A name of one part (`search`) is too common.
    parts = [part for part in name.lower().split("_") if part]
    return len(parts) > 1 and all(any(_is_form_of(part, word) for word in words) for part in parts)


def _is_form_of(part: str, word: str) -> bool:
    """`notes` is a form of `note`, and `deleting` one of `delete`."""
    is_long = len(part) > _SHORTEST_STEM
    return word.startswith(part.removesuffix("e") if is_long else part)

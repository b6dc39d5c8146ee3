"""Which calls fit a question, made from the specs of the tools that are offered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from typing import Any, Final, cast

from oracle.models.source_kind import kind_named
from oracle.models.tool_spec import ToolSpec
from oracle.testing.simulated.conversation import Conversation
from oracle.testing.simulated.evidence import Place, Scorer, stem, words_in
from oracle.testing.simulated.response import Call

_IDENTIFIER: Final = re.compile(r"`([\w.]+)`|\b([a-z]+_\w+|[A-Z][a-z]+[A-Z]\w*|[A-Z]+_[A-Z_]+)\b")
_PATH: Final = re.compile(r"\b[\w-]+(?:/[\w.-]+)*\.(?:py|md|toml|js|ts|go|rs|json|ya?ml|txt)\b")
_USUAL_KEYS: Final = ("query", "question", "path", "name")
_FURTHER: Final = ("tests", "configuration", "usage", "examples", "history", "errors", "design")
_HINTS: Final[Mapping[str, Sequence[str]]] = {"threads": ("why", "decided", "reason", "agreed")}
_MOST_SEARCHED: Final = 2
_LINES_AROUND: Final = (5, 40)


def properties(tool: ToolSpec) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", tool.parameters.get("properties", {}))


def main_argument(tool: ToolSpec) -> str | None:
    """The parameter that says what is wanted: the first required one, or one of a usual name."""
    required = cast("Sequence[str]", tool.parameters.get("required", ()))
    usual = (key for key in _USUAL_KEYS if key in properties(tool))
    return next(iter(required), None) or next(usual, None)


def call(tool: ToolSpec, wanted: str, **optional: object) -> Call:
    """A call with the optional arguments that the tool knows."""
    main = main_argument(tool)
    known = {key: value for key, value in optional.items() if key in properties(tool)}
    return Call(name=tool.name, arguments={main: wanted, **known} if main else known)


def queries(question: str) -> Iterator[str]:
    """What to search for, the best first: all words, the longest ones, then each one alone.

    It never ends, because there is always something more that one could search for.
    """
    words = words_in(question) or ("overview",)
    by_length = sorted(words, key=len, reverse=True)
    longest = [word for word in words if word in by_length[:2]]
    yield from dict.fromkeys([" ".join(words[:12]), " ".join(longest), *by_length])
    for number in count():
        word = by_length[number % len(by_length)]
        further = _FURTHER[number // len(by_length) % len(_FURTHER)]
        again = number // (len(by_length) * len(_FURTHER))
        yield f"{word} {further}" + (f" {again + 1}" if again else "")


def searching_tools(conversation: Conversation) -> list[ToolSpec]:
    """The tools that search, best first: those that the question hints at, the web last."""
    asked = set(map(stem, conversation.question.lower().replace("?", " ").split()))

    def rank(tool: ToolSpec) -> tuple[bool, bool]:
        kind = kind_named(tool.source)
        hints = {*kind.words, *_HINTS.get(kind.name, ())}
        return not asked & set(map(stem, hints)), not kind.is_local

    return sorted(conversation.tools_for("search"), key=rank)


def first_calls(conversation: Conversation) -> list[Call]:
    """Search in the two best ways; look up the names and files that the question mentions."""
    query = next(queries(conversation.question))
    tools = searching_tools(conversation)[:_MOST_SEARCHED]
    calls = [call(tool, query) for tool in tools]
    names = ["".join(each) for each in _IDENTIFIER.findall(conversation.question)][:1]
    calls += [call(tool, name) for tool in conversation.tools_for("uses") for name in names]
    files = [Place(path=path) for path in _PATH.findall(conversation.question)][:1]
    calls += read_calls(conversation, files)
    if not calls:
        others = conversation.tools_for("map", "list")[:1]
        calls = [call(tool, conversation.question[:500]) for tool in others]
    return calls


def other_searches(conversation: Conversation) -> list[Call]:
    """The first search that has not been made, with every tool that searches."""
    return list(islice(fresh_searches(conversation, searching_tools(conversation)), 2))


def fresh_searches(conversation: Conversation, tools: Sequence[ToolSpec]) -> Iterator[Call]:
    """Searches that have not been made, without end if there is a tool for them."""
    if not tools:
        return
    for query in queries(conversation.question):
        made = (call(tool, query) for tool in tools)
        yield from unmade(conversation, made)


def unmade(conversation: Conversation, calls: Iterable[Call]) -> Iterator[Call]:
    for each in calls:
        if isinstance(each.arguments, str) or not conversation.has_made(each.name, each.arguments):
            yield each


def unread_places(conversation: Conversation) -> list[Place]:
    """The places that were found and not read, best first."""
    read = " ".join(str(each.arguments) for each in conversation.results_of("read"))
    unread = [place for place in conversation.places if _readable_name(place) not in read]
    return Scorer(conversation.question, conversation.lines).best_path_first(unread)


def read_calls(conversation: Conversation, places: Iterable[Place]) -> list[Call]:
    """A call for each place that one of the offered tools can read."""
    before, after = _LINES_AROUND
    calls: list[Call] = []
    for place in places:
        tool = reading_tool(conversation, place)
        if tool is None:
            continue
        start, end = max(1, place.start - before), place.end + after
        lines = {"start": start, "end": end} if place.start else {}
        calls.append(call(tool, _readable_name(place), **lines))
    return list(unmade(conversation, calls))


def reading_tool(conversation: Conversation, place: Place) -> ToolSpec | None:
    """The tool whose main argument can name the place: an address, a thread, a note or a file."""
    by_argument = {main_argument(tool): tool for tool in conversation.tools_for("read")}
    if place.path.startswith("http"):
        return by_argument.get("url")
    if place.path.startswith("thread:"):
        return by_argument.get("thread")
    preferred = ("note", "path") if place.path.endswith(".md") else ("path", "note")
    others = [key for key in by_argument if key not in ("url", "thread")]
    return next((by_argument[key] for key in (*preferred, *others) if key in by_argument), None)


def _readable_name(place: Place) -> str:
    is_thread = place.path.startswith("thread:")
    return place.path.removeprefix("thread:").split("@")[0] if is_thread else place.path


def further_calls(conversation: Conversation, most: int) -> list[Call]:
    """Calls that have not been made: all unread places, then ever more searches.

    Without a tool that searches, the others are tried with words, except those that write.
    """
    reads = read_calls(conversation, unread_places(conversation))
    others = [tool for tool in conversation.harmless_tools if main_argument(tool)]
    tools = searching_tools(conversation) or others
    searches = islice(fresh_searches(conversation, tools), most)
    return [*reads, *searches][:most]

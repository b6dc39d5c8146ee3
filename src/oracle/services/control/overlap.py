"""Calls that overlap: another call of the response brings the same, or an earlier one brought
nothing, so that this one cannot bring anything either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, cast

from oracle.models.source_kind import kind_named
from oracle.models.tool_spec import Role, ToolSpec
from oracle.patterns import lazy_pattern
from oracle.services.control.repetition import name_of_call
from oracle.services.questions.search_words import search_words, specific_words
from oracle.services.questions.word_lists import STOP_WORDS
from oracle.services.tools.offered import query_argument

GATHERING_ROLES: Final = ("search", "read", "uses", "map", "list", "facts", "members")
"""What tools do that only look. What a tool of another role brings is not known."""
OVERVIEW_ROLES: Final[tuple[Role, ...]] = ("map", "list", "facts", "members")
"""They show what there is, not where the words of the question are."""

_LIMITS: Final = ("limit",)
"""Arguments that say how much is shown. Of nothing, that is nothing."""
_WORD: Final = lazy_pattern(r"\w+")
_SHORTEST_TELLING: Final = 3

Call = Mapping[str, Any]


def reasons_not_to_run(
    calls: Sequence[Call],
    specs: Mapping[str, ToolSpec],
    most: Mapping[Role, int],
    *,
    usual: int,
) -> list[str | None]:
    """For each call the reason not to run it now; None if it is to be run.

    If more than a `usual` number of calls do not overlap, `most` is how many calls of one tool are
    run at once, by the role of the tool.
    """
    reasons = _overlaps(calls, specs)
    if reasons.count(None) <= usual:
        return reasons
    counts: Counter[str] = Counter()
    for place, call in enumerate(calls):
        name, spec = call["name"], specs.get(call["name"])
        role = None if spec is None else spec.role
        if reasons[place] is None and role is not None and role in most:
            if counts[name] >= most[role]:
                told = f"{most[role]} calls of {name} are run at once; look at these first"
                reasons[place] = told
            counts[name] += 1
    return reasons


def _overlaps(calls: Sequence[Call], specs: Mapping[str, ToolSpec]) -> list[str | None]:
    searches = [_search(call, specs) for call in calls]
    made: set[str] = set()
    reasons: list[str | None] = []
    for place, call in enumerate(calls):
        spec = specs.get(call["name"])
        reason = None
        if spec is not None and spec.role in GATHERING_ROLES:
            name = name_of_call(call["name"], call["arguments"])
            if name in made:
                reason = "another call of this response is the same"
            elif _is_part_of_another(place, searches):
                reason = "another search of this response has its words; look at its result first"
            elif _tells_as_little(place, searches):
                reason = "it has no word that says what is looked for, like another search before"
            made.add(name)
        reasons.append(reason)
    return reasons


_Search = tuple[str, frozenset[str]]
"""What two searches must have in common to be compared, and the words of one of them."""


def _search(
    call: Call, specs: Mapping[str, ToolSpec], *, but: Collection[str] = ()
) -> _Search | None:
    """None if it is not a search. The arguments `but` make no difference."""
    spec = specs.get(call["name"])
    if spec is None or spec.role != "search" or not isinstance(call["arguments"], Mapping):
        return None
    arguments = cast("Mapping[str, Any]", call["arguments"])
    query = query_argument(spec)
    others = {name: value for name, value in arguments.items() if name not in (query, *but)}
    words = frozenset(_WORD.findall(str(arguments.get(query, "")).lower()))
    return name_of_call(call["name"], others), words


def _is_part_of_another(place: int, searches: Sequence[_Search | None]) -> bool:
    """Of two searches with the same words, the first is run. Numbers alone are not compared."""
    one = searches[place]
    if one is None or all(word.isdigit() for word in one[1]):
        return False
    return any(
        other is not None
        and other[0] == one[0]
        and (one[1] < other[1] or (one[1] == other[1] and number < place))
        for number, other in enumerate(searches)
    )


def _tells_as_little(place: int, searches: Sequence[_Search | None]) -> bool:
    """Whether its words tell nothing, like those of a search before it."""
    one = searches[place]
    if one is None or _telling(one[1]):
        return False
    return any(
        other is not None and other[0] == one[0] and not _telling(other[1])
        for other in searches[:place]
    )


def searches_in_vain(
    messages: Sequence[Mapping[str, Any]], specs: Mapping[str, ToolSpec]
) -> list[_Search]:
    """The searches of the conversation that found nothing.

    Only of the project's own sources: their search finds a place by any word of the query. What
    another tool finds with fewer words is not known.
    """
    found: list[_Search] = []
    calls: Sequence[Call] = ()
    for message in messages:
        # Some models use the same ids again in each turn.
        if message["role"] == "assistant":
            calls = message.get("tool_calls", ())
        elif message["role"] == "tool" and message.get("success") and message.get("empty"):
            call = {each["id"]: each for each in calls}.get(message["call_id"])
            search = _search(call, specs, but=_LIMITS) if call is not None else None
            if search is not None and kind_named(message.get("tool_kind")).is_local:
                found.append(search)
    return found


def is_in_vain(call: Call, specs: Mapping[str, ToolSpec], before: Sequence[_Search]) -> bool:
    """Whether all its words were searched for before, in the same way, and nothing was found.

    Words that tell nothing are all alike: if `a` was not found, neither will `b` or `the` be.
    """
    one = _search(call, specs, but=_LIMITS)
    if one is None:
        return False
    tells_nothing = not _telling(one[1])
    return any(
        one[0] == way and (one[1] <= words or (tells_nothing and not _telling(words)))
        for way, words in before
    )


def _telling(words: Collection[str]) -> bool:
    """Whether one of them says what is looked for. One or two letters do not, except in a script
    without spaces, and numbers do.
    """
    return any(
        word.isdigit()
        or not word.isascii()
        or (len(word) >= _SHORTEST_TELLING and word not in STOP_WORDS)
        for word in words
    )


def tools_that_found_nothing(
    question: str, messages: Sequence[Mapping[str, Any]], tools: Sequence[ToolSpec]
) -> set[str]:
    """The tools that were asked for all specific words of the question, and found nothing."""
    before = searches_in_vain(messages, {spec.name: spec for spec in tools})
    words = " ".join(specific_words(search_words(question)))
    wanted = frozenset(_WORD.findall(words.lower()))
    ways = {way for way, known in before if wanted and wanted <= known}
    return {spec.name for spec in tools if name_of_call(spec.name, {}) in ways}

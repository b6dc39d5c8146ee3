"""Calls of one response that overlap: those whose results another call of it brings as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from oracle.models.tool_spec import Role, ToolSpec
from oracle.patterns import lazy_pattern
from oracle.services.control.repetition import name_of_call
from oracle.services.tools.offered import query_argument

GATHERING_ROLES: Final = ("search", "read", "uses", "map", "list", "facts", "members")
"""What tools do that only look. What a tool of another role brings is not known."""

_WORD: Final = lazy_pattern(r"\w+")

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
            made.add(name)
        reasons.append(reason)
    return reasons


_Search = tuple[str, frozenset[str]]
"""What two searches must have in common to be compared, and the words of one of them."""


def _search(call: Call, specs: Mapping[str, ToolSpec]) -> _Search | None:
    spec = specs.get(call["name"])
    if spec is None or spec.role != "search" or not isinstance(call["arguments"], Mapping):
        return None
    arguments = cast("Mapping[str, Any]", call["arguments"])
    query = query_argument(spec)
    others = {name: value for name, value in arguments.items() if name != query}
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

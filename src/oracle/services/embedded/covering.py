"""The answer to a broad question: each part that was read, in its order, with its best places."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from oracle.services.coverage.wording import COVERED, EXTRACT, LEFT_OUT, SILENT
from oracle.services.embedded.looking import READS, Aim, found_in
from oracle.services.embedded.saying import Response, counted, signal, with_no_model
from oracle.services.embedded.situation import Call, Situation
from oracle.services.reading.choosing import Term, is_dull, terms_for
from oracle.services.reading.excerpts import is_definition
from oracle.services.reading.inline import code, codes
from oracle.services.reading.places import Place, best_places
from oracle.services.reading.quotations import Quotation, quotations_in
from oracle.services.tools.used_lines import UsesBeyond, uses_beyond

_EXTRACTED: Final = re.compile(r"- `(?P<where>[^`]+)`: `(?P<line>[^`]*)`")
_MORE: Final = re.compile(r" and \d+ more$")
_USES: Final = "find_definition"
_USED: Final = re.compile(r"^(\S+) -> (\S+)(?: \((.*)\))?$", re.M)


def is_covered(situation: Situation) -> bool:
    return any(told.startswith(COVERED) for told in situation.told)


def cover(situation: Situation, aim: Aim) -> Response | None:
    """A numbered list over the parts, and an open word on what was left out; None where no part
    says anything.
    """
    uses = _uses(situation, aim.words.names) if aim.wants_uses or aim.wants_all else {}
    parts = _parts(situation, aim)
    if uses:
        others = {path: _with(aim.words.names, parts[path]) for path in parts if path not in uses}
        parts = {**uses, **{path: places for path, places in others.items() if places}}
    found = {path: sorted(places, key=_line) for path, places in parts.items() if places}
    if not found:
        return None
    onward = {} if uses or aim.wants_all else _onward(situation, found)
    items = [_item(n, found[path], onward.get(path, ())) for n, path in enumerate(found, 1)]
    silent = [path for path in [*parts, *_told(situation, SILENT)] if path not in found]
    missing = _told(situation, LEFT_OUT)
    counts = [uses_beyond(call.content) for call in _lists_of_uses(situation)]
    beyond = [each for each in counts if each is not None]
    lead = _lead(aim, found, has_uses=bool(uses), beyond=beyond, is_a_flow=bool(onward))
    told = [
        lead + "\n\n" + "\n".join(items),
        f"Read too, with nothing about it: {codes(silent)}." if silent else "",
        f"Left out, found but not read: {listed(missing)}." if missing else "",
    ]
    text = with_no_model("\n\n".join(filter(None, told)), situation.earlier_answers)
    return Response(text=text, signal=signal("context_sufficient", 0.7, sources_found=len(items)))


def _lead(
    aim: Aim,
    found: Mapping[str, Sequence[Place]],
    *,
    has_uses: bool,
    beyond: Sequence[UsesBeyond],
    is_a_flow: bool,
) -> str:
    files = counted(len(found), "file")
    if has_uses:
        places = counted(sum(map(len, found.values())), "place")
        if beyond:
            return f"{_totals(beyond)}. Of these, {places} in {files}:"
        return f"{codes(aim.words.names)} is used at {places} in {files}:"
    say = "says" if len(found) == 1 else "say"
    order = ", each before those that it uses" if is_a_flow else ""
    return f"What {files} of the project {say} about {codes(aim.words.all)}{order}:"


def _totals(beyond: Sequence[UsesBeyond]) -> str:
    """Where a list of uses ends before they do, it says how many there are."""
    return "; ".join(
        f"{code(each.name)} is used on {counted(each.lines, 'line')} in "
        f"{counted(each.files, 'file')}"
        for each in beyond
    )


def _lists_of_uses(situation: Situation) -> list[Call]:
    calls = situation.calls
    return [call for call in calls if call.name == _USES and call.arguments.get("references")]


def _uses(situation: Situation, names: Sequence[str]) -> dict[str, list[Place]]:
    """The line of each quotation in a list of uses that has the name, by file; an import only where
    a file has nothing else.
    """
    found: dict[str, list[Place]] = {}
    for call in _lists_of_uses(situation):
        for source in filter(lambda source: source.lines, quotations_in(call.content)):
            found.setdefault(source.path, []).append(_naming(source, names))
    return _without_definitions({path: _lively(places) for path, places in found.items()}, names)


def _without_definitions(
    found: Mapping[str, Sequence[Place]], names: Sequence[str]
) -> dict[str, list[Place]]:
    """Where something is defined is no use of it; it is told where there is no other place."""
    used = {
        path: [p for p in places if not any(is_definition(p.line, name) for name in names)]
        for path, places in found.items()
    }
    used = {path: places for path, places in used.items() if places}
    return used or {path: list(places) for path, places in found.items()}


def _naming(source: Quotation, names: Sequence[str]) -> Place:
    named = (n for n, line in enumerate(source.lines) if any(name in line for name in names))
    number = next(named, 0)
    return Place(where=source.place(number, number), line=source.lines[number])


def _with(names: Sequence[str], places: Sequence[Place]) -> list[Place]:
    """Where a name stands in a text or a setting, no list of uses has it."""
    named = [place for place in places if any(name in place.line for name in names)]
    return [p for p in named if not any(is_definition(p.line, name) for name in names)]


def _lively(places: Sequence[Place]) -> list[Place]:
    return [place for place in places if not is_dull(place.line)] or list(places)


def _parts(situation: Situation, aim: Aim) -> dict[str, list[Place]]:
    """As they stand before us: whole, or as an extract."""
    terms = terms_for(aim.words, found_in(situation))
    found: dict[str, list[Place]] = {}
    for call in situation.calls:
        if call.success and call.name in READS:
            for path, places in _places(call, terms, uses=aim.wants_uses).items():
                found[path] = [*found.get(path, ()), *places]
    return found


def _places(call: Call, terms: Sequence[Term], *, uses: bool) -> dict[str, list[Place]]:
    if call.content.startswith(EXTRACT):
        lines = [Place(**match.groupdict()) for match in _EXTRACTED.finditer(call.content)]
        return {_path(call, lines): lines}
    sources = quotations_in(call.content)
    return {s.path: best_places([s], terms, uses=uses) for s in sources}


def _path(call: Call, lines: Sequence[Place]) -> str:
    where = lines[0].where if lines else str(next(iter(call.arguments.values()), ""))
    return re.sub(r":\d+(?:-\d+)?$", "", where)


def _onward(situation: Situation, found: Mapping[str, object]) -> dict[str, list[str]]:
    """Whom each file uses, as far as these are told behind it."""
    order = [*found]
    told: dict[str, list[str]] = {}
    for user, used, names in _USED.findall("\n".join(situation.told)):
        if user in found and used in found and order.index(used) > order.index(user):
            shown = f" by {codes(names.split(', '))}" if names else ""
            told.setdefault(user, []).append(f"{code(used)}{shown}")
    return told


def _line(place: Place) -> int:
    """0 for what has no lines."""
    found = re.search(r":(\d+)(?:-\d+)?$", place.where)
    return int(found[1]) if found else 0


def _item(number: int, places: Sequence[Place], onward: Sequence[str]) -> str:
    first, *others = places
    head = f"{number}. "
    below = [*map(str, others), *([f"on to {'; '.join(onward[:3])}"] if onward else [])]
    indent = " " * len(head)  # as markdown wants it: less would end the list
    return "\n".join([f"{head}{first}", *(f"{indent}- {line}" for line in below)])


def listed(names: Sequence[str]) -> str:
    *first, last = names
    more = _MORE.search(last)
    return codes([*first, last[: more.start()]]) + more[0] if more else codes(names)


def _told(situation: Situation, mark: str) -> list[str]:
    """What the tree has listed behind a mark."""
    for told in situation.told:
        for line in told.split("\n"):
            if told.startswith(COVERED) and line.startswith(mark):
                return line.removeprefix(mark).split(", ")
    return []

"""Answers that are lists: all things of a kind, and the places that use a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oracle.models.source import Source
from oracle.services.embedded.response import Response, counted, exact_line, quoted, signal
from oracle.services.embedded.searching import Aim
from oracle.services.embedded.situation import Call, Situation
from oracle.services.questions.search_words import bare_name
from oracle.services.quoting.kinds_of_lines import is_definition, is_export
from oracle.services.quoting.passages import IN_TESTS, is_dull
from oracle.services.tools.answer import code
from oracle.services.tools.offered import ToCall, uses_call

_SHOWN: Final = 0.75
# A weaker group may be the list, so it is shown with a doubt: the words alone list nothing.
_MAYBE: Final = 0.5
_MAYBE_OF_THE_REST: Final = 0.7
# A group that only has the name does not say whether the rest of the question is true of it.
_SURE_OF_THE_REST: Final = 0.85
# A second group is shown if it is about as good as the first.
_ALSO: Final = 0.85
_MOST_GROUPS: Final = 2
_MOST_ITEMS: Final = 40
_MOST_IF_NOT_SURE: Final = 14


def members_calls(situation: Situation, aim: Aim) -> list[ToCall]:
    """Calls that look for what holds the things that are asked for; none if they were made."""
    asked, tool = aim.members, situation.tool("members")
    if asked is None or tool is None or aim.wants_uses or situation.calls_of("members"):
        return []
    first: dict[str, object] = {"of": asked.head}
    if not asked.rest:
        return [(tool.name, first)]
    # "methods of Queue" are in Queue; "shells that have completion classes" may be these classes.
    return [(tool.name, {**first, "within": asked.rest}), (tool.name, {"of": asked.rest})]


def answer_with_members(situation: Situation, aim: Aim) -> Response | None:
    """The best groups, each member with its place; None if they may not be what is asked for."""
    shown = _groups(situation, aim)
    if not shown or _score(shown[0][1]) < _SHOWN or not _is_a_list(shown[0][1]):
        return None
    # A group that only has the name does not say whether the rest of the question is true of it.
    if aim.members and aim.members.rest and _score(shown[0][1]) < _SURE_OF_THE_REST:
        return None
    count = sum(len(sources) for _, sources in shown)
    text = "\n\n".join(_group(what, sources, _MOST_ITEMS) for what, sources in shown)
    return Response(text=text, signal=signal("context_sufficient", 0.75, sources_found=count))


def groups_that_may_be_meant(situation: Situation, aim: Aim) -> str:
    """A part of an answer: the best group of members, if it is not sure to be what is asked for."""
    shown = [pair for pair in _groups(situation, aim) if _is_a_list(pair[1])][:1]
    return "\n\n".join(_group(what, sources, _MOST_IF_NOT_SURE) for what, sources in shown)


def _groups(situation: Situation, aim: Aim) -> list[tuple[str, list[Source]]]:
    """What holds the things that are asked for, best first."""
    groups: dict[str, list[Source]] = {}
    # What the question calls them counts more than what else it says about them.
    for place, call in enumerate(situation.calls_of("members")):
        for source in call.sources if call.success else ():
            least = _MAYBE_OF_THE_REST if place else _MAYBE
            if source.get("score", 0.0) >= least and "group" in source:
                members = groups.setdefault(source["group"], [])
                # Two calls may find the same group.
                if all(source["where"] != other["where"] for other in members):
                    members.append(source)
    if aim.members is None or not groups:
        return []
    ordered = sorted(groups.items(), key=lambda pair: -_score(pair[1]))
    best = _score(ordered[0][1])
    return [pair for pair in ordered if _score(pair[1]) >= _ALSO * best][:_MOST_GROUPS]


def _is_a_list(sources: Sequence[Source]) -> bool:
    """A single line that only combines other lists is none."""
    text = sources[0]["text"]
    return len(sources) > 1 or text.count("\n") > 1 or text.count(",") > 1


def _score(sources: Sequence[Source]) -> float:
    return max(source.get("score", 0.0) for source in sources)


def _group(what: str, sources: Sequence[Source], most: int) -> str:
    if len(sources) == 1:
        source = sources[0]
        lead = f"{code(source['where'])}, {what}:"
        return f"{lead}\n\n{quoted(source['text'].split(chr(10)), source.get('path', ''))}"
    items = "\n".join(f"- {code(s['where'])}: {_line(s['text'])}" for s in sources[:most])
    lead = f"{counted(len(sources), 'place')}, {what}"
    lead += f"; the first {most}" if len(sources) > most else ""
    return f"{lead}:\n\n{items}"


def _line(text: str) -> str:
    """What is registered under a decorator is named by its last line; the first says how."""
    lines = text.split("\n")
    return (
        exact_line(lines[-1])
        if len(lines) == 1
        else f"{exact_line(lines[-1])} under {exact_line(lines[0])}"
    )


def uses_calls(situation: Situation, aim: Aim) -> list[ToCall]:
    """Calls that list the uses of each name in a question about uses."""
    tool = situation.tool("uses")
    if tool is None or not aim.wants_uses or lists_of_uses(situation):
        return []
    return [uses_call(tool, name, references=True) for name in _names(aim)[:2]]


def _names(aim: Aim) -> list[str]:
    return [*aim.words.names, *aim.words.guesses]


def lists_of_uses(situation: Situation) -> list[Call]:
    return [call for call in situation.calls_of("uses") if call.arguments.get("references")]


def answer_with_uses(situation: Situation, aim: Aim) -> Response | None:
    """Each use with the function that it is in, tests last; None if no use was found."""
    names = [bare_name(name) for name in _names(aim)]
    used = [
        source
        for call in lists_of_uses(situation)
        for source in (call.sources if call.success else ())
        if _is_use(source["text"], names)
    ]
    # The tree's report on a broad question has all uses, those in prose and settings too.
    if not aim.wants_uses or not used or situation.coverage is not None:
        return None
    if all(is_export(source["text"]) for source in used):
        return _only_exported(names[0], used)
    used.sort(key=lambda source: bool(IN_TESTS.search(source.get("path", ""))))
    beyond = [call.more_uses for call in lists_of_uses(situation) if call.more_uses]
    total = max([len(used), *(more["lines"] for more in beyond)])
    shown = used[:_MOST_ITEMS]
    files = len({source.get("path", "") for source in used})
    lead = f"{code(names[0])} is used at {counted(total, 'place')}"
    lead += f" in {counted(files, 'file')}:" if total == len(used) else f"; here are {len(shown)}:"
    text = "\n".join([lead, "", *map(_use, shown)])
    return Response(text=text, signal=signal("context_sufficient", 0.85, sources_found=len(shown)))


def _only_exported(name: str, used: Sequence[Source]) -> Response:
    """Other files give what they import a name of their own, so it is not known who calls it."""
    lead = f"Nothing here uses {code(name)} by this name. It is exported, so other files may use it"
    text = "\n".join([f"{lead} by another name:", "", *map(_use, used)])
    lacks = f"who uses {name} by another name"
    return Response(text=text, signal=signal("partial_answer", 0.5, missing=lacks))


def _is_use(text: str, names: Sequence[str]) -> bool:
    is_one_line = "\n" not in text
    return is_one_line and not is_dull(text) and not any(is_definition(text, n) for n in names)


def _use(source: Source) -> str:
    owner = source.get("symbol", "")
    inside = f" in {code(owner)}" if owner else ""
    return f"- {code(source['where'])}{inside}: {exact_line(source['text'])}"

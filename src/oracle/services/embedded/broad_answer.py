"""A broad question: extract what matters from one part, and answer from all parts in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from oracle.models.source import MoreUses
from oracle.patterns import lazy_pattern
from oracle.services.control.unfinished_answer import NO_SURE_PLACE
from oracle.services.embedded.listing import lists_of_uses
from oracle.services.embedded.own_words import NOT_SURE, ONLY_QUOTES
from oracle.services.embedded.places import best_places
from oracle.services.embedded.response import Response, counted, nothing_about, signal
from oracle.services.embedded.searching import Aim, found_in
from oracle.services.embedded.situation import Call, Situation
from oracle.services.llm.protocol import CoverageReport, ModelRequest
from oracle.services.questions.search_words import specific_words
from oracle.services.quoting.best_lines import (
    QuotedLine,
    as_list,
    best_lines,
    lines_about,
)
from oracle.services.quoting.kinds_of_lines import is_definition, is_export
from oracle.services.quoting.passages import Passage, is_dull
from oracle.services.quoting.quotation import Quotation
from oracle.services.quoting.terms import Term, terms_for
from oracle.services.tools.answer import code, codes

_A_WAY: Final = lazy_pattern(
    r"(?i)\b(?:from\b.+\b(?:to|until|into)|flows?|travels?|pass(?:es|ed)?|gets? (?:in)?to)\b"
)
"""A question about the way of something through the project."""
NOTHING: Final = "Nothing."
"""The reply that the prompt asks for if a part has nothing on the question.

`coverage/extracts.py` expects it. It is not imported from there: this model gets only what any
model gets.
"""

_CONNECTED: Final = 0.6
_LISTED: Final = 10
_ROOM: Final = 34
_LEAST_ROOM: Final = 18
"""Lines for quotations: fewer if many parts are listed below them."""


def is_about_one_part(request: ModelRequest) -> bool:
    """Whether the request has only the question and one part, and asks for an extract."""
    roles = [message["role"] for message in request.messages]
    is_alone = roles == ["system", "user"] and not request.tools
    return is_alone and "sources" in request.messages[-1]


def extract(request: ModelRequest) -> str:
    """The lines of the part that say most about the question."""
    asked = request.messages[-1]
    question = asked.get("question", asked["content"])
    return as_list(lines_about(question, asked.get("sources", ()))) or NOTHING


def answer_with_the_way(situation: Situation, aim: Aim) -> Response | None:
    """The parts in the order in which they use one another, if that connects nearly all of them;
    None if it does not, or if the question asks for something else.
    """
    report = situation.coverage
    if report is None or aim.wants_uses or not _A_WAY.search(aim.question):
        return None
    found = _found(_parts(situation, aim))
    onward = _onward(report, found)
    connected = {path for use in report["uses"] for path in (use["user"], use["used"])} & {*found}
    if not onward or len(connected) < _CONNECTED * len(found):
        return None
    items = [_item(n, found[path], onward.get(path, ())) for n, path in enumerate(found, 1)]
    lead = f"{_lead(aim, found)}, each before those that it uses:"
    text = _joined(f"{lead}\n\n" + "\n".join(items), *_left_out(report, _silent(report, found)))
    return Response(text=text, signal=signal("context_sufficient", 0.7, sources_found=len(items)))


def answer_broadly(
    situation: Situation, aim: Aim, report: CoverageReport, best: Sequence[Passage]
) -> Response | None:
    """The best places and the best line of each part; None if no part has anything on the
    question.
    """
    parts = _parts(situation, aim)
    found = _found(parts)
    if not found:
        return None
    items = [_item(n, lines[:1], ()) for n, lines in enumerate([*found.values()][:_LISTED], 1)]
    lacking = [term.word for term in _in_no_part(found, aim)]
    language = aim.own.language
    text = _joined(
        f"{NOT_SURE[language]} {ONLY_QUOTES[language]}",
        best_places(best, max(_LEAST_ROOM, _ROOM - len(items))),
        f"{_lead(aim, found)}:\n\n" + "\n".join(items),
        *_left_out(report, _silent(report, found, parts)),
        nothing_about(lacking),
    )
    # Lines of the parts are no summary: nobody knows whether one that matters is missing.
    missing = ", ".join(lacking) or NO_SURE_PLACE
    return Response(text=text, signal=signal("partial_answer", 0.5, missing=missing))


def answer_with_all_uses(situation: Situation, aim: Aim) -> Response | None:
    """All uses of a name that the parts have, in prose and settings too; None if there is none."""
    report = situation.coverage
    if report is None or not (aim.wants_uses or aim.wants_all):
        return None
    uses = _uses(situation, aim.words.names)
    if not any(uses.values()):
        return None
    parts = _parts(situation, aim)
    mentions = _mentions(parts, uses, aim.words.names)
    found = _found(uses)
    items = [_item(n, lines, ()) for n, lines in enumerate(found.values(), 1)]
    beyond = [call.more_uses for call in lists_of_uses(situation) if call.more_uses]
    text = _joined(
        f"{_lead_of_uses(aim, found, beyond)}\n\n" + "\n".join(items),
        "It is also named here:\n\n" + as_list(mentions) if mentions else "",
        *_left_out(report, _silent(report, found)),
    )
    if all(is_export(line.text) for lines in uses.values() for line in lines):
        # Other files give what they import a name of their own.
        told = signal("partial_answer", 0.5, missing="who uses it by another name")
    else:
        told = signal("context_sufficient", 0.7, sources_found=len(items))
    return Response(text=text, signal=told)


def _joined(*paragraphs: str) -> str:
    return "\n\n".join(filter(None, paragraphs))


def _found(parts: Mapping[str, Sequence[QuotedLine]]) -> dict[str, list[QuotedLine]]:
    return {path: sorted(lines, key=_number) for path, lines in parts.items() if lines}


def _silent(
    report: CoverageReport, found: Mapping[str, object], parts: Mapping[str, object] | None = None
) -> list[str]:
    """Parts that were read and say nothing about it."""
    return [path for path in [*(parts or ()), *report["nothing"]] if path not in found]


def _left_out(report: CoverageReport, silent: Sequence[str]) -> Iterator[str]:
    yield f"Read too, with nothing about it: {codes(silent)}." if silent else ""
    yield f"Left out, found but not read: {left_out(report)}." if report["left_out"] else ""


def _in_no_part(found: Mapping[str, Sequence[QuotedLine]], aim: Aim) -> list[Term]:
    """Specific words of the question that no part has."""
    texts = [line for lines in found.values() for each in lines for line in each.source.lines]
    texts += found
    return [term for term in _specific(aim) if not any(map(term.is_in, texts))]


def _specific(aim: Aim) -> list[Term]:
    wanted = set(specific_words(aim.words))
    return [term for term in terms_for(aim.words, ()) if term.word in wanted]


def _lead(aim: Aim, found: Mapping[str, Sequence[QuotedLine]]) -> str:
    lacking = {term.word for term in _in_no_part(found, aim)}
    said = [word for word in aim.words.all if word not in lacking]
    say = "says" if len(found) == 1 else "say"
    files = counted(len(found), "file")
    return f"What {files} of the project {say} about {codes(said or aim.words.all)}"


def _lead_of_uses(
    aim: Aim, found: Mapping[str, Sequence[QuotedLine]], beyond: Sequence[MoreUses]
) -> str:
    places = f"{counted(sum(map(len, found.values())), 'place')} in {counted(len(found), 'file')}"
    if beyond:
        return f"{_totals(beyond)}. Of these, {places}:"
    if not any(_not_defining(lines, aim.words.names) for lines in found.values()):
        return f"Nothing here uses {codes(aim.words.names)}. It is defined here:"
    return f"{codes(aim.words.names)} is used at {places}:"


def _totals(beyond: Sequence[MoreUses]) -> str:
    """How many uses there are, if a list does not show all of them."""
    return "; ".join(
        f"{code(each['name'])} is used on {counted(each['lines'], 'line')} in "
        f"{counted(each['files'], 'file')}"
        for each in beyond
    )


def _uses(situation: Situation, names: Sequence[str]) -> dict[str, list[QuotedLine]]:
    """By file: the lines in lists of uses that have the name. An import counts only if a file has
    nothing else.
    """
    found: dict[str, list[QuotedLine]] = {}
    for call in lists_of_uses(situation):
        for source in call.quotations:
            found.setdefault(source.path, []).append(_naming(source, names))
    return _without_definitions({path: _lively(lines) for path, lines in found.items()}, names)


def _without_definitions(
    found: Mapping[str, Sequence[QuotedLine]], names: Sequence[str]
) -> dict[str, list[QuotedLine]]:
    """A definition is not a use. It is shown only if there is no other place."""
    used = {path: _not_defining(lines, names) for path, lines in found.items()}
    used = {path: lines for path, lines in used.items() if lines}
    return used or {path: list(lines) for path, lines in found.items()}


def _not_defining(lines: Sequence[QuotedLine], names: Sequence[str]) -> list[QuotedLine]:
    return [line for line in lines if not any(is_definition(line.text, name) for name in names)]


def _naming(source: Quotation, names: Sequence[str]) -> QuotedLine:
    named = (n for n, line in enumerate(source.lines) if any(name in line for name in names))
    return QuotedLine(source=source, number=next(named, 0))


def _mentions(
    parts: Mapping[str, Sequence[QuotedLine]], uses: Mapping[str, object], names: Sequence[str]
) -> list[QuotedLine]:
    """Lines with the name which a list of uses lacks: of documents, and of code in languages that
    the list has nothing of.

    Of other code the list is whole: what else has the name there is a comment, and whether such a
    line was read depends on what else the project has.
    """
    listed = {PurePosixPath(path).suffix for path in uses}
    others = (line for path, lines in parts.items() if path not in uses for line in lines)
    named = [
        line
        for line in others
        if (line.source.kind.name != "code" or PurePosixPath(line.source.path).suffix not in listed)
        and any(name in line.text for name in names)
    ]
    return _not_defining(named, names)


def _lively(lines: Sequence[QuotedLine]) -> list[QuotedLine]:
    return [line for line in lines if not is_dull(line.text)] or list(lines)


def _parts(situation: Situation, aim: Aim) -> dict[str, list[QuotedLine]]:
    """By file: the best lines of each part, which is shown whole or as an extract."""
    terms = terms_for(aim.words, found_in(situation))
    found: dict[str, list[QuotedLine]] = {}
    for call in situation.calls_of("read"):
        for path, lines in _best_lines(call, terms, uses=aim.wants_uses) if call.success else ():
            found[path] = [*found.get(path, ()), *lines]
    return found


def _best_lines(
    call: Call, terms: Sequence[Term], *, uses: bool
) -> Iterator[tuple[str, list[QuotedLine]]]:
    if call.is_extract and not call.sources:
        yield str(next(iter(call.arguments.values()), "")), []
    for source in call.extracted:
        yield source.path, [QuotedLine(source=source, number=0)]
    for source in call.quotations:
        yield source.path, best_lines([source], terms, uses=uses)


def _onward(report: CoverageReport, found: Mapping[str, object]) -> dict[str, list[str]]:
    """By file: the files that it uses, if they come later in the answer."""
    order = [*found]
    onward: dict[str, list[str]] = {}
    for use in report["uses"]:
        user, used = use["user"], use["used"]
        if user in found and used in found and order.index(used) > order.index(user):
            shown = f" by {codes(use['names'])}" if use["names"] else ""
            onward.setdefault(user, []).append(f"{code(used)}{shown}")
    return onward


def _number(line: QuotedLine) -> int:
    """The number of the line in its file; 0 if it is not cited by lines."""
    return line.source.first + line.number if line.source.kind.has_lines else 0


def _item(number: int, lines: Sequence[QuotedLine], onward: Sequence[str]) -> str:
    first, *others = lines
    head = f"{number}. "
    below = [*map(str, others), *([f"on to {'; '.join(onward[:3])}"] if onward else [])]
    indent = " " * len(head)  # with less, markdown would end the numbered list
    return "\n".join([f"{head}{first}", *(f"{indent}- {line}" for line in below)])


def left_out(report: CoverageReport) -> str:
    more = report["more_left_out"]
    return codes(report["left_out"]) + (f" and {more} more" if more else "")

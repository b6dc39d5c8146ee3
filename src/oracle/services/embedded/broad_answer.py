"""A broad question: extract what matters from one part, and answer from all parts in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from oracle.models.source import MoreUses
from oracle.patterns import lazy_pattern
from oracle.services.embedded.listing import lists_of_uses
from oracle.services.embedded.response import Response, counted, nothing_about, signal
from oracle.services.embedded.searching import Aim, found_in
from oracle.services.embedded.situation import Call, Situation
from oracle.services.llm.protocol import CoverageReport, ModelRequest
from oracle.services.questions.search_words import specific_words
from oracle.services.quoting.best_lines import QuotedLine, as_list, best_lines, lines_about
from oracle.services.quoting.excerpts import is_definition, is_export
from oracle.services.quoting.passages import is_dull
from oracle.services.quoting.quotation import Quotation
from oracle.services.quoting.terms import Term, terms_for
from oracle.services.tools.answer import code, codes

NOTHING: Final = "Nothing."
"""The reply that the prompt asks for if a part has nothing on the question.

`coverage/extracts.py` expects it. It is not imported from there: this model gets only what any
model gets.
"""

_A_WAY: Final = lazy_pattern(
    r"(?i)\b(?:from\b.+\b(?:to|until|into)|flows?|travels?|pass(?:es|ed)?)\b"
)
"""A question about the way of something through the project."""


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


def answer_broadly(situation: Situation, aim: Aim, report: CoverageReport) -> Response | None:
    """A numbered list of the parts, and what was left out; None if no part has anything on the
    question.
    """
    uses = _uses(situation, aim.words.names) if aim.wants_uses or aim.wants_all else {}
    parts = _parts(situation, aim)
    mentions = _mentions(parts, uses, aim.words.names) if uses else []
    parts = {**uses} or parts
    found = {path: sorted(lines, key=_number) for path, lines in parts.items() if lines}
    if not found:
        return None
    onward = {} if uses or aim.wants_all else _onward(report, found)
    items = [_item(n, found[path], onward.get(path, ())) for n, path in enumerate(found, 1)]
    silent = [path for path in [*parts, *report["nothing"]] if path not in found]
    beyond = [call.more_uses for call in lists_of_uses(situation) if call.more_uses]
    lacking = [] if uses else _in_no_part(found, aim)
    said = [word for word in aim.words.all if word not in {term.word for term in lacking}]
    lead = _lead(aim, said, found, has_uses=bool(uses), beyond=beyond, is_a_flow=bool(onward))
    paragraphs = [
        lead + "\n\n" + "\n".join(items),
        "It is also named here:\n\n" + as_list(mentions) if mentions else "",
        f"Read too, with nothing about it: {codes(silent)}." if silent else "",
        f"Left out, found but not read: {left_out(report)}." if report["left_out"] else "",
        nothing_about([term.word for term in lacking]),
    ]
    text = "\n\n".join(filter(None, paragraphs))
    told = signal("context_sufficient", 0.7, sources_found=len(items))
    is_a_flow = bool(onward and _A_WAY.search(aim.question))
    missing = _missing(lacking, aim, is_a_flow=is_a_flow)
    if uses and all(is_export(line.text) for lines in uses.values() for line in lines):
        # Other files give what they import a name of their own.
        missing = ["who uses it by another name"]
    if aim.members is not None and not uses:
        # Lines about the things are not a list of them: nobody knows whether one is missing.
        missing = [f"a list of all {aim.members.head}"]
    elif not missing and not uses and not is_a_flow and not _is_about_it(found, aim):
        missing = ["places that surely answer it"]
    if missing:
        told = signal("partial_answer", 0.5, missing=", ".join(missing))
    return Response(text=text, signal=told)


def _in_no_part(found: Mapping[str, Sequence[QuotedLine]], aim: Aim) -> list[Term]:
    """Specific words of the question that no part has."""
    texts = [line for lines in found.values() for each in lines for line in each.source.lines]
    texts += found
    return [term for term in _specific(aim) if not any(map(term.is_in, texts))]


def _is_about_it(found: Mapping[str, Sequence[QuotedLine]], aim: Aim) -> bool:
    """Whether most parts show most of the question's specific words, not each part another one."""
    terms = _specific(aim)
    shares = [
        sum(term.is_in("\n".join([path, *(line.text for line in lines)])) for term in terms)
        for path, lines in found.items()
    ]
    return 2 * sum(2 * share > len(terms) for share in shares) >= len(shares)


def _missing(lacking: Sequence[Term], aim: Aim, *, is_a_flow: bool) -> list[str]:
    """Names, or most of the other words: then the parts are about something else.

    The parts of a flow are connected by what they use more than by words.
    """
    if is_a_flow:
        return []
    names = [term.word for term in lacking if term.is_name]
    is_most = 2 * len(lacking) > len(_specific(aim))
    return names or ([term.word for term in lacking] if is_most else [])


def _specific(aim: Aim) -> list[Term]:
    wanted = set(specific_words(aim.words))
    return [term for term in terms_for(aim.words, ()) if term.word in wanted]


def _lead(
    aim: Aim,
    said: Sequence[str],
    found: Mapping[str, Sequence[QuotedLine]],
    *,
    has_uses: bool,
    beyond: Sequence[MoreUses],
    is_a_flow: bool,
) -> str:
    files = counted(len(found), "file")
    if has_uses:
        places = counted(sum(map(len, found.values())), "place")
        if beyond:
            return f"{_totals(beyond)}. Of these, {places} in {files}:"
        if not any(_not_defining(lines, aim.words.names) for lines in found.values()):
            return f"Nothing here uses {codes(aim.words.names)}. It is defined here:"
        return f"{codes(aim.words.names)} is used at {places} in {files}:"
    say = "says" if len(found) == 1 else "say"
    order = ", each before those that it uses" if is_a_flow else ""
    return f"What {files} of the project {say} about {codes(said or aim.words.all)}{order}:"


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

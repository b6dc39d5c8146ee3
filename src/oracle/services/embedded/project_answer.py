"""Questions about the project as a whole: ask the tool for its facts, and quote what it found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oracle.services.embedded.own_words import NOT_FOUND, ONLY_QUOTES
from oracle.services.embedded.response import Response, exact_line, quoted, signal
from oracle.services.embedded.searching import Aim
from oracle.services.embedded.situation import Call, Situation
from oracle.services.overview.topics import Topic
from oracle.services.questions.project_topics import ProjectQuestion
from oracle.services.quoting.quotation import Quotation
from oracle.services.tools.answer import code
from oracle.services.tools.offered import ToCall

# Of the tool's score, from 0 to 1: a heading or an entry that fits, with lines that fit.
_SURE: Final = 0.7
# A place after the first is quoted if it is about as good.
_ALSO: Final = 0.6
_MOST_QUOTED: Final = 3
_FACTUAL: Final[frozenset[Topic]] = frozenset({"about", "changes", "licence", "layout", "version"})
"""Topics whose places the tool finds by their form, so that they are hardly ever beside it."""


def facts_calls(situation: Situation, aim: Aim) -> list[ToCall]:
    """The calls for the facts, if the question is about the project; none if they were made."""
    tool = situation.tool("facts")
    if not aim.about or tool is None:
        return []
    made = situation.calls_of("facts")
    # If the version is not in the changelog, its newest entry shows that there is a changelog.
    is_without_version = len(made) == 1 and _lacks_the_version(made[0], aim)
    if made and not is_without_version:
        return []
    return [(tool.name, _arguments(asked, has_version=not made)) for asked in aim.about]


def _arguments(asked: ProjectQuestion, *, has_version: bool) -> dict[str, object]:
    arguments: dict[str, object] = {"topic": asked.topic}
    if asked.version and has_version:
        arguments["version"] = asked.version
    if asked.words:
        # One more word may be the name of the project. The tool knows it, this model does not.
        arguments["name" if asked.may_be_a_name else "words"] = " ".join(asked.words)
    return arguments


def _lacks_the_version(call: Call, aim: Aim) -> bool:
    is_asked = any(asked.version for asked in aim.about)
    return is_asked and call.success is True and not call.sources


def _without_the_version(call: Call, aim: Aim, version: str) -> Response:
    """Other lines that have the number are about something else, so nothing is searched for."""
    language = aim.own.language
    newest = next((q for q in call.quotations if q.lines), None)
    text = f"{NOT_FOUND[language]} {ONLY_QUOTES[language]}\n\n"
    text += f"The changelog has no entry for {code(version)}."
    if newest is not None:
        text += f" Its newest one is at {code(newest.place(0, 0))}: {exact_line(newest.lines[0])}"
    return Response(
        text=text, signal=signal("partial_answer", 0.6, missing=f"the changes in {version}")
    )


def answer_from_facts(situation: Situation, aim: Aim) -> Response | None:
    """The places that the tool found, quoted; None if it found none for a part of the question."""
    calls = [call for call in situation.calls_of("facts") if call.success]
    if not aim.about or not any(call.sources for call in calls):
        return None
    if _lacks_the_version(calls[0], aim):
        return _without_the_version(calls[-1], aim, aim.about[0].version)
    if not all(call.sources for call in calls):
        return None
    most = _MOST_QUOTED if len(calls) == 1 else 1 + _MOST_QUOTED // len(calls)
    found = [(asked, _chosen(call)[:most]) for asked, call in zip(aim.about, calls, strict=False)]
    text = "\n\n".join(
        part for _, shown in found for source, _ in shown for part in _quotation(source)
    )
    unsure = [
        asked.topic for asked, shown in found if shown[0][1] < _SURE and asked.topic not in _FACTUAL
    ]
    if unsure:
        lacks = f"a place that is clearly about {' and '.join(unsure)}"
        return Response(text=text, signal=signal("partial_answer", 0.4, missing=lacks))
    count = sum(len(shown) for _, shown in found)
    return Response(text=text, signal=signal("context_sufficient", 0.8, sources_found=count))


def _chosen(call: Call) -> list[tuple[Quotation, float]]:
    scored = [
        (quotation, float(source.get("score") or 0.0))
        for quotation, source in zip(call.quotations, call.sources, strict=False)
    ]
    best = scored[0][1]
    return [pair for pair in scored if pair[1] >= _ALSO * best][:_MOST_QUOTED]


def _quotation(source: Quotation) -> Sequence[str]:
    lead = "The project holds:" if source.where == "." else f"{code(source.where)} says:"
    return lead, quoted(source.lines, source.path)

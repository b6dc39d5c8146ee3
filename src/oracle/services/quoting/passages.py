"""Rank the passages that were read by how well they answer a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from types import MappingProxyType
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.quoting.kinds_of_lines import is_prose
from oracle.services.quoting.quotation import Quotation
from oracle.services.quoting.scoring import Score, Scoring
from oracle.services.quoting.terms import DECISION, Term, without_doubles
from oracle.services.quoting.units import Unit, units_of
from oracle.services.quoting.worth import IN_TESTS, is_dull
from oracle.services.tools.answer import place

_FOR_PROSE: Final = 1.5
LAST_RANK: Final = 10
_DECISION: Final = lazy_pattern(r"#+[ \t]+decisions?\b", re.I)
_FOR_ITS_OWN_NAME: Final = 1.3


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """Lines to quote: `start` to `end` of the quotation, from 0, `end` included. `best` is the line
    with the highest score. `said` says how much of the question is there, whatever the file is.
    """

    source: Quotation
    start: int
    end: int
    best: int
    score: float
    words: frozenset[str]
    defines: str = ""
    said: float = 0.0

    @property
    def where(self) -> str:
        return self.source.place(self.start, self.end)

    @property
    def lines(self) -> Sequence[str]:
        return self.source.lines[self.start : self.end + 1]

    @property
    def best_line(self) -> str:
        return self.source.lines[self.best]

    @property
    def best_where(self) -> str:
        return self.source.place(self.best, self.best)


def passages(
    sources: Sequence[Quotation],
    terms: Sequence[Term],
    *,
    ranks: Mapping[str, int] = MappingProxyType({}),
    prefers_prose: bool = False,
    question: str = "",
) -> list[Passage]:
    """The units of the sources that have a word of the question, best first. `ranks` are from
    searches. A heading that says the same as the `question` counts more.
    """
    units = [unit for source in joined(_once(sources)) for unit in units_of(source)]
    scoring = Scoring(terms, question)
    matches = [scoring.match(unit) for unit in units]
    scoring.learn(matches)
    found = [
        _passage(match.unit, score)
        for match in matches
        if (score := scoring.score(match, ranks.get(match.unit.source.path, LAST_RANK)))
    ]
    if DECISION in terms:
        found = [_what_was_decided(passage, units) for passage in found]
    if prefers_prose:
        found = [replace(p, score=p.score * _FOR_PROSE) if is_prose(p.source) else p for p in found]
    found.sort(key=lambda passage: -passage.score)
    return _apart(found)


def _passage(unit: Unit, score: Score) -> Passage:
    return Passage(
        source=unit.source,
        start=unit.start,
        end=unit.end,
        best=score.best,
        score=score.score,
        words=score.words,
        defines=score.defines,
        said=score.said,
    )


def _what_was_decided(passage: Passage, units: Sequence[Unit]) -> Passage:
    """In the record of a decision, quote the decision, even if the words are in another section."""
    lines = passage.source.lines
    decisions = (
        unit
        for unit in units
        if unit.source is passage.source
        and any(_DECISION.match(line) for line in lines[unit.start : unit.end + 1])
    )
    decision = next(decisions, None)
    if decision is None:
        return passage
    return replace(passage, start=decision.start, end=decision.end, best=decision.start)


def joined(sources: Sequence[Quotation]) -> list[Quotation]:
    """The lines of each file once, in as few sources as possible: there is more to quote around."""
    numbered: dict[str, dict[int, str]] = {}
    found: list[Quotation] = []
    known: dict[str, Quotation] = {}
    for source in sources:
        if source.first and source.kind.has_lines:
            lines = numbered.setdefault(source.path, {})
            lines.update(enumerate(source.lines, source.first))
            # The definition that one of them is in is not that of the others.
            is_first = source.path not in known
            known[source.path] = source if is_first else replace(source, symbol="")
        else:
            found.append(source)
    for path, lines in numbered.items():
        starts = sorted(number for number in lines if number - 1 not in lines)
        for start in starts:
            end = next(number for number in count(start) if number + 1 not in lines)
            found.append(
                replace(
                    known[path],
                    where=place(path, start, end),
                    first=start,
                    lines=[lines[number] for number in range(start, end + 1)],
                )
            )
    return found


def _once(sources: Sequence[Quotation]) -> list[Quotation]:
    """Without copies: of files with the same text the one nearest to the root is kept."""
    kept: dict[tuple[str, ...], Quotation] = {}
    for source in sources:
        text = tuple(source.lines)
        known = kept.get(text)
        if known is None or source.path.count("/") < known.path.count("/"):
            kept[text] = source
    return list(kept.values())


def every_line(sources: Sequence[Quotation], terms: Sequence[Term], *, uses: bool) -> list[Passage]:
    """Each line about as good as the best one, the best files first, tests last.

    With `uses`, a use of a name counts more than its definition.
    """
    found: dict[str, Passage] = {}
    for source in sources:
        for number, line in enumerate(source.lines):
            worth = _worth(line, terms, for_a_definition=0.3 if uses else 1.0, for_a_call=1.3)
            if worth and not is_dull(line):
                words = frozenset(term.word for term in terms if term.is_in(line))
                passage = Passage(
                    source=source, start=number, end=number, best=number, score=worth, words=words
                )
                found.setdefault(passage.where, passage)
    best = max((passage.score for passage in found.values()), default=0.0)
    kept = [passage for passage in found.values() if passage.score >= 0.6 * best]
    # A file counts as much as its best line, so its lines stay together.
    of_file: dict[str, float] = {}
    for passage in kept:
        path = passage.source.path
        of_file[path] = max(passage.score, of_file.get(path, 0.0))
    return sorted(
        kept, key=lambda p: (bool(IN_TESTS.search(p.source.path)), -of_file[p.source.path])
    )


def _worth(
    line: str, terms: Sequence[Term], *, for_a_definition: float, for_a_call: float = 1.0
) -> float:
    on_it = without_doubles([term for term in terms if term.is_in(line)])
    if not any(not term.is_extra or term.related_to for term in on_it):
        return 0.0
    worth = sum(term.weight for term in on_it)
    worth *= 0.4 if is_dull(line) else 1.0
    if any(term.is_called_in(line) for term in on_it):
        return worth * for_a_definition * _FOR_ITS_OWN_NAME
    if any(term.is_defined_in(line) or term.is_explained_in(line) for term in on_it):
        return worth * for_a_definition
    is_call = any(f"{term.word}(" in line for term in on_it)
    return worth * for_a_call if is_call else worth


def _apart(found: Iterable[Passage]) -> list[Passage]:
    kept: list[Passage] = []
    for passage in found:
        if not any(_same_place(passage, other) for other in kept):
            kept.append(passage)
    return kept


def _same_place(one: Passage, other: Passage) -> bool:
    if one.source.path != other.source.path or not one.source.first:
        # A copy of a file says the same once more.
        is_copy = len(one.lines) > 1 and one.lines == other.lines
        return one.source.where == other.source.where or is_copy
    return (
        one.source.first + one.start <= other.source.first + other.end
        and other.source.first + other.start <= one.source.first + one.end
    )

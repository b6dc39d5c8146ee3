"""Score the units of what was read: which words of a question each has, and how rare these are."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.quoting.evidence import evidence_for, has_evidence
from oracle.services.quoting.kinds_of_lines import is_heading, is_prose, opens_definition
from oracle.services.quoting.terms import Term
from oracle.services.quoting.titles import Asked
from oracle.services.quoting.units import Unit
from oracle.services.quoting.worth import is_data, is_dull, is_foreign, is_in_tests, is_of_changes

# How much a line counts that has a term. Chosen by measuring on labelled questions; most of them
# matter little.
_HEADING: Final = 1.5
_CALLED_SO: Final = 2.6
_DEFINITION: Final = 1.8
_REMARK: Final = 1.15
_DULL_LINE: Final = 0.3
_FURTHER_LINES: Final = 0.4
# The same for what is around the unit.
_ABOVE: Final = 0.8
_IN_PATH: Final = 0.6
_SHARE_OF_A_PATH: Final = 0.7
# A related word, an idiom and two neighbouring words, compared with a word of the question.
_KIN: Final = 0.7
_IDIOM: Final = 0.8
_PAIR: Final = 0.5
_LEAST_COVERED: Final = 0.25
_COVERED: Final = 2.0
"""The power of the share that is covered: a place with all words beats one that repeats some."""
_EVIDENCE: Final = 0.5
_TITLE: Final = 1.6
_TINY: Final = 0.8
_FEW_LINES: Final = 3
_IN_TESTS: Final = 0.5
_FOREIGN: Final = 0.5
_OF_CHANGES: Final = 0.6
_PER_RANK: Final = 0.2
_COMMENT: Final = lazy_pattern(r"\s*(?:#|//|/\*|\*|;;|--|\"\"\"|''')")


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """`lines` has, by term, the weights of the lines that have it. `above` and `in_path` are the
    terms that what is around the unit has.
    """

    unit: Unit
    lines: Mapping[str, Sequence[tuple[int, float]]]
    above: frozenset[str]
    in_path: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """`best` is the line with the most of the question, `words` are the terms that are there.
    `said` is 1 if each word of the question is on one plain line; more in titles and definitions.
    """

    score: float
    said: float
    best: int
    words: frozenset[str]
    defines: str


class Scoring:
    """A term counts by how few of the units have it, so first `match` all units, then `learn`."""

    def __init__(self, terms: Sequence[Term], question: str) -> None:
        self._terms = terms
        self._needed = [term for term in terms if not term.is_extra or _is_idiom(term)]
        self._kin = {t.related_to: t for t in terms if t.related_to and not _is_idiom(t)}
        self._extras = {term.word for term in terms if term.is_extra}
        self._pairs = {t.word for t in terms if t.is_extra and not t.related_to and " " in t.word}
        self._evidence = evidence_for(question)
        self._asked = Asked(question, terms)
        self._rarity: dict[str, float] = {}

    def match(self, unit: Unit) -> Match:
        lines = unit.source.lines
        text = "\n".join(lines[unit.start : unit.end + 1]).lower()
        found: dict[str, list[tuple[int, float]]] = {}
        for term in self._terms:
            if term.core.lower() not in text:
                continue
            for number in range(unit.start, unit.end + 1):
                if term.is_in(lines[number]):
                    found.setdefault(term.word, []).append((number, _weight(unit, number, term)))
        above = {t.word for t in self._needed if any(t.is_in(lines[n]) for n in unit.above)}
        in_path = {t.word for t in self._needed if is_in_path(unit.source.path, t)}
        return Match(unit=unit, lines=found, above=frozenset(above), in_path=frozenset(in_path))

    def learn(self, matches: Sequence[Match]) -> None:
        having = Counter(word for match in matches for word in match.lines)
        count = len(matches)
        self._rarity = {
            term.word: math.log(2 + count / (1 + having[term.word]))
            * (_IDIOM if _is_idiom(term) else 1.0)
            for term in self._terms
        }

    def score(self, match: Match, rank: int) -> Score | None:
        """None if no word of the question is there. `rank` is that of the file in a search."""
        unit, words = match.unit, {word for word in match.lines if word in self._extras}
        total = said = covered = 0.0
        for term in self._needed:
            weight = self._rarity[term.word] * term.weight
            total += weight
            worth, share, found = self._worth(match, term)
            said += weight * worth
            covered += weight * share
            words |= {found} if found else set()
        if not said:
            return None
        said += sum(_PAIR * self._rarity[word] * _most(match, word) for word in self._pairs & words)
        best = self._best_line(match)
        value = said / total * (_LEAST_COVERED + (1 - _LEAST_COVERED) * covered / total) ** _COVERED
        value *= self._fitting(unit) * _of_file(unit.source.path) / (1 + _PER_RANK * rank)
        line = unit.source.lines[best]
        named = (t.word for t in self._needed if t.is_name and t.is_defined_in(line))
        return Score(
            score=round(value, 4),
            said=said / total,
            best=best,
            words=frozenset(words),
            defines=next(named, ""),
        )

    def _best_line(self, match: Match) -> int:
        on_line: defaultdict[int, float] = defaultdict(float)
        for term in self._needed:
            for number, value in match.lines.get(term.word, ()):
                on_line[number] += self._rarity[term.word] * term.weight * value
        for word in self._pairs:
            for number, value in match.lines.get(word, ()):
                on_line[number] += _PAIR * self._rarity[word] * value
        return max(on_line, key=lambda n: (on_line[n], -n), default=match.unit.start)

    def _fitting(self, unit: Unit) -> float:
        """Whether it shows what such a question asks for, and whether its title is the question."""
        lines = unit.source.lines[unit.start : unit.end + 1]
        factor = 1 + _EVIDENCE * sum(has_evidence(lines, each) for each in self._evidence)
        is_titled = is_prose(unit.source) and is_heading(unit.source.lines, unit.start)
        factor *= _TITLE if is_titled and self._asked.is_said_by(lines[0]) else 1.0
        return factor * (_TINY if len(lines) < _FEW_LINES else 1.0)

    def _worth(self, match: Match, term: Term) -> tuple[float, float, str]:
        """What the term adds to the score and to the share that is covered, and what is there."""
        if term.is_path and term.word in match.in_path:
            return _DEFINITION, 1.0, term.word
        values = [value for _, value in match.lines.get(term.word, ())]
        worth = _with_further(values)
        is_near = bool(values) or term.word in match.above
        worth += _ABOVE if term.word in match.above else 0.0
        if term.word in match.in_path:
            worth += _IN_PATH / 2 if is_near else _IN_PATH
        if worth:
            return worth, 1.0 if is_near else _SHARE_OF_A_PATH, term.word
        kin = self._kin.get(term.word)
        if kin is None or kin.word not in match.lines:
            return 0.0, 0.0, ""
        return _KIN * _most(match, kin.word), _KIN, kin.word


def _with_further(values: Sequence[float]) -> float:
    """The best line, and a little for all others together."""
    most = max(values, default=0.0)
    return most + _FURTHER_LINES * math.log2(1 + sum(values) - most)


def _most(match: Match, word: str) -> float:
    return max(value for _, value in match.lines[word])


def _is_idiom(term: Term) -> bool:
    """`too long`, which only has stop words, means a limit: a word of the question like others."""
    return " " in term.related_to


def _of_file(path: str) -> float:
    factor = _IN_TESTS if is_in_tests(path) else 1.0
    factor *= _FOREIGN if is_foreign(path) or is_data(path) else 1.0
    return factor * (_OF_CHANGES if is_of_changes(path) else 1.0)


def _weight(unit: Unit, number: int, term: Term) -> float:
    """Titles and definitions say what a place is about; comments say more than code."""
    line = unit.source.lines[number]
    if is_prose(unit.source):
        return (
            _HEADING if is_heading(unit.source.lines, number) or term.is_explained_in(line) else 1.0
        )
    if is_dull(line):
        return _DULL_LINE
    if term.is_called_in(line):
        return _CALLED_SO
    if opens_definition(line) or term.is_defined_in(line):
        return _DEFINITION
    return _REMARK if _COMMENT.match(line) else 1.0


def is_in_path(path: str, term: Term) -> bool:
    """Whether the file's name or its folder has the term. Folders above say little."""
    if term.is_extra:
        return False
    if term.is_path:
        return f"/{path}/".endswith(f"/{term.word}/") or f"/{path}".startswith(f"/{term.word}/")
    near = "/".join(path.split("/")[-2:])
    return term.is_in(near) or (term.word.isupper() and term.is_in(near.upper()))

"""Ranks files by the passages that match a question.

Weights come from measurements on the tuning questions (`oracle eval retrieval --part tuning`), not
from theory. Measure before and after you change one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from oracle.lazy_dataclass import dataclass
from oracle.services.search.catalogue import Catalogue
from oracle.services.search.chunks import MOST_LINES
from oracle.services.search.entries import FileCard
from oracle.services.search.intake import distinctive
from oracle.services.search.passages import (
    Match,
    Passages,
    Phrase,
    Statistics,
    TermsByField,
)
from oracle.services.search.question import Question, read_question
from oracle.services.search.records import Kind, Role
from oracle.services.search.terms import terms_of_word
from oracle.services.search.weights import Weights, weights_for

CANDIDATES: Final = 200
"""Passages that are scored for a question. Bounds the time of a search."""
CARDS: Final = 100
COVERED: Final = 12
"""Files that are ordered again by how much of the question they cover."""
_MOST_DEFINING: Final = 6
"""A name that more files define says little about which of them is meant."""
_CALLED_FILES: Final = 3
"""Only the callers of the best files are added."""
_CALLER_SHARE: Final = 0.5
"""Keeps every caller below every file that the words found."""


class Ranked(NamedTuple):
    """A file with its best passages, best first."""

    card: FileCard
    score: float
    matches: tuple[Match, ...]


@dataclass(frozen=True, kw_only=True)
class Scale:
    """What makes the scores of several indexes comparable: see `rank`."""

    statistics: Statistics
    best: BestScores | None = None


@dataclass(frozen=True, kw_only=True)
class BestScores:
    """The best scores that a question reaches: by passages, by cards and by windows."""

    passages: float = 0.0
    cards: float = 0.0
    windows: float = 0.0

    def __or__(self, other: BestScores) -> BestScores:
        return BestScores(
            passages=max(self.passages, other.passages),
            cards=max(self.cards, other.cards),
            windows=max(self.windows, other.windows),
        )


class _Scored:
    """What a question finds in one index, with the scores of BM25."""

    def __init__(
        self,
        text: str,
        kind: Kind,
        passages: Passages,
        files: Sequence[int] | None,
        among: Statistics | None,
    ) -> None:
        size = among.passages if among else passages.count
        self.weights = weights = weights_for(kind, size)
        self.question = question = _question(text, weights)

        def found(
            terms: TermsByField, limit: int, phrases: Mapping[Phrase, float] | None = None
        ) -> list[Match]:
            # A question about code may be answered by a document, so its search leaves out threads
            # only.
            only = None if kind == "code" else kind
            return passages.search(
                terms, phrases=phrases, kind=only, limit=limit, files=files, among=among
            )

        self.by_file: dict[int, list[Match]] = {}
        terms = _terms_by_field(question, weights)
        for match in found(terms, CANDIDATES, _phrases(question, weights)):
            self.by_file.setdefault(match.file, []).append(match)
        self.cards = found(_card_terms(question), CARDS)
        self.windows: list[Match] = []
        if weights.windows:
            self.windows = found(_window_terms(question, weights), CANDIDATES)
        self.file_scores = {
            file: matches[0].score if len(matches) == 1 else _file_score(matches, weights)
            for file, matches in self.by_file.items()
        }
        self.card_scores = {match.file: match.score for match in self.cards}
        self.window_scores = _window_scores(self.windows, weights)

    @property
    def best(self) -> BestScores:
        return BestScores(
            passages=max(self.file_scores.values(), default=0.0),
            cards=max(self.card_scores.values(), default=0.0),
            windows=max(self.window_scores.values(), default=0.0),
        )

    def scores(self, best: BestScores) -> dict[int, float]:
        """Passages and cards have scores of different size: each becomes a share of its best."""
        scores: dict[int, float] = {}
        _add(scores, self.file_scores, best.passages, 1.0)
        _add(scores, self.card_scores, best.cards, self.weights.card)
        _add(scores, self.window_scores, best.windows, self.weights.windows)
        return scores


def rank(
    text: str,
    kind: Kind,
    catalogue: Catalogue,
    passages: Passages,
    *,
    files: Sequence[int] | None = None,
    scale: Scale | None = None,
) -> list[Ranked]:
    """All files that match, best first. With `files`, only those, ranked among themselves.

    To rank the files of several indexes together, give each the same `scale`: their common
    statistics (`statistics_for`), and the best of their `best_scores`.
    """
    found = _Scored(text, kind, passages, files, scale.statistics if scale else None)
    weights, by_file = found.weights, found.by_file
    scores = found.scores((scale and scale.best) or found.best)
    definitions = _definitions(found.question, catalogue, files) if weights.defining else []
    # After the scores: a file that only its card found is shown with its first lines.
    for match in (*definitions, *found.windows, *found.cards):
        by_file.setdefault(match.file, [match])
    known = catalogue.cards(by_file)
    # Numbers and paths until the order is settled: a common word is in hundreds of files.
    prior = _Priors(found.question, weights)
    order = [
        (-scores.get(number, 0.0) * prior[card.role, card.decides], card.path, number)
        for number, card in known.items()
        if kind != "code" or card.kind != "threads"
    ]
    order.sort()
    if weights.coverage:
        best = _with_coverage(order[:COVERED], found.question, passages, weights.coverage)
        order[:COVERED] = best
    if definitions:
        defining = {match.file for match in definitions}
        order = [
            (score - weights.defining if number in defining else score, path, number)
            for score, path, number in order
        ]
    order.sort()
    # Without a call for each: a named tuple has a function for its fields.
    make: Callable[[Sequence[object]], Ranked] = partial(tuple.__new__, Ranked)  # pyright: ignore[reportUnknownMemberType]
    return [make((known[number], -score, tuple(by_file[number]))) for score, _, number in order]


def statistics_for(text: str, kind: Kind, passages: Passages) -> Statistics:
    """Of the terms that `rank` searches for."""
    # For any size: the sizes of the other indexes are not known yet, and the terms are the same.
    weights = weights_for(kind, passages.count)
    question = _question(text, weights)
    searched = (
        _terms_by_field(question, weights),
        _card_terms(question),
        _window_terms(question, weights),
        {"body": dict.fromkeys(question.sequence, 1.0)},
    )
    terms = {(field, term) for each in searched for field, terms in each.items() for term in terms}
    return passages.statistics(terms)


def best_scores(
    text: str,
    kind: Kind,
    passages: Passages,
    statistics: Statistics,
    *,
    files: Sequence[int] | None = None,
) -> BestScores:
    return _Scored(text, kind, passages, files, statistics).best


def _question(text: str, weights: Weights) -> Question:
    return read_question(text, kin_weight=weights.kin, pair_weight=weights.pairs)


def _with_coverage(
    best: Sequence[tuple[float, str, int]], question: Question, passages: Passages, bonus: float
) -> list[tuple[float, str, int]]:
    """The best files again, with a bonus for having the words of the question in one place.

    In a large project some file has one of the words very often, in its name, or in a rare form.
    The file that is meant has most of them, once, side by side.
    """
    terms = [term for term, weight in question.terms.items() if weight >= 1.0]
    shares = passages.coverage(terms, files=[number for _, _, number in best])
    return [
        (score * (1.0 + bonus * shares.get(number, 0.0)), path, number)
        for score, path, number in best
    ]


def callers(
    ranked: Sequence[Ranked],
    catalogue: Catalogue,
    passages: Passages,
    *,
    limit: int,
    files: Sequence[int] | None = None,
) -> list[Ranked]:
    """Files that use what the best passages define and that the words alone did not find."""
    terms = {
        whole: 1.0
        for each in ranked[:_CALLED_FILES]
        for name in catalogue.names_in(each.card.id, each.matches[0].start, each.matches[0].end)
        if distinctive(name) and len(parts := terms_of_word(name)) > 1
        for whole in parts[:1]
    }
    found = passages.search({"body": terms}, kind="code", limit=CARDS, files=files) if terms else []
    seen = {each.card.id for each in ranked}
    # Reversed, so that of several passages in a file the best one stays.
    first = {match.file: match for match in reversed(found) if match.file not in seen}
    cards = catalogue.cards(first)
    lowest = min((each.score for each in ranked), default=0.0)
    users = [
        Ranked(
            card=cards[number],
            score=_CALLER_SHARE * lowest * match.score / found[0].score,
            matches=(match,),
        )
        for number, match in first.items()
        if number in cards
    ]
    return sorted(users, key=lambda each: (-each.score, each.card.path))[:limit]


def _add(
    scores: dict[int, float], further: Mapping[int, float], best: float, weight: float
) -> None:
    for number, score in further.items():
        scores[number] = scores.get(number, 0.0) + weight * score / (best or 1.0)


def _window_scores(matches: Sequence[Match], weights: Weights) -> dict[int, float]:
    """Each file's best pair of neighbouring passages.

    An answer may lie across the border of two passages. Pairs of them are overlapping windows that
    need no room in the index. They are scored by the plain words of the question alone: fields
    that repeat the text, words of the same meaning and phrases each favour other files.
    """
    by_start = {(match.file, match.start): match.score for match in matches}
    scores: dict[int, float] = {}
    for match in matches:
        following = by_start.get((match.file, match.end + 1), 0.0)
        score = match.score + weights.neighbour * following
        scores[match.file] = max(scores.get(match.file, 0.0), score)
    return scores


def _definitions(
    question: Question, catalogue: Catalogue, files: Sequence[int] | None
) -> list[Match]:
    """Where source code defines the names in the question, if few files do."""
    chosen: list[Match] = []
    for name in question.names:
        found = catalogue.defining(name, limit=CANDIDATES)
        cards = catalogue.cards(file for file, _, _ in found)
        source = [row for row in found if row[0] in cards and cards[row[0]].role == Role.SOURCE]
        if len(found) < CANDIDATES and len(source) <= _MOST_DEFINING:
            chosen += [
                Match(file=file, start=start, end=min(end, start + MOST_LINES), score=1.0)
                for file, start, end in source
                if files is None or file in files
            ]
    return chosen


def _phrases(question: Question, weights: Weights) -> dict[Phrase, float]:
    """Words in the order of the question, such as the text of an error message."""
    words = question.sequence
    return {
        phrase: weight
        for length, weight in weights.phrases.items()
        for at in range(len(words) - length + 1)
        if len(set(phrase := words[at : at + length])) > 1
    }


def _card_terms(question: Question) -> dict[str, dict[str, float]]:
    return {"card": {**question.kin, **question.pairs, **question.terms}}


def _terms_by_field(question: Question, weights: Weights) -> dict[str, dict[str, float]]:
    chosen: dict[str, dict[str, float]] = {}
    for name, share in weights.fields.items():
        chosen[name] = {term: share * weight for term, weight in question.terms.items()}
    # A question that spells out a name is mostly about its definition.
    for term in question.identifiers & chosen["names"].keys():
        chosen["names"][term] += weights.defined
    if weights.area:
        for term in question.area:
            chosen["place"][term] = chosen["place"].get(term, 0.0) + weights.area
    for name, share in weights.kin_fields.items():
        for term, weight in (*question.kin.items(), *question.pairs.items()):
            chosen[name].setdefault(term, share * weight)
    return chosen


def _window_terms(question: Question, weights: Weights) -> dict[str, dict[str, float]]:
    place = {term: weights.window_place * weight for term, weight in question.terms.items()}
    body = {**question.pairs, **question.terms}
    place |= dict.fromkeys(question.area, weights.area)
    return {"body": body, "names": question.pairs, "place": place}


def _file_score(matches: list[Match], weights: Weights) -> float:
    """The best passage, and a share of the next ones: a long file must not win by its length."""
    return matches[0].score + sum(
        share * match.score for share, match in zip(weights.further, matches[1:], strict=False)
    )


class _Priors(dict[tuple[Role, int], float]):
    """A factor for what a file is for, whatever it says: by its role, and whether it decides."""

    def __init__(self, question: Question, weights: Weights) -> None:
        self._question = question
        self._weights = weights

    def __missing__(self, kind: tuple[Role, int]) -> float:
        self[kind] = factor = self._factor(*kind)
        return factor

    def _factor(self, role: Role, decides: int) -> float:
        question, weights = self._question, self._weights
        if question.wants_decision and decides:
            return weights.decisions[decides]
        if role in question.wants:
            return 1.0
        factor = weights.roles.get(role, 1.0)
        return factor**weights.mentioned if role in question.mentions else factor

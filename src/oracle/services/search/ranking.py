"""Ranks files by the passages that match a question.

Weights come from measurements on the tuning questions (`oracle eval retrieval --part tuning`), not
from theory. Measure before and after you change one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.services.search.catalogue import Catalogue
from oracle.services.search.chunks import MOST_LINES
from oracle.services.search.entries import FileCard
from oracle.services.search.intake import distinctive
from oracle.services.search.passages import Match, Passages, Phrase
from oracle.services.search.question import Question, read_question
from oracle.services.search.records import Kind, Role
from oracle.services.search.terms import terms_of_word

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


@dataclass(frozen=True, kw_only=True)
class Weights:
    """How much each field and each kind of file counts. Notes have other weights than code."""

    fields: Mapping[str, float]
    """For the question's own words, by field of a passage."""
    kin_fields: Mapping[str, float]
    """The same for words of the same meaning and for joined neighbours."""
    kin: float = 0.5
    """A word of the same meaning, compared with the word itself."""
    pairs: float = 0.6
    """Two neighbouring words that are one name in the code."""
    defined: float = 0.0
    """Added for a passage that defines a name which the question spells out."""
    defining: float = 0.0
    """Added for a file that defines it, if few do. More than all else together puts it first."""
    area: float = 0.0
    """Added for the terms of "area: text" in the path."""
    phrases: Mapping[int, float] = field(default_factory=lambda: {2: 0.5, 3: 3.0})
    """By length: words that a text has in the order of the question. Three count much more."""
    further: tuple[float, ...] = (0.5, 0.35, 0.25, 0.15, 0.1)
    """The shares of a file's second-best passage and the next ones."""
    roles: Mapping[Role, float] = field(default_factory=dict[Role, float])
    """Factors for files that are not source, unless the question asks for their role."""
    mentioned: float = 0.5
    """The power of that factor if the question only mentions the role."""
    card: float = 0.5
    """The file's card, compared with its passages."""
    windows: float = 0.0
    """Two neighbouring passages by their plain words, compared with the best passages."""
    window_place: float = 0.5
    """The path, compared with the text of a window."""
    neighbour: float = 0.8
    """The share of the second passage of a window."""
    coverage: float = 0.0
    """Added, as a share of its score, for a file of which one passage has all words asked for."""
    decisions: tuple[float, ...] = (1.0, 1.0, 1.0)
    """Factors by `FileCard.decides`, for questions about decisions."""


# Words of the question count most in comments, words of the same meaning in the path.
CODE: Final = Weights(
    fields={"body": 1.0, "names": 0.4, "place": 0.8, "remarks": 1.2},
    kin_fields={"body": 1.0, "names": 0.4, "place": 1.6},
    defined=1.0,
    defining=8.0,
    area=3.0,
    roles={Role.TEST: 0.3, Role.DOCUMENT: 0.4, Role.SETTINGS: 0.7, Role.VENDORED: 0.5},
    card=0.7,
    further=(0.3, 0.2, 0.1),
    windows=0.8,
    window_place=0.7,
    coverage=2.0,
)
# A note is found by what it says. Its headings and path count little here: they are on its card.
NOTES: Final = Weights(
    fields={"body": 1.0, "names": 0.3, "place": 0.3},
    kin_fields={"body": 1.0},
    phrases={2: 0.8, 3: 3.0},
    further=(0.25, 0.12, 0.06),
    card=0.3,
    decisions=(1.0, 2.0, 5.0),
)


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A file with its best passages, best first."""

    card: FileCard
    score: float
    matches: tuple[Match, ...]


def rank(
    text: str,
    kind: Kind,
    catalogue: Catalogue,
    passages: Passages,
    *,
    files: Sequence[int] | None = None,
) -> list[Ranked]:
    """All files that match, best first. With `files`, only those, ranked among themselves."""
    weights = CODE if kind == "code" else NOTES
    question = read_question(text, kin_weight=weights.kin, pair_weight=weights.pairs)
    # A question about code may be answered by a document, so its search leaves out threads only.
    only = None if kind == "code" else kind
    matches = passages.search(
        _terms_by_field(question, weights),
        phrases=_phrases(question, weights),
        kind=only,
        limit=CANDIDATES,
        files=files,
    )
    cards = passages.search(_card_terms(question), kind=only, limit=CARDS, files=files)
    by_file: dict[int, list[Match]] = {}
    for match in matches:
        by_file.setdefault(match.file, []).append(match)
    scores = _scores(by_file, cards, weights)
    windows: list[Match] = []
    if weights.windows:
        terms = _window_terms(question, weights)
        windows = passages.search(terms, kind=only, limit=CANDIDATES, files=files)
        _add(scores, _window_scores(windows, weights), weights.windows)
    definitions = _definitions(question, catalogue, files) if weights.defining else []
    # After the scores: a file that only its card found is shown with its first lines.
    for match in (*definitions, *windows, *cards):
        by_file.setdefault(match.file, [match])
    known = catalogue.cards(by_file)
    ranked = [
        Ranked(
            card=known[number],
            score=scores.get(number, 0.0) * _prior(known[number], question, weights),
            matches=tuple(found),
        )
        for number, found in by_file.items()
        if number in known and (kind != "code" or known[number].kind != "threads")
    ]
    ranked = _in_order(ranked)
    if weights.coverage:
        ranked = _with_coverage(ranked, question, passages, weights.coverage)
    defining = {match.file for match in definitions}
    return _in_order(
        replace(each, score=each.score + weights.defining) if each.card.id in defining else each
        for each in ranked
    )


def _in_order(ranked: Iterable[Ranked]) -> list[Ranked]:
    return sorted(ranked, key=lambda each: (-each.score, each.card.path))


def _with_coverage(
    ranked: list[Ranked], question: Question, passages: Passages, bonus: float
) -> list[Ranked]:
    """The best files again, with a bonus for having the words of the question in one place.

    In a large project some file has one of the words very often, in its name, or in a rare form.
    The file that is meant has most of them, once, side by side.
    """
    best = ranked[:COVERED]
    terms = [term for term, weight in question.terms.items() if weight >= 1.0]
    shares = passages.coverage(terms, files=[each.card.id for each in best])
    for number, each in enumerate(best):
        factor = 1.0 + bonus * shares.get(each.card.id, 0.0)
        best[number] = replace(each, score=each.score * factor)
    return best + ranked[COVERED:]


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
    return _in_order(users)[:limit]


def _scores(
    by_file: Mapping[int, list[Match]], cards: Sequence[Match], weights: Weights
) -> dict[int, float]:
    """Passages and cards have scores of different size: each becomes a share of its best first."""
    scores: dict[int, float] = {}
    _add(scores, {file: _file_score(found, weights) for file, found in by_file.items()}, 1.0)
    _add(scores, {match.file: match.score for match in cards}, weights.card)
    return scores


def _add(scores: dict[int, float], further: Mapping[int, float], weight: float) -> None:
    best = max(further.values(), default=0.0) or 1.0
    for number, score in further.items():
        scores[number] = scores.get(number, 0.0) + weight * score / best


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


def _prior(card: FileCard, question: Question, weights: Weights) -> float:
    """A factor for what the file is for, whatever it says."""
    if question.wants_decision and card.decides:
        return weights.decisions[card.decides]
    if card.role in question.wants:
        return 1.0
    factor = weights.roles.get(card.role, 1.0)
    return factor**weights.mentioned if card.role in question.mentions else factor

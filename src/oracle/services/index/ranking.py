"""From passages that match to files in the order of their worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from oracle.services.index.catalogue import Catalogue, FileCard
from oracle.services.index.passages import Match, Passages
from oracle.services.index.question import Question, read_question
from oracle.services.index.records import Kind, Role

CANDIDATES: Final = 200


@dataclass(frozen=True, kw_only=True)
class Weights:
    """How much each field and each kind of file counts; other figures for notes than for code."""

    fields: Mapping[str, float]
    kin_fields: Mapping[str, float]
    kin: float = 0.35
    pairs: float = 0.6
    further: tuple[float, ...] = (0.25, 0.12, 0.06)
    roles: Mapping[Role, float] = field(default_factory=dict[Role, float])
    decision: float = 1.0


CODE: Final = Weights(
    fields={"body": 1.0, "names": 1.2, "place": 1.6, "remarks": 0.4},
    kin_fields={"body": 1.0, "names": 1.2, "place": 1.6},
    roles={Role.TEST: 0.6, Role.DOCUMENT: 0.6, Role.SETTINGS: 0.7},
)
NOTES: Final = Weights(
    fields={"body": 1.0, "names": 1.5, "place": 1.5, "remarks": 0.8},
    kin_fields={"body": 1.0, "names": 1.5, "place": 1.5},
    decision=1.35,
)


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A file with its best passages, best first."""

    card: FileCard
    score: float
    matches: tuple[Match, ...]


def rank(
    text: str, kind: Kind, catalogue: Catalogue, passages: Passages, weights: Weights | None = None
) -> list[Ranked]:
    weights = weights or (CODE if kind == "code" else NOTES)
    question = read_question(text, kin_weight=weights.kin, pair_weight=weights.pairs)
    matches = passages.search(
        _terms_by_field(question, weights),
        kind=None if kind == "code" else kind,
        limit=CANDIDATES,
    )
    by_file: dict[int, list[Match]] = {}
    for match in matches:
        by_file.setdefault(match.file, []).append(match)
    cards = catalogue.cards(by_file)
    ranked = [
        Ranked(
            card=cards[number],
            score=_file_score(found, weights) * _prior(cards[number], question, weights),
            matches=tuple(found),
        )
        for number, found in by_file.items()
        if number in cards and (kind != "code" or cards[number].kind != "threads")
    ]
    return sorted(ranked, key=lambda each: (-each.score, each.card.path))


def _terms_by_field(question: Question, weights: Weights) -> dict[str, dict[str, float]]:
    chosen: dict[str, dict[str, float]] = {}
    for name, share in weights.fields.items():
        chosen[name] = {term: share * weight for term, weight in question.terms.items()}
    for name, share in weights.kin_fields.items():
        for term, weight in (*question.kin.items(), *question.pairs.items()):
            chosen[name].setdefault(term, share * weight)
    return chosen


def _file_score(matches: list[Match], weights: Weights) -> float:
    """The best passage, and a share of what else the file has to say."""
    return matches[0].score + sum(
        share * match.score for share, match in zip(weights.further, matches[1:], strict=False)
    )


def _prior(card: FileCard, question: Question, weights: Weights) -> float:
    if question.wants_decision and card.decides:
        return weights.decision
    if card.role in question.wants:
        return 1.0
    return weights.roles.get(card.role, 1.0)

"""What a question asks for, as terms with weights."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

from oracle.services.index.records import Role
from oracle.services.index.words import (
    WORD,
    fold,
    noise,
    question_noise,
    stem,
    terms_of_word,
)

MOST_WORDS: Final = 64
LONGEST: Final = 4_000

_ASKS_FOR: Final = {
    Role.TEST: re.compile(r"\b(?:tests?|tested|testing|fixtures?|specs?)\b", re.I),
    Role.DOCUMENT: re.compile(
        r"\b(?:docs?|documentation|documented|readme|changelog|tutorial|guide|examples?|notes?|"
        r"decided?|decisions?|adrs?|contributing)\b",
        re.I,
    ),
    Role.SETTINGS: re.compile(
        r"\b(?:toml|yaml|yml|json|ini|cfg|html|css|makefile|dockerfile|pyproject|templates?)\b",
        re.I,
    ),
}
_ASKS_FOR_DECISION: Final = re.compile(
    r"\b(?:decid\w*|decision\w*|agreed?|adrs?|chose|chosen|choose|rationale|"
    r"why (?:do|did|are) we)\b",
    re.I,
)


@dataclass(frozen=True, kw_only=True)
class Question:
    """`terms`: what must be there. `kin`: words of the same meaning. `pairs`: neighbours joined."""

    terms: dict[str, float]
    kin: dict[str, float]
    pairs: dict[str, float]
    wants: frozenset[Role]
    wants_decision: bool


def read_question(text: str, *, kin_weight: float = 0.35, pair_weight: float = 0.6) -> Question:
    text = text[:LONGEST]
    words = WORD.findall(text)[:MOST_WORDS]
    spoken = [word for word in words if fold(word).lower() not in noise() | question_noise()]
    spoken = spoken or [word for word in words if fold(word).lower() not in noise()] or words
    terms: dict[str, float] = {}
    for word in spoken:
        for term in terms_of_word(word):
            terms[term] = terms.get(term, 0.0) + 1.0
    return Question(
        terms={term: min(weight, 2.0) for term, weight in terms.items()},
        kin=_kin(terms, kin_weight),
        pairs={
            left.lower() + right.lower(): pair_weight
            for left, right in pairwise(word for word in spoken if word.isalpha())
        },
        wants=frozenset(role for role, pattern in _ASKS_FOR.items() if pattern.search(text)),
        wants_decision=bool(_ASKS_FOR_DECISION.search(text)),
    )


def _kin(terms: dict[str, float], weight: float) -> dict[str, float]:
    found: dict[str, float] = {}
    for term in terms:
        for other in kinship().get(term, ()):
            if other not in terms:
                found[other] = max(found.get(other, 0.0), weight)
    return found


@cache
def kinship() -> dict[str, tuple[str, ...]]:
    """From a stem to the stems that the trade uses for the same thing."""
    lines = files("oracle.services.index").joinpath("kinship.txt").read_text("utf-8").splitlines()
    related: dict[str, dict[str, None]] = {}
    for line in lines:
        if line.startswith("#"):
            continue
        group = list(dict.fromkeys(stem(word) for word in line.split()))
        for term in group:
            related.setdefault(term, {}).update(dict.fromkeys(group))
    return {
        term: tuple(other for other in others if other != term) for term, others in related.items()
    }

"""What a question asks for, as terms with weights."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

from oracle.services.project.identifiers import WORD
from oracle.services.questions.word_lists import without_ways_of_asking
from oracle.services.search.records import Role
from oracle.services.search.terms import (
    fold,
    noise,
    question_noise,
    stem,
    terms_of_word,
)

MOST_WORDS: Final = 64
LONGEST: Final = 4_000
_FAINT: Final = 0.1

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
    """`terms`: its words; those that only say how it is asked count faintly. `kin`: words of the
    same meaning. `pairs`: neighbours joined. `identifiers`: terms of whole names such as
    `getUser`. `sequence`: all words in their order.
    """

    terms: dict[str, float]
    kin: dict[str, float]
    pairs: dict[str, float]
    identifiers: frozenset[str]
    sequence: tuple[str, ...]
    wants: frozenset[Role]
    wants_decision: bool


def read_question(text: str, *, kin_weight: float = 0.5, pair_weight: float = 0.6) -> Question:
    text = without_ways_of_asking(text[:LONGEST])
    words = WORD.findall(text)[:MOST_WORDS]
    telling = [word for word in words if fold(word).lower() not in question_noise()]
    terms = Counter(term for word in telling or words for term in terms_of_word(word))
    kin = _kin([*terms, *_joined_stems(words)]) - terms.keys()
    faint = {term for word in words for term in terms_of_word(word)} - terms.keys() - kin
    return Question(
        terms={term: min(count, 2.0) for term, count in terms.items()}
        | dict.fromkeys(sorted(faint), _FAINT),
        kin=dict.fromkeys(sorted(kin), kin_weight),
        pairs={
            left.lower() + right.lower(): pair_weight
            for left, right in pairwise(word for word in telling if _is_plain(word))
        },
        identifiers=frozenset(
            found[0] for word in telling if len(found := terms_of_word(word)) > 1
        ),
        sequence=tuple(found[-1] for word in words if (found := terms_of_word(word))),
        wants=frozenset(role for role, pattern in _ASKS_FOR.items() if pattern.search(text)),
        wants_decision=bool(_ASKS_FOR_DECISION.search(text)),
    )


def _is_plain(word: str) -> bool:
    return word.isalpha() and fold(word).lower() not in noise()


def _joined_stems(words: Sequence[str]) -> Iterator[str]:
    stems = [stem(fold(word).lower()) for word in words]
    return (left + right for left, right in pairwise(stems))


def _kin(terms: Iterable[str]) -> set[str]:
    return {other for term in terms for other in kinship().get(term, ())}


@cache
def kinship() -> dict[str, tuple[str, ...]]:
    """From a stem, or two stems joined, to the terms that developers use for the same thing."""
    lines = files("oracle.services.search").joinpath("kinship.txt").read_text("utf-8").splitlines()
    related: dict[str, dict[str, None]] = {}
    for line in lines:
        if line.startswith("#"):
            continue
        group = line.split()
        for word in group:
            related.setdefault(_as_asked(word), {}).update(dict.fromkeys(map(_as_term, group)))
    return {
        term: tuple(other for other in others if other != term) for term, others in related.items()
    }


def _as_asked(word: str) -> str:
    """`rate_limit` is asked for as "rate limits", and found as the name `rateLimit`."""
    return "".join(map(stem, word.split("_")))


def _as_term(word: str) -> str:
    return word.replace("_", "") if "_" in word else stem(word)

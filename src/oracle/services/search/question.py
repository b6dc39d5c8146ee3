"""What a question asks for, as terms with weights."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.questions.kinship import idioms, kin_groups
from oracle.services.questions.word_lists import without_ways_of_asking
from oracle.services.search.records import Role
from oracle.services.search.terms import (
    TOKEN,
    fold,
    noise,
    question_noise,
    stem,
    terms_of_text,
    terms_of_word,
    whole_name,
)

MOST_WORDS: Final = 64
LONGEST: Final = 4_000
"""Bounds the query. A pasted log would otherwise become thousands of clauses."""
_MOST_NAMES: Final = 8
_FAINT: Final = 0.1
"""The weight of words that only say how it is asked: enough to order hits that are equal."""

_ASKS_FOR: Final = {
    Role.TEST: lazy_pattern(
        r"\b(?:(?:which|what|unit|integration|regression|our) tests?|"
        r"tests? (?:of|for|cover\w*|files?|cases?|suite)|tested|fixtures? (?:of|for)|"
        r"specs? (?:of|for))\b|^tests?: ",
        re.I,
    ),
    Role.DOCUMENT: lazy_pattern(
        r"\b(?:(?:which|what|our|in the) (?:docs?|documentation|example|guide|tutorial|notes?)|"
        r"(?:docs?|documentation|example|guide|tutorial|notes?) (?:of|for|about|on|pages?|say)|"
        r"documented|readme|changelog|decided?|decisions?|adrs?|contributing)\b|^docs?: ",
        re.I,
    ),
    Role.SETTINGS: lazy_pattern(
        r"\b(?:toml|yaml|yml|json|ini|cfg|html|css|makefile|dockerfile|pyproject|templates?)\b",
        re.I,
    ),
}
# These words alone may speak of code: "the test client", "render the documentation".
_MENTIONS: Final = {
    Role.TEST: lazy_pattern(r"\b(?:tests?|testing|fixtures?|specs?)\b", re.I),
    Role.DOCUMENT: lazy_pattern(
        r"\b(?:docs?|documentation|tutorial|guide|examples?|notes?)\b", re.I
    ),
}
_AREA: Final = lazy_pattern(
    r"\s*(?:\w+\((?P<scope>[\w./-]+)\)|(?P<areas>[\w./-]+(?:, ?[\w./-]+){0,3}))!?: +(?=\S)"
)
_NO_AREA: Final = lazy_pattern(r"error|exception|warning|panic|fatal|traceback", re.I)
# A name in backticks, a call, or a name of several parts. A capital alone may begin a sentence.
_SPELLED_OUT: Final = lazy_pattern(
    r"`([A-Za-z_]\w*)(?:\(\))?`|\b([A-Za-z_]\w*)\(|"
    r"\b(_\w+|[A-Za-z]\w*?(?:[a-z0-9][A-Z]|[A-Za-z0-9]_+[A-Za-z0-9])\w*)"
)
_ASKS_FOR_DECISION: Final = lazy_pattern(
    r"\b(?:decid\w*|decision\w*|agreed?|adrs?|chose|chosen|choose|rationale|"
    r"why (?:do|did|are) we)\b",
    re.I,
)


@dataclass(frozen=True, kw_only=True)
class Question:
    """The terms to search for, with their weights, and which files are asked for."""

    terms: dict[str, float]
    """The words. Those that only say how it is asked have a very low weight."""
    kin: dict[str, float]
    """Words of the same meaning, from `kinship.txt`."""
    pairs: dict[str, float]
    """Neighbouring words as one name: "retry policy" is `retrypolicy`."""
    identifiers: frozenset[str]
    """The terms of whole names, such as `getUser`."""
    sequence: tuple[str, ...]
    """The terms of all words in their order, for phrases."""
    area: tuple[str, ...]
    """The terms before the colon in "area: text", as in the subject of a commit: a path."""
    names: tuple[str, ...]
    """The names that are spelled out, as they are written."""
    wants: frozenset[Role]
    mentions: frozenset[Role]
    """Roles whose words are in the question, but which it may not ask for."""
    wants_decision: bool


def read_question(text: str, *, kin_weight: float = 0.5, pair_weight: float = 0.6) -> Question:
    # A name that reads like a way of asking, such as `explain`, may be all that is asked for.
    asked = text[:LONGEST]
    text = without_ways_of_asking(asked)
    words = (TOKEN.findall(text) or TOKEN.findall(asked))[:MOST_WORDS]
    content_words = [word for word in words if fold(word).lower() not in question_noise()]
    terms = Counter(term for word in content_words or words for term in terms_of_word(word))
    kin = _kin([*terms, *_joined_stems(words)]) - terms.keys()
    faint = {term for word in words for term in terms_of_word(word) or [whole_name(word)]}
    faint -= terms.keys() | kin
    return Question(
        # A word said twice counts twice, but a word repeated often does not outweigh the others.
        terms={term: min(count, 2.0) for term, count in terms.items()}
        | dict.fromkeys(sorted(faint), _FAINT),
        kin=dict.fromkeys(sorted(kin), kin_weight),
        pairs={
            left.lower() + right.lower(): pair_weight
            for left, right in pairwise(word for word in content_words if _is_plain(word))
        },
        identifiers=frozenset(
            found[0] for word in content_words if len(found := terms_of_word(word)) > 1
        ),
        sequence=tuple(found[-1] for word in words if (found := terms_of_word(word))),
        area=_area(asked),
        names=tuple(dict.fromkeys(_names(asked)))[:_MOST_NAMES],
        wants=frozenset(role for role, pattern in _ASKS_FOR.items() if pattern.search(asked)),
        mentions=frozenset(role for role, pattern in _MENTIONS.items() if pattern.search(asked)),
        wants_decision=bool(_ASKS_FOR_DECISION.search(text)),
    )


def _area(text: str) -> tuple[str, ...]:
    """Of `fix(parser): …` it is the parser. What names an error is not an area."""
    found = _AREA.match(text)
    if found is None or _NO_AREA.search(found[0]):
        return ()
    return tuple(dict.fromkeys(terms_of_text(found["scope"] or found["areas"]).split()))


def _names(text: str) -> Iterator[str]:
    return (found[found.lastindex or 0] for found in _SPELLED_OUT.finditer(text))


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
    related: dict[str, dict[str, None]] = {}
    for group in kin_groups():
        # Each word is stemmed once: doing it for each pair takes longer than a search.
        terms = {word: _as_term(word) for word in group}
        for word, term in terms.items():
            asked = _as_asked(word) if "_" in word else term
            related.setdefault(asked, {}).update(dict.fromkeys(terms.values()))
    for said, meant in idioms():
        for word in said:
            asked = _as_asked(word) if "_" in word else stem(word)
            related.setdefault(asked, {}).update(dict.fromkeys(map(_as_term, meant)))
    return {
        term: tuple(other for other in others if other != term) for term, others in related.items()
    }


def _as_asked(word: str) -> str:
    """As the words of a question become it: "rate limits" gives the stems of `rate_limit`."""
    return "".join(map(stem, word.split("_")))


def _as_term(word: str) -> str:
    """As it is in the index: `rate_limit` is the whole of the name `rateLimit`."""
    return word.replace("_", "") if "_" in word else stem(word)

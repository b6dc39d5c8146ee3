"""Features from the project's own terms.

The text of a query does not show whether a name in it belongs to the project. A list of the
project's terms does. A term says the more, the fewer files of the project have it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from itertools import islice
from typing import cast

from oracle.models.query_classification import OWN_NAME, QueryType
from oracle.services.classification.lexicon import lexicon
from oracle.services.classification.parsed_query import ParsedQuery
from oracle.services.classification.tokenizer import Token

KnownTerms = Container[str] | Mapping[str, int] | Callable[[str], bool]
"""A mapping also says how many files have a term."""

# Each candidate may be a look-up in the index, so their number is limited.
MOST_CANDIDATES = 60
# Shorter terms match by accident, unless they are the project's own name.
SHORTEST = 3
_SHORTEST_NAME = 2
# Files. A word that more of them define (`run`, `get`, `Config`) is not typical of any.
RARE = 3
THE_PROJECT = "names the project"
ONLY_OURS = "names a thing only we have"
NOTHING_OF_OURS = "nothing in it is ours"
_NEVER = frozenset({"stop", "number", "fence", "emoji"})
# How distinctive a term is: a word that many files have, an everyday word, a name, a name that only
# this project has, the project's own name.
_COMMON, _WORD, _NAME, _OURS, _PROJECT = range(5)
_FEATURES = (
    ("uses a common word of ours",),
    ("uses a word of ours",),
    ("names a thing of ours",),
    ("names a thing of ours", ONLY_OURS),
    ("names a thing of ours", ONLY_OURS, THE_PROJECT),
)


_CODE, _NOTES, _ACTION = QueryType.CODE, QueryType.DOCUMENTATION, QueryType.ACTION
LIKELIER: Mapping[str, Mapping[QueryType, float]] = {
    THE_PROJECT: {_CODE: 100, _NOTES: 100},
    ONLY_OURS: {_CODE: 25, _NOTES: 25},
    "names a thing of ours": {_CODE: 6, _NOTES: 3, _ACTION: 2},
    "uses a word of ours": {_CODE: 3, _ACTION: 1.4},
    "uses a common word of ours": {_CODE: 2, _ACTION: 1.4},
    NOTHING_OF_OURS: {_CODE: 0.5},
}
"""How many times as often queries of a type have a feature as questions about the world have it;
the strongest feature first. Counted with the indexes of a dozen projects, and rounded towards 1,
because other projects differ. Titles of notes are long, so that questions about notes seldom have a
known term: that nothing is known says nothing against them.
"""


def known_features(parsed: ParsedQuery, known_terms: KnownTerms | None) -> set[str]:
    """A known everyday word is weak evidence for a question about the project. A known identifier
    or name is strong evidence. A name that hardly any other project has decides, and so does the
    name of the project. If nothing is known, that is evidence for a question about the world.
    """
    if known_terms is None:
        return set()
    places = _places(known_terms)
    candidates = [*islice(_candidates(parsed), MOST_CANDIDATES)]
    found = {
        feature
        for term, rank in candidates
        if (files := places(term)) is not None and (len(term) >= SHORTEST or files == OWN_NAME)
        for feature in _FEATURES[_weighed(rank, files)]
    }
    return found or ({NOTHING_OF_OURS} if candidates else set())


def _places(known_terms: KnownTerms) -> Callable[[str], int | None]:
    """The number of files that have a term; None if it is not known."""
    if isinstance(known_terms, Mapping):
        return cast("Mapping[str, int]", known_terms).get
    is_known = known_terms if callable(known_terms) else known_terms.__contains__
    return lambda term: 1 if is_known(term) else None


def _weighed(rank: int, files: int) -> int:
    """The rank of a term, lowered if many files have it."""
    if files == OWN_NAME:
        return _PROJECT
    return rank if files <= RARE else max(_COMMON, rank - 1)


def _candidates(parsed: ParsedQuery) -> Iterator[tuple[str, int]]:
    """Terms with their rank. Pairs and triples of words are included: they may be note titles."""
    for place, token in enumerate(parsed.tokens):
        if token.kind in _NEVER or token.word in lexicon().function_words:
            continue
        bare = token.raw.strip("`\"'«»").removesuffix("()")
        rank = _rank(token, bare, begins=place == 0)
        for spelling in dict.fromkeys((bare, bare.lower(), bare.rpartition("/")[2])):
            if len(spelling) >= _SHORTEST_NAME:
                yield spelling, rank
    words = [token.word for token in parsed.tokens if token.kind == "word"]
    for size in (2, 3):
        for start in range(len(words) - size + 1):
            part = words[start : start + size]
            yield " ".join(part), _NAME if any(map(_is_common, part)) else _OURS


def _rank(token: Token, bare: str, *, begins: bool) -> int:
    """The first word of a query has a capital anyway, so that capital does not make it a name."""
    if token.kind == "word" and bare.islower():
        return _WORD
    is_plain = token.kind == "word" and begins and bare[1:].islower()
    return _NAME if is_plain or _is_common(bare.lower()) else _OURS


def _is_common(word: str) -> bool:
    known = lexicon()
    return word in known.function_words or bool(known.of(word))

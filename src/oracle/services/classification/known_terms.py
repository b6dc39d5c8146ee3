"""Features from the project's own terms.

The text of a query does not show whether a name in it belongs to the project. A list of the
project's terms does.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from itertools import islice

from oracle.services.classification.lexicon import lexicon
from oracle.services.classification.parsed_query import ParsedQuery
from oracle.services.classification.tokenizer import Token

KnownTerms = Container[str] | Callable[[str], bool]

# Each candidate may be a look-up in the index, so their number is limited.
MOST_CANDIDATES = 60
# Shorter terms match by accident.
SHORTEST = 3
ONLY_OURS = "names a thing only we have"
_NEVER = frozenset({"stop", "number", "fence", "emoji"})
# How distinctive a term is: an everyday word, a name, a name that only this project has.
_WORD, _NAME, _OURS = range(3)
_FEATURES = (
    ("uses a word of ours",),
    ("names a thing of ours",),
    ("names a thing of ours", ONLY_OURS),
)


def known_features(parsed: ParsedQuery, known_terms: KnownTerms | None) -> set[str]:
    """A known everyday word is weak evidence for a question about the project. A known identifier
    or name is strong evidence. A name that hardly any other project has decides.
    """
    if known_terms is None:
        return set()
    is_known = known_terms if callable(known_terms) else known_terms.__contains__
    return {
        feature
        for term, rank in islice(_candidates(parsed), MOST_CANDIDATES)
        if is_known(term)
        for feature in _FEATURES[rank]
    }


def _candidates(parsed: ParsedQuery) -> Iterator[tuple[str, int]]:
    """Terms with their rank. Pairs and triples of words are included: they may be note titles."""
    for place, token in enumerate(parsed.tokens):
        if token.kind in _NEVER or token.word in lexicon().function_words:
            continue
        bare = token.raw.strip("`\"'«»").removesuffix("()")
        rank = _rank(token, bare, begins=place == 0)
        for spelling in dict.fromkeys((bare, bare.lower(), bare.rpartition("/")[2])):
            if len(spelling) >= SHORTEST:
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

"""Whether a name in the query is ours cannot be seen in the text; a list of our terms can tell."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from itertools import islice

from oracle.services.classification.lexicon import lexicon
from oracle.services.classification.reading import Reading
from oracle.services.classification.text import Token

KnownTerms = Container[str] | Callable[[str], bool]

MOST_CANDIDATES = 60
SHORTEST = 3
ONLY_OURS = "names a thing only we have"
_NEVER = frozenset({"stop", "number", "fence", "emoji"})
_WORD, _NAME, _OURS = range(3)
_FEATURES = (
    ("uses a word of ours",),
    ("names a thing of ours",),
    ("names a thing of ours", ONLY_OURS),
)


def known_features(reading: Reading, known_terms: KnownTerms | None) -> set[str]:
    """A known everyday word is weak evidence, a known identifier or name is strong, and one that
    hardly anybody else has decides.
    """
    if known_terms is None:
        return set()
    is_known = known_terms if callable(known_terms) else known_terms.__contains__
    return {
        feature
        for term, rank in islice(_candidates(reading), MOST_CANDIDATES)
        if is_known(term)
        for feature in _FEATURES[rank]
    }


def _candidates(reading: Reading) -> Iterator[tuple[str, int]]:
    """Terms with how distinctive they are; titles of notes come as two or three words."""
    for place, token in enumerate(reading.tokens):
        if token.kind in _NEVER or token.word in lexicon().function_words:
            continue
        bare = token.raw.strip("`\"'«»").removesuffix("()")
        rank = _rank(token, bare, begins=place == 0)
        for spelling in dict.fromkeys((bare, bare.lower(), bare.rpartition("/")[2])):
            if len(spelling) >= SHORTEST:
                yield spelling, rank
    words = [token.word for token in reading.tokens if token.kind == "word"]
    for size in (2, 3):
        for start in range(len(words) - size + 1):
            part = words[start : start + size]
            yield " ".join(part), _NAME if any(map(_is_common, part)) else _OURS


def _rank(token: Token, bare: str, *, begins: bool) -> int:
    """The first word of a sentence has its capital anyway."""
    if token.kind == "word" and bare.islower():
        return _WORD
    is_plain = token.kind == "word" and begins and bare[1:].islower()
    return _NAME if is_plain or _is_common(bare.lower()) else _OURS


def _is_common(word: str) -> bool:
    known = lexicon()
    return word in known.function_words or bool(known.of(word))

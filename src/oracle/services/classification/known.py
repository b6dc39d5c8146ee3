"""Whether a name in the query is ours cannot be seen in the text; a list of our terms can tell."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from itertools import islice

from oracle.services.classification.lexicon import lexicon
from oracle.services.classification.reading import Reading

KnownTerms = Container[str] | Callable[[str], bool]

MOST_CANDIDATES = 60
SHORTEST = 3
_NEVER = frozenset({"stop", "number", "fence", "emoji"})


def known_features(reading: Reading, known_terms: KnownTerms | None) -> set[str]:
    """A known identifier or name is strong evidence; a known everyday word is weak."""
    if known_terms is None:
        return set()
    is_known = known_terms if callable(known_terms) else known_terms.__contains__
    return {
        "names a thing of ours" if distinct else "uses a word of ours"
        for term, distinct in islice(_candidates(reading), MOST_CANDIDATES)
        if is_known(term)
    }


def _candidates(reading: Reading) -> Iterator[tuple[str, bool]]:
    """Terms with whether they are distinctive; titles of notes come as two or three words."""
    for token in reading.tokens:
        if token.kind in _NEVER or token.word in lexicon().function_words:
            continue
        bare = token.raw.strip("`\"'«»").removesuffix("()")
        distinct = token.kind != "word" or not bare.islower()
        for spelling in dict.fromkeys((bare, bare.lower(), bare.rpartition("/")[2])):
            if len(spelling) >= SHORTEST:
                yield spelling, distinct
    words = [token.word for token in reading.tokens if token.kind == "word"]
    for size in (2, 3):
        for start in range(len(words) - size + 1):
            yield " ".join(words[start : start + size]), True

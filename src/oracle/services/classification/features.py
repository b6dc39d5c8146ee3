"""The features that the linear model weighs: n-grams of words, letters and sketch, and structure.

The names of the groups are keys in `weights.txt`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from oracle.services.classification.parsed_query import ParsedQuery
from oracle.services.classification.structure import structural_features

Features = dict[str, set[str]]

# These limits bound the cost of a query.
MOST_WORDS = 120
LONGEST_WORD, LETTERS = 22, (3, 4)
# In Chinese and Japanese one or two characters are a word.
LONGEST_RUN, SIGNS = 40, (1, 2)


def features(parsed: ParsedQuery) -> Features:
    """The names of the features that the query has, by group."""
    return {**plain_features(parsed), "letters": _letter_ngrams(parsed)}


def plain_features(parsed: ParsedQuery) -> Features:
    """All but the letters. That is half the cost, and enough for an earlier turn."""
    return {
        "evidence": structural_features(parsed),
        "sketch": _sketch_ngrams(parsed),
        "word": _word_ngrams(parsed),
    }


def talk_features(alone: Features) -> set[str]:
    """The short n-grams and the structure again: in a conversation they have other weights."""
    grams = (gram for group in ("sketch", "word") for gram in alone[group])
    return {*alone["evidence"], *(gram for gram in grams if gram.count(" ") < 2)}


def _word_ngrams(parsed: ParsedQuery) -> set[str]:
    words = ["^", *[token.word for token in parsed.tokens[:MOST_WORDS]], "$"]
    return {*words[1:-1], *_ngrams(words, 2), *_ngrams(words, 3)}


def _letter_ngrams(parsed: ParsedQuery) -> set[str]:
    found: set[str] = set()
    for token in parsed.tokens[:MOST_WORDS]:
        if token.kind == "word":
            found.update(_letters_of(f" {token.word} "[:LONGEST_WORD], LETTERS))
        elif token.kind == "cjk":
            found.update(_letters_of(token.raw[:LONGEST_RUN], SIGNS))
    return found


@lru_cache(maxsize=8192)
def _letters_of(word: str, sizes: tuple[int, ...]) -> tuple[str, ...]:
    """Cached, because queries share most of their words."""
    return tuple(word[i : i + size] for size in sizes for i in range(len(word) - size + 1))


def _sketch_ngrams(parsed: ParsedQuery) -> set[str]:
    core = ["^", *parsed.core[:MOST_WORDS], "$"]
    # Several unknown words in a row count as one: only their position says anything.
    symbols = ["^", *[after for before, after in pairwise(core) if not before == after == "w"]]
    return {*symbols, *_ngrams(symbols, 2), *_ngrams(symbols, 3), *_ngrams(symbols, 4)}


def _ngrams(symbols: list[str], size: int) -> Iterator[str]:
    return map(" ".join, zip(*[symbols[start:] for start in range(size)], strict=False))

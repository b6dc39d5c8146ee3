"""What the linear model sees of a reading: n-grams of words, letters and sketch, and evidence."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from oracle.services.classification.evidence import evidence
from oracle.services.classification.reading import Reading

Features = dict[str, set[str]]

MOST_WORDS = 120
LONGEST_WORD, LETTERS = 22, (3, 4)
LONGEST_RUN, SIGNS = 40, (1, 2)


def features(reading: Reading) -> Features:
    """Names of the features that are present, by group."""
    return {**plain_features(reading), "letters": _letter_ngrams(reading)}


def plain_features(reading: Reading) -> Features:
    """Without the letters: enough, and half the cost, for a turn that is only looked back at."""
    return {
        "evidence": evidence(reading),
        "sketch": _sketch_ngrams(reading),
        "word": _word_ngrams(reading),
    }


def talk_features(alone: Features) -> set[str]:
    """The same short n-grams and evidence once more: in a conversation they weigh differently."""
    grams = (gram for group in ("sketch", "word") for gram in alone[group])
    return {*alone["evidence"], *(gram for gram in grams if gram.count(" ") < 2)}


def _word_ngrams(reading: Reading) -> set[str]:
    words = ["^", *(token.word for token in reading.tokens[:MOST_WORDS]), "$"]
    return {*words[1:-1], *_ngrams(words, 2), *_ngrams(words, 3)}


def _letter_ngrams(reading: Reading) -> set[str]:
    found: set[str] = set()
    for token in reading.tokens[:MOST_WORDS]:
        if token.kind == "word":
            found.update(_letters_of(f" {token.word} "[:LONGEST_WORD], LETTERS))
        elif token.kind == "cjk":
            found.update(_letters_of(token.raw[:LONGEST_RUN], SIGNS))
    return found


@lru_cache(maxsize=8192)
def _letters_of(word: str, sizes: tuple[int, ...]) -> tuple[str, ...]:
    """Cached because most words of a query are words of other queries."""
    return tuple(word[i : i + size] for size in sizes for i in range(len(word) - size + 1))


def _sketch_ngrams(reading: Reading) -> set[str]:
    core = ["^", *reading.core[:MOST_WORDS], "$"]
    symbols = ["^", *(after for before, after in pairwise(core) if not before == after == "w")]
    return {*symbols, *(gram for size in (2, 3, 4) for gram in _ngrams(symbols, size))}


def _ngrams(symbols: list[str], size: int) -> Iterator[str]:
    return map(" ".join, zip(*(symbols[start:] for start in range(size)), strict=False))

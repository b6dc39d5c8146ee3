"""The words that a question is searched by: identifiers split, small words left out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_WORD: Final = re.compile(r"[^\W_][\w.]*", re.UNICODE)
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_SMALL_WORDS: Final = """
a an and are as at be but by can could did do does for from get had has have how i if in into is
it its me my no not of on or our she should so that the their them then there these they this to
us was we were what when where which who why will with would you your about all any show tell
find explain please there here also
"""
_SMALL: Final = frozenset(_SMALL_WORDS.split())
_ENDINGS: Final = ("ies", "ing", "ed", "es", "s")
_MOST_TERMS: Final = 24


@dataclass(frozen=True, kw_only=True)
class Term:
    """`text` is lower-case and may be a stem, so it is looked for inside words. `weight` is less
    for a part of an identifier than for a word that was asked for as such.
    """

    text: str
    weight: float


def terms_of(query: str) -> list[Term]:
    """Each once, with its greatest weight; all words where nothing but small ones was asked."""
    weights: dict[str, float] = {}
    words = _WORD.findall(query[:4000])
    asked = [word for word in words if word.lower() not in _SMALL] or words
    for word in asked:
        for text, weight in _terms_of_word(word.strip(".")):
            weights[text] = max(weights.get(text, 0.0), weight)
    return [Term(text=text, weight=weight) for text, weight in weights.items()][:_MOST_TERMS]


def _terms_of_word(word: str) -> list[tuple[str, float]]:
    parts = [part.lower() for part in _PART.findall(word)]
    whole = word.lower()
    if parts == [whole]:
        return [(stem(whole), 1.0)]
    worth = [(stem(part), 0.4) for part in parts if len(part) > 1 and part not in _SMALL]
    return [(whole, 2.0), *worth]


def stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word

"""The long words of a text, in which keys are looked for, and those that are known to hold none.

A key has no blanks. So whatever looks like one lies within a long run of characters without blanks,
and splitting a text at its blanks is far faster than searching it with a pattern. The runs of
programs are names, calls and paths, which come again in many files: each is searched once.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Final

SHORTEST: Final = 15
"""A key of a known service is at least this long."""
_LONGEST_KEPT: Final = 100
"""Longer ones are data, which does not come again."""
_MOST_KEPT: Final = 60_000


# A text is asked for its words several times in a row, and usually stays the same meanwhile.
@lru_cache(maxsize=1)
def long_words(text: str) -> frozenset[str]:
    """What is between blanks, if it is long enough to hold a key."""
    # A set first: most words of a text come more than once.
    return frozenset([word for word in set(text.split()) if len(word) >= SHORTEST])


class Harmless:
    """Words in which one kind of search found nothing, and would find nothing again."""

    def __init__(self) -> None:
        self._words: set[str] = set()

    def others(self, text: str) -> Collection[str]:
        """The long words of a text that must be searched."""
        return long_words(text) - self._words

    def add(self, words: Collection[str]) -> None:
        # Emptying it costs less than keeping track of what was used last, and happens rarely.
        if len(self._words) >= _MOST_KEPT:
            self._words = set()
        self._words.update(word for word in words if len(word) <= _LONGEST_KEPT)

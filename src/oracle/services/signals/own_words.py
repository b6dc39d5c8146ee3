"""Our own texts as words, so that a response that repeats them is recognised.

Words are compared without case and punctuation, and white space does not count. So a repetition is
recognised in bold, as a list, or with other line ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

MOST_PLACES: Final = 8
"""A phrase that our texts repeat more often is compared at its first places only."""
_PUNCTUATION: Final = "*_\"'`.,;:!?()[]{}<>#-–—…“”‘’|/\\"
_WORD: Final = re.compile(r"\S+")


def bare(word: str) -> str:
    """Empty for a bullet, a row of dashes, or other punctuation."""
    return word.strip(_PUNCTUATION).casefold()


class Match(NamedTuple):
    """The words of a text up to here are those before `words[end]`."""

    words: Sequence[str]
    end: int


class OwnWords:
    """The words of some texts, one after the other, and the places of each three of them."""

    __slots__ = ("_places", "firsts", "initials", "pairs", "words")

    def __init__(self, texts: Iterable[str], no_start: tuple[str, ...] = ()) -> None:
        """In a line that begins with one of `no_start`, no match starts; it may go on there."""
        self.words: list[str] = []
        self.firsts: set[str] = set()
        self.pairs: set[tuple[str, str]] = set()
        self._places: dict[tuple[str, str, str], list[int]] = {}
        starts: list[int] = []
        for text in texts:
            for line in text.splitlines():
                begin = len(self.words)
                self.words += filter(None, map(bare, _WORD.findall(line)))
                if not (no_start and line.startswith(no_start)):
                    starts += range(begin, len(self.words))
            # Two texts do not follow each other: nothing is equal to this.
            self.words.append("")
        for at in starts:
            self._index(at)
        self.initials = frozenset(word[0] for word in self.firsts)

    def _index(self, at: int) -> None:
        three = self.words[at : at + 3]
        if len(three) < 3 or not all(three):
            return
        first, second, third = three
        self.firsts.add(first)
        self.pairs.add((first, second))
        places = self._places.setdefault((first, second, third), [])
        if len(places) < MOST_PLACES:
            places.append(at + 3)

    def places_of(self, first: str, second: str, third: str) -> list[Match]:
        return [Match(self.words, at) for at in self._places.get((first, second, third), ())]


class OwnText:
    """All that is ours in one request: the prompt, which many runs share, and what was added."""

    __slots__ = ("_parts",)

    def __init__(self, *parts: OwnWords) -> None:
        self._parts = parts

    def has_initial(self, letter: str) -> bool:
        return any(letter in part.initials for part in self._parts)

    def matches(self, words: Sequence[str]) -> list[Match] | None:
        """Where these words are; None if they are nowhere. One or two words are not placed yet."""
        if len(words) == 1:
            return [] if any(words[0] in part.firsts for part in self._parts) else None
        if len(words) == 2:
            pair = (words[0], words[1])
            return [] if any(pair in part.pairs for part in self._parts) else None
        found = [match for part in self._parts for match in part.places_of(*words[:3])]
        for word in words[3:]:
            found = followed(found, word)
        return found or None


def followed(matches: Iterable[Match], word: str) -> list[Match]:
    """The matches that this word continues."""
    return [Match(words, end + 1) for words, end in matches if words[end] == word]


def may_be_followed(matches: Iterable[Match], beginning: str) -> bool:
    """Whether a word with this beginning continues a match."""
    return any(words[end].startswith(beginning) for words, end in matches if words[end])


@lru_cache(maxsize=64)
def words_of_prompt(prompt: str, tools: tuple[str, ...]) -> OwnWords:
    """The words of a composed prompt. An answer may list the tools, so no match starts there."""
    return OwnWords([prompt], tuple(f"- `{name}{mark}" for name in tools for mark in "(`"))


@lru_cache(maxsize=256)
def words_of_messages(texts: tuple[str, ...]) -> OwnWords:
    """Mostly the same from turn to turn."""
    return OwnWords(texts)

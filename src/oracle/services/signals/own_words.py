"""Our own texts as words, so that a response that repeats them is recognised.

Words are compared without case and punctuation, and white space does not count. So a repetition is
recognised in bold, as a list, or with other line ends.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from oracle.patterns import lazy_pattern

MOST_PLACES: Final = 8
"""A phrase that our texts repeat more often is compared at its first places only."""
COMMON_OPENINGS: Final = frozenset(
    {"it is", "this is", "that is", "there is", "there are", "the answer"}
)
"""Answers begin so too. They are not held back for the sake of a sentence of ours that does."""
_PUNCTUATION: Final = "*_\"'`.,;:!?()[]{}<>#-–—…“”‘’|/\\"
_WORD: Final = lazy_pattern(r"\S+")
_SENTENCE_END: Final = lazy_pattern(r"[.!?:][\"')*_\]]*\Z")


def bare(word: str) -> str:
    """Empty for a bullet, a row of dashes, or other punctuation."""
    return word.strip(_PUNCTUATION).casefold()


class Match(NamedTuple):
    """The words of a text up to here are those before `words[end]`."""

    words: Sequence[str]
    end: int


class OwnWords:
    """The words of some texts, one after the other, and the places where a sentence starts."""

    __slots__ = ("_places", "_starts", "words")

    def __init__(self, texts: Iterable[str], no_start: tuple[str, ...] = ()) -> None:
        """In a line that begins with one of `no_start`, no match starts; it may go on there."""
        self.words: list[str] = []
        starts: list[int] = []
        for text in texts:
            for line in text.splitlines():
                may_start = not (no_start and line.startswith(no_start))
                is_start = True
                for token in _WORD.findall(line):
                    if word := bare(token):
                        if is_start and may_start:
                            starts.append(len(self.words))
                        self.words.append(word)
                        is_start = _SENTENCE_END.search(token) is not None
            # Two texts do not follow each other: nothing is equal to this.
            self.words.append("")
        self._places: dict[str, list[int]] = {}
        for at in starts:
            three = self.words[at : at + 3]
            if len(three) == 3 and all(three) and " ".join(three[:2]) not in COMMON_OPENINGS:
                places = self._places.setdefault(" ".join(three), [])
                if len(places) < MOST_PLACES:
                    places.append(at + 3)
        self._starts = sorted(self._places)

    def has_start(self, beginning: str) -> bool:
        """Whether a sentence has this beginning."""
        at = bisect_left(self._starts, beginning)
        return at < len(self._starts) and self._starts[at].startswith(beginning)

    def places_of(self, three: str) -> list[Match]:
        return [Match(self.words, at) for at in self._places.get(three, ())]


class OwnText:
    """All that is ours in one request: the prompt, which many runs share, and what was added."""

    __slots__ = ("_parts",)

    def __init__(self, *parts: OwnWords) -> None:
        self._parts = parts

    def may_start(self, words: Sequence[str], last: str) -> bool:
        """Whether a sentence of ours may start with these words and then a word that begins so."""
        if len(words) >= 3:
            return may_be_followed(self.matches(words) or (), last)
        beginning = " ".join([*words, last])
        return any(part.has_start(beginning) for part in self._parts)

    def matches(self, words: Sequence[str]) -> list[Match] | None:
        """Where these words are; None if they are nowhere. One or two words are not placed yet."""
        if len(words) < 3:
            beginning = " ".join([*words, ""])
            return [] if any(part.has_start(beginning) for part in self._parts) else None
        three = " ".join(words[:3])
        found = [match for part in self._parts for match in part.places_of(three)]
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

"""The shipped half of o200k's vocabulary, read only as far as it is looked up.

The file has the words in groups: those with the same first two characters. Most texts need a tenth
of the groups, and to make a set of all 100,000 words would take longer than to answer a question.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

_BETWEEN_GROUPS, _BETWEEN_WORDS = "\x0f", "\x0e"
MARKS = "".join(map(chr, range(0x0E, 0x20)))
"""Control characters that are reserved for the file: words that contain them are left out."""


class Group(NamedTuple):
    words: frozenset[str]
    longest: int


class Vocabulary:
    """A group begins with what its words have in common, then come the rests of the words."""

    def __init__(self, packed: bytes) -> None:
        self._groups = zlib.decompress(packed).decode().split(_BETWEEN_GROUPS)
        self._read: dict[str, Group] = {}

    def like(self, word: str) -> Group:
        """The words with the same first two characters; for a single character, only itself."""
        start = word[:2]
        if start not in self._read:
            self._read[start] = self._group(start)
        return self._read[start]

    def words(self) -> list[str]:
        starts = (group.partition(_BETWEEN_WORDS)[0] for group in self._groups)
        return sorted(word for start in starts for word in self.like(start).words)

    def _group(self, start: str) -> Group:
        mark = start + _BETWEEN_WORDS
        place = bisect_left(self._groups, mark)
        if place == len(self._groups) or not self._groups[place].startswith(mark):
            return Group(frozenset(), 1)
        words = [start + rest for rest in self._groups[place][len(mark) :].split(_BETWEEN_WORDS)]
        return Group(frozenset(words), max(map(len, words)))


def pack(words: Iterable[str]) -> bytes:
    """What `Vocabulary` reads: the same bytes for the same words."""
    groups = (
        _BETWEEN_WORDS.join([start, *(word[2:] for word in group)])
        for start, group in groupby(sorted(words), key=lambda word: word[:2])
    )
    return zlib.compress(_BETWEEN_GROUPS.join(sorted(groups)).encode(), 9)

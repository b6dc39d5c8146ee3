"""The words of a text, by which it is known what cannot be in it, without searching all of it.

A key has no blanks and none of most signs, so it lies within one word. And what is recognised by
the text around it has a mark, such as `password` or `://`, of which a part lies within one word.
The words of programs are names, calls and paths, which come again in many files: each is looked at
once only. What the words cannot rule out is searched in the text itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final

SHORTEST: Final = 15
"""A key of a known service is at least this long."""
_LONGEST_KEPT: Final = 100
"""Longer words are data, which does not come again."""
_MOST_KEPT: Final = 60_000
_MOST_CHARACTERS: Final = 2_000_000
_SIGNS: Final = "_+/=.:~$%@|!?&\\-"
"""What keys of known services have besides letters and digits."""
_APART: Final = {
    code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) in _SIGNS)
}
_APART_BYTES: Final = bytes(ord(_APART.get(code, chr(code))) for code in range(256))
_SHORTEST_PART: Final = 2
"""A shorter part of a mark is in every text."""


# A text is asked for its words several times in a row, and usually stays the same meanwhile.
@lru_cache(maxsize=1)
def words_in(text: str) -> frozenset[str]:
    """What is between blanks and signs that no key has."""
    if text.isascii():
        return frozenset(text.translate(_APART).split())
    # As bytes: a single letter that is not ASCII makes translating a text many times slower.
    apart = text.encode("utf-8", "surrogatepass").translate(_APART_BYTES)
    return frozenset(apart.decode("utf-8", "surrogatepass").split())


@lru_cache(maxsize=1)
def long_words(text: str) -> frozenset[str]:
    """Those that are long enough to hold a key."""
    return frozenset([word for word in words_in(text) if len(word) >= SHORTEST])


@lru_cache(maxsize=1)
def folded_like(text: str) -> str:
    """In lower case, with every character in its place."""
    # This is the only letter that becomes two.
    return text.replace("İ", "i").lower()


class Harmless:
    """Words in which one kind of search found nothing, and would find nothing again."""

    def __init__(self) -> None:
        self._words: set[str] = set()

    def others(self, text: str) -> Collection[str]:
        """The long words of a text that must be searched."""
        return long_words(text) - self._words

    def add(self, words: Iterable[str]) -> None:
        # Emptying it costs less than keeping track of what was used last, and happens rarely.
        if len(self._words) >= _MOST_KEPT:
            self._words = set()
        self._words.update([word for word in words if len(word) <= _LONGEST_KEPT])


class Marks:
    """Finds out which of some marks, in lower case, a text has.

    A mark with blanks or signs between words is judged by its longest part first.
    """

    def __init__(self, marks: Iterable[str]) -> None:
        self._by_part: dict[str, set[str]] = {}
        # Those that are not known by a part alone, and those that have no part that tells anything.
        self._in_parts: set[str] = set()
        self._always: set[str] = set()
        for mark in marks:
            part = max(mark.translate(_APART).split(), key=len, default="")
            if len(part) < _SHORTEST_PART:
                self._always.add(mark)
            else:
                self._by_part.setdefault(part, set()).add(mark)
                if part != mark:
                    self._in_parts.add(mark)
        # Where `pass` is not, `password` need not be looked for.
        self._by_root: dict[str, list[str]] = {}
        for part in sorted(self._by_part, key=len):
            root = next((root for root in self._by_root if root in part), part)
            self._by_root.setdefault(root, []).append(part)
        self._having: dict[str, set[str]] = {}
        self._without: set[str] = set()
        self._kept = 0
        # A text is asked for twice in a row.
        self._last: tuple[str, AbstractSet[str]] = ("", set())

    def of(self, text: str) -> AbstractSet[str]:
        """All that are in the text, whatever the case of letters."""
        text_before, found_before = self._last
        if text is text_before:
            return found_before
        found = self._of(text)
        self._last = (text, found)
        return found

    def _of(self, text: str) -> AbstractSet[str]:
        left = words_in(text) - self._without
        found = [marks for word in left if (marks := self._having.get(word))]
        if len(found) < len(left):
            new = left.difference(self._having)
            having = self._looked_at(new)
            self._keep(new, having)
            found += having.values()
        possible = set[str]().union(*found)
        in_parts = (possible & self._in_parts) | self._always
        folded = folded_like(text)
        return possible - in_parts | {mark for mark in in_parts if mark in folded}

    def _looked_at(self, words: Iterable[str]) -> dict[str, set[str]]:
        """Of these words, those that have marks."""
        # Searched together: there are many marks, and few of them are in any word.
        joined = "\n".join(words)
        folded = folded_like(joined)
        having: dict[str, set[str]] = {}
        for part in self._parts_in(folded):
            place = folded.find(part)
            while place >= 0:
                start, end = folded.rfind("\n", 0, place) + 1, folded.find("\n", place)
                end = len(folded) if end < 0 else end
                having.setdefault(joined[start:end], set()).update(self._by_part[part])
                place = folded.find(part, end)
        return having

    def _parts_in(self, folded: str) -> Iterator[str]:
        for root, parts in self._by_root.items():
            if root in folded:
                yield from parts

    def _keep(self, words: AbstractSet[str], having: dict[str, set[str]]) -> None:
        # By their length together: very long words are data, which does not come again.
        self._kept += sum(map(len, words))
        if self._kept > _MOST_CHARACTERS:
            self._having, self._without, self._kept = {}, set(), 0
        self._having.update(having)
        self._without.update(words - having.keys())

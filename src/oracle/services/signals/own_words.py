"""Our own texts as words, so that a response that repeats them is recognised.

Words are compared without case, punctuation and characters without a width, and white space does
not count. So a repetition is recognised in bold, as a list, or with other line ends.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from oracle.patterns import lazy_pattern

MOST_PLACES: Final = 8
"""A phrase that our texts repeat more often is compared at its first places only."""
COMMON_OPENINGS: Final = frozenset(
    {"it is", "this is", "that is", "there is", "there are", "the answer"}
)
"""Answers begin so too. They are not held back for the sake of a sentence of ours that does."""
_PUNCTUATION: Final = "*_\"'`.,;:!?()[]{}<>#-–—…“”‘’|/\\"
_PLAIN: Final = lazy_pattern(
    rf"[\w \t{re.escape(_PUNCTUATION.replace('`', '').replace('<', ''))}]+"
)
"""Part of a line without code or tags, of which `bare` takes nothing but punctuation."""
_UNSEEN: Final = lazy_pattern("[\u00ad\u200b-\u200f\u2060\ufeff]")
"""Characters without a width. A terminal leaves them out."""
WORD: Final = lazy_pattern(r"\S+")
_LONGEST_WORD: Final = 60
_LAST_WORDS: Final = 4
_LEAST_SKIPPED: Final = 80
"""Characters. Of a shorter text too little is left to be worth a look."""
_SENTENCE_END: Final = lazy_pattern(r"[.!?:][\"')*_\]]*\Z")


def bare(word: str) -> str:
    """Empty for a bullet, an arrow, a row of dashes, or other punctuation."""
    if word.isalpha():
        return word.casefold()
    word = (word if word.isascii() else _UNSEEN.sub("", word)).strip(_PUNCTUATION)
    if word and not (word[0].isalnum() and word[-1].isalnum()):
        seen = [at for at, character in enumerate(word) if character.isalnum()]
        word = word[seen[0] : seen[-1] + 1] if seen else ""
    return word.casefold()


class Match(NamedTuple):
    """The words of a text up to here are those before `words[end]`."""

    words: Sequence[str]
    end: int


class OwnWords:
    """The words of some texts, one after the other, and the places of three in a row."""

    __slots__ = ("_places", "_starts", "first_words", "threes", "words")

    def __init__(self, texts: Iterable[str], no_start: tuple[str, ...] = ()) -> None:
        """In a line that begins with one of `no_start`, no match starts; it may go on there."""
        self.words: list[str] = []
        starts: list[int] = []
        inside: list[int] = []
        for text in texts:
            for line in text.splitlines():
                may_start = not (no_start and line.startswith(no_start))
                is_start = True
                for token in WORD.findall(line):
                    if word := bare(token):
                        if may_start:
                            (starts if is_start else inside).append(len(self.words))
                        self.words.append(word)
                        is_start = _SENTENCE_END.search(token) is not None
            # Two texts do not follow each other: nothing is equal to this.
            self.words.append("")
        self.threes = self._after_three([*starts, *inside])
        self._places = self._after_three(starts)
        for three in [t for t in self._places if t.rpartition(" ")[0] in COMMON_OPENINGS]:
            del self._places[three]
        self._starts = sorted(self._places)
        self.first_words = frozenset(three.partition(" ")[0] for three in self._starts)

    def _after_three(self, places: Iterable[int]) -> dict[str, list[int]]:
        """By the three words that begin there: the places after them."""
        found: dict[str, list[int]] = {}
        for at in places:
            three = self.words[at : at + 3]
            if len(three) == 3 and all(three):
                known = found.setdefault(" ".join(three), [])
                if len(known) < MOST_PLACES:
                    known.append(at + 3)
        return found

    def has_start(self, beginning: str) -> bool:
        """Whether a sentence has this beginning."""
        at = bisect_left(self._starts, beginning)
        return at < len(self._starts) and self._starts[at].startswith(beginning)

    def places_of(self, three: str) -> list[Match]:
        """Where a sentence begins with these words."""
        return [Match(self.words, at) for at in self._places.get(three, ())]

    def anywhere(self, three: str) -> list[Match]:
        return [Match(self.words, at) for at in self.threes.get(three, ())]


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

    def may_start_with(self, word: str) -> bool:
        """Whether a sentence of ours starts with this whole word. Nearly no other one does."""
        for part in self._parts:  # noqa: SIM110 - asked for each sentence of a response
            if word in part.first_words:
                return True
        return False

    def has_none_of(self, threes: Collection[str]) -> bool:
        """Whether none of these is anywhere."""
        return all(part.threes.keys().isdisjoint(threes) for part in self._parts)

    def anywhere(self, three: str) -> list[Match] | None:
        """Where these three words are, also in the middle of a sentence; None if nowhere."""
        for part in self._parts:
            if three in part.threes:
                return [match for each in self._parts for match in each.anywhere(three)]
        return None


class PassedWords:
    """The last words of a line that were passed on, to notice when they are words of ours.

    In the middle of a line text is not held back for a word or two that could be ours: nearly every
    word could. Three in a row are rare.
    """

    __slots__ = ("_last", "_own", "_part", "matches")

    def __init__(self, own: OwnText) -> None:
        self._own = own
        self._part = ""
        self._last = ("", "")
        self.matches: list[Match] = []

    def forget(self) -> None:
        self._part, self._last = "", ("", "")

    def skip(self, text: str) -> int:
        """Where the last words of a long text begin, if nothing before them can be ours; else 0.

        What is before them is followed: as by `follow`, but compared all at once. The last words
        are left to the caller, as more text must decide about a sentence that begins among them.
        One that begins before them has three whole words or more.
        """
        if len(text) < _LEAST_SKIPPED or _PLAIN.fullmatch(text) is None:
            return 0
        head, *last = text.rsplit(None, _LAST_WORDS)
        if len(last) < _LAST_WORDS:
            return 0
        words = head.casefold().split()
        if not head[0].isspace():
            words[0] = (self._part.casefold() + words[0])[:_LONGEST_WORD]
        elif self._part:
            words.insert(0, self._part.casefold())
        part = words.pop()
        told = [*self._last]
        if words:
            # The first one may have begun in another text, which was not plain.
            told += filter(None, [bare(words[0]), *[w.strip(_PUNCTUATION) for w in words[1:]]])
        # Of the last word, only the beginning may be there.
        row = [*told, *filter(None, map(bare, [part, *last[:-1]]))]
        if not self._own.has_none_of({*map(" ".join, zip(row, row[1:], row[2:], strict=False))}):
            return 0
        self._last, self._part = (told[-2], told[-1]), part
        return len(head)

    def follow(self, text: str) -> int | None:
        """Where the third of three words of ours ends; the text after it is not followed then."""
        if not text:
            return None
        pieces = text.split()
        # The number of the first piece, counted in `text`: 0 if it ended before.
        first = 1
        if pieces and not text[0].isspace():
            pieces[0] = (self._part + pieces[0])[:_LONGEST_WORD]
        elif self._part:
            pieces.insert(0, self._part)
            first = 0
        # The next piece of text may go on with the last word.
        self._part = "" if text[-1].isspace() else pieces.pop()
        for number, piece in enumerate(pieces, start=first):
            if word := bare(piece):
                first, second = self._last
                self._last = second, word
                if first and (matches := self._own.anywhere(f"{first} {second} {word}")):
                    self.matches, self._part = matches, ""
                    return _end_of_word(text, number)
        return None


def _end_of_word(text: str, number: int) -> int:
    """Counted from 1; 0 is a word that ended before the text."""
    return next(islice(WORD.finditer(text), number - 1, None)).end() if number else 0


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

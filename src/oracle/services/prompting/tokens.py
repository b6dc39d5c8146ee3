"""Estimates the tokens of a text without the tokenizer.

The estimate is between 1.0 and 1.25 times the count of the o200k tokenizer, usually about 1.1. A
budget based on it ends a little early, never late.

Text is split into pieces with o200k's own pattern. A piece in the shipped half of the vocabulary is
one token. For any other piece the cost is a guess: it is split into known parts, but the half that
is not shipped would join some of those parts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from itertools import groupby

from oracle.patterns import lazy_pattern
from oracle.services.prompting.vocabulary import Vocabulary

_MARGIN = 1.08
"""Raises every estimate, so that it is never below the real count."""

_COST_OF_FURTHER_PART = 0.86
"""With the margin, a piece of two parts costs two tokens: 1.08 · (1 + 0.86) ≈ 2."""

_COST_OF_UNKNOWN_CHARACTER = 2.3
"""A character outside of the vocabulary has two to four bytes, and each may be a token."""

_LONGEST_PART = 24
"""Characters. Limits the search in a long run without spaces."""

_LONGEST_REMEMBERED = 40
_MOST_REMEMBERED = 100_000
"""Limits of the caches: long chunks rarely return, and the memory of a server is finite."""

TOKENS_OF_THE_DENSEST_CHARACTER = 2.5
"""No character adds more to an estimate: one outside of the vocabulary, with the margin."""

_LONGEST_PIECE = 500
"""Characters without a break after which a growing text is counted as if there were one."""

_CHUNK = lazy_pattern(r"[^\S\r\n]?\S+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
"""A word with the space before it and the line ends after it. No piece crosses the end of a chunk,
so chunks can be counted separately, and cached.
"""

_BOUNDARY = lazy_pattern(r"(?<=\S)(?=[^\S\r\n])|(?<=[\r\n])(?=\S)")
"""Between a word and a blank, or a line end and a word: no chunk crosses this, whatever follows."""

_ENGLISH = lazy_pattern(r"[\x00-\x7f\u2000-\u206f]*")
_LATIN = lazy_pattern(r"[\x00-\u02ff\u2000-\u206f]*")
_PUNCTUATION = range(0x2000, 0x2070)


def estimate_tokens(text: str) -> int:
    return round(_MARGIN * _cost(text))


class GrowingEstimate:
    """The estimated tokens of a text that grows, however it arrives.

    Only the end is counted again, so a text may be measured often. A long run without a space is
    counted in pieces, which makes the estimate a little higher.
    """

    __slots__ = ("_counted", "_new", "_tail")

    def __init__(self) -> None:
        self._counted = 0.0
        self._tail = ""
        self._new: list[str] = []

    def add(self, text: str) -> None:
        self._new.append(text)

    @property
    def tokens(self) -> float:
        self._settle(self._tail + "".join(self._new))
        return _MARGIN * (self._counted + _cost(self._tail))

    def _settle(self, text: str) -> None:
        """Count what cannot change any more, whatever follows."""
        self._new.clear()
        *words, tail = _BOUNDARY.split(text)
        self._counted += sum(_cost(piece) for word in words for piece in _pieces(word))
        *settled, self._tail = _pieces(tail)
        self._counted += sum(map(_cost, settled))


def _pieces(word: str) -> list[str]:
    """A word in pieces of the same places, wherever a measurement came between them."""
    starts = range(0, max(1, len(word)), _LONGEST_PIECE)
    return [word[start : start + _LONGEST_PIECE] for start in starts]


def _cost(text: str) -> float:
    return sum(map(_chunk_costs().__getitem__, _CHUNK.findall(text)))


class _ChunkCosts(dict[str, float]):
    """A cache of short chunks, because most words occur again. When full, it is emptied."""

    def __missing__(self, chunk: str) -> float:
        pattern = _pattern_for(chunk)
        cost = sum(map(_piece_costs().__getitem__, pattern.findall(chunk)))
        if len(chunk) <= _LONGEST_REMEMBERED:
            if len(self) >= _MOST_REMEMBERED:
                self.clear()
            self[chunk] = cost
        return cost


class _PieceCosts(dict[str, float]):
    """A piece of the shipped vocabulary costs 1. Any other is split into parts. Costs are kept."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def __missing__(self, piece: str) -> float:
        cost = 1
        if piece not in self._vocabulary.like(piece).words:
            cost += _COST_OF_FURTHER_PART * (self._parts(piece) - 1)
        if len(piece) <= _LONGEST_REMEMBERED:
            if len(self) >= _MOST_REMEMBERED:
                self.clear()
            self[piece] = cost
        return cost

    def _parts(self, piece: str) -> float:
        """Take the longest known part from the left until nothing is left, and count."""
        count: float = 0
        start = 0
        while start < len(piece):
            words, longest = self._vocabulary.like(piece[start : start + 2])
            end = min(start + min(longest, _LONGEST_PART), len(piece))
            while end > start + 1 and piece[start:end] not in words:
                end -= 1
            is_known = end > start + 1 or piece[start] in self._vocabulary.like(piece[start]).words
            count += 1 if is_known else _COST_OF_UNKNOWN_CHARACTER
            start = end
        return count


@cache
def _chunk_costs() -> _ChunkCosts:
    return _ChunkCosts()


@cache
def _piece_costs() -> _PieceCosts:
    packed = files("oracle.services.prompting").joinpath("o200k_common.z").read_bytes()
    return _PieceCosts(Vocabulary(packed))


def _pattern_for(chunk: str) -> re.Pattern[str]:
    """o200k's pattern, for the characters of the chunk. It compiles the faster, the fewer there
    are: for all of them it takes a tenth of a second.
    """
    if chunk.isascii() or _ENGLISH.fullmatch(chunk):
        return _pattern_below(0x80)
    return _pattern_below(0x300 if _LATIN.fullmatch(chunk) else 0x10000)


@cache
def _pattern_below(most: int) -> re.Pattern[str]:
    """Unicode categories are written as ranges, because `re` has no names for them."""
    return _pattern(_ranges_by_category(sorted({*range(most), *_PUNCTUATION})))


def _pattern(ranges: Mapping[str, str]) -> re.Pattern[str]:
    def of(*categories: str) -> str:
        return "".join(ranges.get(category, "") for category in categories)

    caseless = of("Lm", "Lo", "Mn", "Mc", "Me")
    upper, lower = of("Lu", "Lt") + caseless, of("Ll") + caseless
    number = of("Nd", "Nl", "No")
    letter_or_number = of("Lu", "Lt", "Ll", "Lm", "Lo") + number
    before = rf"[^\r\n{letter_or_number}]?"
    contraction = r"(?:'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL]))?"
    return re.compile(
        rf"{before}[{upper}]*[{lower}]+{contraction}"
        rf"|{before}[{upper}]+{contraction}"
        rf"|[{number}]{{1,3}}"
        rf"| ?[^\s{letter_or_number}]+[\r\n/]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    )


def _ranges_by_category(codes: Iterable[int]) -> dict[str, str]:
    """The ranges of characters in each Unicode category.

    Only the basic plane is used: letters beyond it are too rare to matter.
    """
    ranges: dict[str, str] = {}
    for category, run in groupby(map(chr, codes), unicodedata.category):
        characters = list(run)
        span = f"\\u{ord(characters[0]):04x}-\\u{ord(characters[-1]):04x}"
        ranges[category] = ranges.get(category, "") + span
    return ranges

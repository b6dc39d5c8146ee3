"""Turns text into terms: each name as a whole and in parts, without accents, stemmed.

`HTTPServerError` gives `http`, `server`, `error` and `httpservererror`; `get_user` and `getUser`
are the same whole. A part that is too short to be searched for, such as a digit, still belongs to
the whole: `fn_3_7` is `fn37`. Each word is split once and cached: a project repeats its words.

A version or a date is one term, with what it belongs to: `14.0.2` is also `14.0`, and `2026-02-03`
is also `2026-02` and `2026`. Neither is `14` or `02`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, TypeVar

from oracle.patterns import lazy_pattern
from oracle.services.project.identifiers import PART

if TYPE_CHECKING:
    from tantivy import TextAnalyzer

_LONGEST_PART: Final = 40
"""A longer part is data, such as a hash or an encoded file, and nobody searches for it."""
_LONGEST_WHOLE: Final = 3 * _LONGEST_PART
_MOST_DIGITS: Final = 5
"""Long enough for ports, years and error codes. Longer numbers are data."""
TOKEN: Final = lazy_pattern(r"(?=\w)(?:\d{4}-\d\d(?:-\d\d)?(?!\w)|[vV]?\d+(?:\.\d+)+|\w+)")
"""A word, a version or a date."""
_NUMBERS: Final = lazy_pattern(r"\d[.-]\d")
_AROUND_NUMBERS: Final = lazy_pattern(r"(?<!\w)[vV]?\d+[.-]\d[\w.-]*")
_NO_WORD_SIGNS: Final = {
    code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")
}
_MOST_CACHED: Final = 120_000
_MOST_PAIRS: Final = 400

Value = TypeVar("Value")


class WordCache(dict[str, Value]):
    """A dict that computes what it does not have. A hit costs one look-up and no call.

    Half of its room is for words that were used since it was full the last time. The other half is
    for those from before: they come back one by one, when they are used again.
    """

    def __init__(self, compute: Callable[[str], Value]) -> None:
        super().__init__()
        self._compute = compute
        self._earlier: dict[str, Value] = {}

    def __missing__(self, word: str) -> Value:
        value = self._earlier.get(word)
        if value is None:
            value = self._compute(word)
        if len(self) >= _MOST_CACHED // 2:
            self._earlier = dict(self)
            self.clear()
        self[word] = value
        return value


def terms_of_text(text: str) -> str:
    """All terms of a text, in order and repeated as often as they occur, joined by blanks."""
    return terms_of(words_of(text))


def words_of(text: str) -> list[str]:
    """What `TOKEN` finds. All but versions and dates is split, which is faster."""
    if not text.isascii():
        return TOKEN.findall(text)
    if not _NUMBERS.search(text):
        return text.translate(_NO_WORD_SIGNS).split()
    words: list[str] = []
    done = 0
    for found in _AROUND_NUMBERS.finditer(text):
        words += text[done : found.start()].translate(_NO_WORD_SIGNS).split()
        words += TOKEN.findall(found[0])
        done = found.end()
    return words + text[done:].translate(_NO_WORD_SIGNS).split()


def terms_of(words: Iterable[str]) -> str:
    return " ".join(map(_terms.__getitem__, words))


def terms_of_names(names: Iterable[str]) -> str:
    """The terms of defined names. Each has at least one, even `x`, `get` or a name like a hash."""
    found = ([name] if _is_word(name) else TOKEN.findall(name) for name in names)
    return " ".join(terms_of(words).strip() or " ".join(map(whole_name, words)) for words in found)


def _is_word(name: str) -> bool:
    return name.isidentifier() and name.isascii()


def terms_of_word(word: str) -> list[str]:
    return _terms[word].split()


def whole_name(word: str) -> str:
    """The one term of a name that has no other."""
    return "".join(PART.findall(fold(word))).lower()[:_LONGEST_WHOLE] or word[:_LONGEST_WHOLE]


def _terms_of(word: str) -> str:
    if "." in word or "-" in word:
        return " ".join(_terms_of_number(word))
    pieces = PART.findall(fold(word))
    terms = [found for piece in pieces if (found := _terms_of_part[piece.lower()])]
    # One part alone has several terms only if it is cut into pairs of letters.
    is_several = len(pieces) > 1 or any(" " in term for term in terms)
    # The whole comes first: callers take the first of several terms for the whole name.
    if is_several and len(word) <= _LONGEST_WHOLE:
        terms.insert(0, whole_name(word))
    return " ".join(terms)


def _terms_of_number(word: str) -> Iterator[str]:
    """The whole comes first. A longer number is data."""
    if len(word) > _LONGEST_PART:
        return
    mark = "." if "." in word else "-"
    pieces = word.lstrip("vV").split(mark)
    yield mark.join(pieces)
    if mark == ".":
        if len(pieces) > 2:
            yield ".".join(pieces[:2])
    else:
        yield from ("-".join(pieces[:count]) for count in range(len(pieces) - 1, 0, -1))


_terms = WordCache(_terms_of)
_terms_of_part = WordCache(
    lambda part: " ".join(
        term for piece in _pieces(part) if piece not in noise() and (term := _stemmed(piece))
    )
)


def fold(word: str) -> str:
    """Without accents, so that `Größe` is found as `grosse` and `café` as `cafe`."""
    if word.isascii():
        return word
    plain = unicodedata.normalize("NFKD", word.replace("ß", "ss"))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def _pieces(part: str) -> Iterator[str]:
    """The part, if it is worth a term. Scripts without blanks are cut into pairs of letters."""
    part = part.lower()
    if part.isdigit():
        if 1 < len(part) <= _MOST_DIGITS:
            yield part
    # Thai (U+0E00) and the scripts after it are cut: many have no blanks between words.
    elif part.isascii() or part[0] < "\u0e00":
        if 1 < len(part) <= _LONGEST_PART:
            yield part
    elif len(part) <= 2:
        yield part
    else:
        yield from (part[at : at + 2] for at in range(min(len(part), _MOST_PAIRS) - 1))


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    return _stemmed(word)


def _stemmed(word: str) -> str:
    return (_stemmer().analyze(word) or [""])[0]


@cache
def noise() -> frozenset[str]:
    """Words that say nothing about what a piece of code is for."""
    return frozenset(_listed("noise.txt"))


@cache
def question_noise() -> frozenset[str]:
    """Words that say nothing in a question, though they may in code."""
    return frozenset(_listed("question_noise.txt"))


def _listed(name: str) -> Iterable[str]:
    text = files("oracle.services.search").joinpath(name).read_text("utf-8")
    return (word for line in text.splitlines() if line[:1] != "#" for word in line.split())


@cache
def _stemmer() -> TextAnalyzer:
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    builder = TextAnalyzerBuilder(Tokenizer.raw())
    return builder.filter(Filter.lowercase()).filter(Filter.stemmer("english")).build()

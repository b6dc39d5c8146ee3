"""The words of a question as terms, each with a pattern and a weight."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.questions.search_words import SearchWords, bare_name, short_stem
from oracle.services.quoting.kinds_of_lines import is_definition
from oracle.services.quoting.quotation import Quotation

_PAIR_WEIGHT: Final = 0.4
_KIN_WEIGHT: Final = 0.5
# The place between two words of a CamelCase name.
_HUMP: Final = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, kw_only=True, slots=True)
class Term:
    """Something to look for in a line. An extra term, such as a pair of neighbouring words, adds to
    the score of a line, but nothing is missing without it. `related_to` is set for words that may
    mean the same as a word of the question: they count only where that word is not.
    """

    word: str
    pattern: re.Pattern[str]
    weight: float
    is_name: bool = False
    is_path: bool = False
    is_extra: bool = False
    related_to: str = ""

    @property
    def core(self) -> str:
        """Its text: what lacks it, in any case of letters, does not match the pattern. Empty for an
        extra term.
        """
        if self.is_extra:
            return ""
        if self.is_name:
            return bare_name(self.word)
        return _stem(self.word)[0] if self.word.isalpha() else self.word

    def is_in(self, line: str) -> bool:
        if self.pattern.search(line):
            return True
        if self.is_name:
            return False
        # Most lines have no such names, and need not be searched a second time.
        parts = split_humps(line)
        return parts != line and self.pattern.search(parts) is not None

    def is_defined_in(self, line: str) -> bool:
        return not self.is_extra and is_definition(line, bare_name(self.word))

    def is_called_in(self, line: str) -> bool:
        """Whether the line defines exactly this word: `def crontab(` for "crontab"."""
        return not self.is_extra and is_definition(line, bare_name(self.word), exactly=True)

    def is_explained_in(self, line: str) -> bool:
        """Whether prose says what it is: `**Threads** are logs of decisions`."""
        if self.is_extra or self.is_path or not self.word.isalpha():
            return False
        return bool(_explanation_of(self.word).search(line))


@lru_cache(maxsize=512)
def _explanation_of(word: str) -> re.Pattern[str]:
    stem = re.escape(short_stem(word))
    return re.compile(
        rf"(?:^|[.:*|-] ?\W{{0,3}}|\b(?:an?|the) ){stem}\w{{0,4}}\W{{0,3}} "
        r"(?:is|are|means?) (?:an?|the|what|where|how|\w+s\b)",
        re.I,
    )


# Each term looks at each line, so a line is split once and not once for each term.
@lru_cache(maxsize=8192)
def split_humps(line: str) -> str:
    """`SignalStreamParser` is read as `Signal_Stream_Parser`."""
    return _HUMP.sub("_", line)


def terms_for(words: SearchWords, sources: Sequence[Quotation]) -> list[Term]:
    """Names count more. A word that is in most of the sources counts little."""
    found: list[Term] = []
    for word in words.all:
        is_name = word in words.names
        pattern = _pattern(word, is_name=is_name)
        is_path = word in words.paths
        term = Term(word=word, pattern=pattern, weight=1.0, is_name=is_name, is_path=is_path)
        weight = _rarity(term, sources) * words.weight_of(word)
        found.append(replace(term, weight=weight))
    pairs = [_pair_term(pair) for pair in words.pairs]
    weighed = [replace(pair, weight=_PAIR_WEIGHT * _rarity(pair, sources)) for pair in pairs]
    extras = [REASON] if words.asks_why else []
    extras += [DECISION] if words.asks_what_was_decided else []
    extras += [VALUE] if words.asks_for_a_value else []
    return [*found, *weighed, *extras, *_related_terms(words, sources)]


def _related_terms(words: SearchWords, sources: Sequence[Quotation]) -> list[Term]:
    """A term for each word or idiom that has kin. A name means only itself."""
    terms = [
        Term(
            word=f"~{word}",
            pattern=_any_of(kin),
            weight=_KIN_WEIGHT * words.weight_of(word),
            is_extra=True,
            related_to=word,
        )
        for word, kin in words.kin
    ]
    return [replace(term, weight=term.weight * _rarity(term, sources)) for term in terms]


@lru_cache(maxsize=512)
def _any_of(kin: tuple[str, ...]) -> re.Pattern[str]:
    forms = ("[ _-]?".join(short_stem(part) for part in word.split("_")) for word in kin)
    return lazy_pattern(rf"(?<![^\W_])(?:{'|'.join(forms)})", re.I)


def without_doubles(terms: Sequence[Term]) -> list[Term]:
    """The terms of one place, without kin of words that are there themselves."""
    there = {term.word for term in terms}
    return [term for term in terms if term.related_to not in there]


def _rarity(term: Term, sources: Sequence[Quotation]) -> float:
    having = sum(any(map(term.is_in, (s.path, *s.lines))) for s in sources)
    return math.log2(2 + len(sources) / (1 + having))


def _pattern(word: str, *, is_name: bool) -> re.Pattern[str]:
    """Compiled where it is needed: for most words, a search for the mere text says enough."""
    if is_name:
        return lazy_pattern(rf"(?<!\w){re.escape(bare_name(word))}(?!\w)")
    if not word.isalpha():
        # `9.0` is neither in `19.0` nor in `9.0.1`, and `v5` not in `rev50`.
        begins = r"(?<![\w.])v?" if word[:1].isdigit() else r"(?<![^\W_])"
        ends = r"(?!\d)(?!\.\d)" if word[-1:].isdigit() else ""
        return lazy_pattern(rf"{begins}{re.escape(word)}{ends}", re.I)
    # At the start of a word or after an underscore: `retry` is found in `max_retries`.
    stem, end = _stem(word)
    return lazy_pattern(rf"(?<![^\W_]){re.escape(stem)}{end}", re.I)


def _stem(word: str) -> tuple[str, str]:
    """The stem, and a pattern for its last letter: `bodies` is the plural of `body`."""
    stem = short_stem(word)
    return (stem[:-1], "[iy]") if word.endswith("ies") and stem.endswith("i") else (stem, "")


REASON: Final = Term(
    word="why",
    pattern=lazy_pattern(
        r"\b(?:because|reasons?|so that|in order to|decided|decision|instead of|rather than"
        r"|since it"
        r"|motivat\w+|inspired|alternative to|the goal|why|designed to|avoids?|therefore)\b",
        re.I,
    ),
    weight=1.5,
    is_extra=True,
)


VALUE: Final = Term(
    word="value",
    pattern=lazy_pattern(
        r"\bdefaults?\b.{0,60}(?:\d|`[^`]+`|[\"'][^\"']+[\"']|\b(?:true|false|none|null|nil)\b)"
        r"|(?<![=!<>])=\s*(?:-?\d|true\b|false\b|none\b|null\b|[\"']\S|\w+\(\w*=?-?\d)"
        r"|:\s*(?:-?\d|true\b|false\b|null\b|[\"']\S)"
        r"|\b(?:is|of|to|least|most|than|after|within|every) `?\d",
        re.I,
    ),
    weight=1.2,
    is_extra=True,
)
"""In a line that gives a value. A question for a default or a limit is answered by a value."""


DECISION: Final = Term(
    word="decided",
    pattern=lazy_pattern(
        r"\b(?:we (?:will|chose|choose|use|keep)|decided|agreed|settled|decisions?)\b", re.I
    ),
    weight=1.5,
    is_extra=True,
)


def _pair_term(pair: tuple[str, str]) -> Term:
    one, other = (re.escape(short_stem(word)) for word in pair)
    pattern = lazy_pattern(rf"(?<![^\W_]){one}[^\W_]{{0,8}}[\s_.-]{{1,2}}{other}", re.I)
    return Term(word=" ".join(pair), pattern=pattern, weight=_PAIR_WEIGHT, is_extra=True)

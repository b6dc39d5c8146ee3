"""Whether a heading says the same as a question: `How many workers?`, or only `Workers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.questions.search_words import short_stem
from oracle.services.questions.word_lists import STOP_WORDS
from oracle.services.quoting.terms import Term

_WORD: Final = lazy_pattern(r"[^\W_]+")
_AS_A_QUESTION: Final = 3
"""Words of a heading that is a question. It has words such as `how many` as well."""


class Asked:
    """A question as the words that a heading may repeat."""

    def __init__(self, question: str, terms: Sequence[Term]) -> None:
        self._words = set(map(_plain, _WORD.findall(question)))
        self._needed = [term for term in terms if not term.is_extra and term.weight > 0.5]

    def is_said_by(self, heading: str) -> bool:
        """Whether the question has all words of the heading, and the heading is a question too or
        has all words that matter.
        """
        words = [word.lower() for word in _WORD.findall(heading)]
        telling = [word for word in words if word not in STOP_WORDS]
        if not telling or not self._words or not self._has(telling):
            return False
        is_question = len(words) >= _AS_A_QUESTION and self._has(words)
        return is_question or all(term.is_in(heading) for term in self._needed)

    def _has(self, words: Sequence[str]) -> bool:
        return self._words.issuperset(map(_plain, words))


def _plain(word: str) -> str:
    return short_stem(word.lower())

"""Has the conversation moved on to something else?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

RECENT_EXCHANGES: Final = 3
LONGEST_READ: Final = 4_000
FEW_WORDS: Final = 5

_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_LEANS_BACK: Final = re.compile(
    r"(?i)\b(?:it|its|that|this|those|these|they|them|he|she|there|same|also|again|instead|why|"
    r"and|then|but|so|ok|okay|thanks|thank|yes|no|more|above|previous|earlier|you (?:said|wrote))\b"
)
_COMMON: Final = frozenset(
    "the and for are was were does did how what when where which who why can could should would "  # noqa: SIM905
    "will have has had not with from into about our your you use used using work works any all "
    "there their this that these those then than them they get gets set make makes please tell "
    "show find code file files project function class".split()
)


def is_topic_shift(query: str, history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the query shares nothing with the last exchanges and does not lean on them."""
    if not history:
        return False
    asked = _content_words(query)
    if len(asked) < FEW_WORDS and _LEANS_BACK.search(query):
        return False
    if not asked:
        return False
    said = " ".join(
        f"{exchange['question']} {exchange['answer'][:LONGEST_READ]}"
        for exchange in history[-RECENT_EXCHANGES:]
    )
    return asked.isdisjoint(_content_words(said))


def _content_words(text: str) -> set[str]:
    """Stems, roughly: the first letters of each word that carries meaning."""
    words = {word.lower() for word in _WORD.findall(text)} - _COMMON
    return {word[:5] for word in words}

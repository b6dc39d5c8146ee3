"""Texts that stop in the middle of a sentence, although nothing says that they were cut.

Some providers report a response that was cut as whole, and some models just stop. Only clear cases
count: people end lists, headings and commands without a full stop.
"""

from __future__ import annotations

import re
from typing import Final

from oracle.patterns import lazy_pattern

_FENCE: Final = lazy_pattern(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_ITEM: Final = lazy_pattern(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_NOT_PROSE: Final = lazy_pattern(r"\s*(?:#|\||>|\$|— |-- |\[\^?\w+\]:)")
_CLOSING: Final = "*_`\"'”’»)] "
"""What may come after the last word of a sentence, or after its full stop."""
_ENDS: Final = lazy_pattern(r"[.!?…。！？]$")
_DOUBLE: Final = lazy_pattern(r"``.*?``")
_GOES_ON: Final = lazy_pattern(r"[,;(\[{]$|(?:^|\s)[-–]$")
_OPEN_WORD: Final = lazy_pattern(
    r"(?<=\s)(?:the|an?|of|to|and|or|but|with|for|from|by|at|into|that|which|because|if|than|its"
    r"|is|are|was|were|will|can|der|die|das|und|oder|mit|von|für|ist|sind|le|la|les|de|et|ou)$",
    re.IGNORECASE,
)
_SENTENCE_BEFORE: Final = lazy_pattern(r"\w[*_`\"'”’»)\]]*[.!?](?:\s|$)")
_PLAIN_WORD: Final = lazy_pattern(r"(?:^|\s)[A-Za-zÀ-ɏ]+$")
_FEWEST_WORDS: Final = 5
"""A shorter line may be a name, a title or a greeting."""
_FEWEST_ITEMS: Final = 2


def stops_in_mid_sentence(text: str) -> bool:
    """Whether the last sentence, inline code or code block of a text has no end."""
    text = text.rstrip()
    if len(_FENCE.findall(text)) % 2:
        return True
    before, _, last = text.rpartition("\n")
    if not last or _FENCE.match(last) or _NOT_PROSE.match(last):
        return False
    if _DOUBLE.sub("", last).count("`") % 2:
        return True
    bare = last.rstrip(_CLOSING)
    if _ENDS.search(bare):
        return False
    if _GOES_ON.search(last) or _OPEN_WORD.search(last):
        return True
    if not _PLAIN_WORD.search(last) or len(last.split()) < _FEWEST_WORDS:
        return False
    if _ITEM.match(last):
        return _items_end_with_a_stop(before)
    return bool(_SENTENCE_BEFORE.search(text))


def _items_end_with_a_stop(before: str) -> bool:
    items = [line.rstrip(_CLOSING) for line in before.splitlines() if _ITEM.match(line)]
    return len(items) >= _FEWEST_ITEMS and all(map(_ENDS.search, items))

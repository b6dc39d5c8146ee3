"""Cutting text into words, and names into their parts. This is the one tokenizer.

`HTTPServerError`, `http_server_error` and `httpServerError` all have the parts http, server and
error. The index goes further (`search/terms.py`): it folds accents and stems each part.
"""

from __future__ import annotations

import re
from typing import Final

WORD: Final = re.compile(r"\w+")
PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_ENDINGS: Final = ("ies", "ing", "ed", "es", "s")


def parts_of(text: str) -> list[str]:
    """The parts of all names in a text, in lower case and in their order."""
    return [part.lower() for part in PART.findall(text)]


def without_ending(word: str) -> str:
    """What relatives of a word begin with: `caches` and `caching` both give `cach`.

    A stem of the index cannot be used for this. `retri`, the stem of `retries`, is not how `retry`
    begins.
    """
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word

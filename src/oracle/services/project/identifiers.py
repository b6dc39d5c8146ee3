"""Splits text into words, and names into their parts. This is the one tokenizer.

`HTTPServerError`, `http_server_error` and `httpServerError` all have the parts http, server and
error. The index goes further (`search/terms.py`): it folds accents and stems each part.
"""

from __future__ import annotations

from typing import Final

from oracle.patterns import lazy_pattern

WORD: Final = lazy_pattern(r"\w+")
# Capitals that no small letter follows (`HTTP` in `HTTPServer`), a word with or without a capital,
# digits, or letters that are not ASCII.
PART: Final = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_ENDINGS: Final = ("ies", "ing", "ed", "es", "s")


def parts_of(text: str) -> list[str]:
    """The parts of all names in a text, in lower case and in their order."""
    return [part.lower() for part in PART.findall(text)]


def without_ending(word: str) -> str:
    """The beginning that forms of a word share: `caches` and `caching` both give `cach`.

    The stems of the index do not serve for this: `retry` does not begin with `retri`, the stem of
    `retries`.
    """
    for ending in _ENDINGS:
        # At least four letters stay: `ring` is not a form of `r`.
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word

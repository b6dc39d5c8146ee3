"""What a file defines, and where it explains itself: the one way to recognise definitions.

Python is read from its tokens, most languages by a grammar, a few by patterns.
"""

from __future__ import annotations

from oracle.services.search.grammar_outline import grammar_outline
from oracle.services.search.languages import PARSED, language_of
from oracle.services.search.pattern_outline import PATTERNS, pattern_outline
from oracle.services.search.python_outline import python_outline
from oracle.services.search.symbols import Outline


def outline_of(text: str, path: str, source: bytes | None = None) -> Outline:
    """Empty for prose, for unknown languages, and for a file that takes too long to parse.

    `source` are the bytes of the text, if they are known.
    """
    language = language_of(path)
    if language == "python":
        return python_outline(text)
    if language in PARSED:
        encoded = text.encode("utf-8", "replace") if source is None else source
        return grammar_outline(encoded, language) or Outline()
    if language in PATTERNS:
        return pattern_outline(text, language)
    return Outline()

"""What a file defines, and where its comments are. This is the one way to recognise definitions.

Python is read from its tokens, most languages by a grammar, a few by patterns.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.search.grammar_pool import outline_by_grammar
from oracle.services.search.languages import PARSED, language_of
from oracle.services.search.pattern_outline import PATTERNS, pattern_outline
from oracle.services.search.python_outline import python_outline
from oracle.services.search.symbols import Outline

_OPENED: Final = {"(": ")", "[": "]", "{": "}"}
_BRACKET: Final = lazy_pattern(r"[()\[\]{}]")
_ENDED_BY_A_WORD: Final = ("ruby", "lua")
_WORD_OPENS: Final = lazy_pattern(
    r"^[ \t]*(?:local[ \t]+)?(?:module|class|def|function|if|unless|while|for|begin|case)\b"
    r"|\bdo\b(?:[ \t]*\|[^|\n]{0,80}\|)?[ \t]*$",
    re.MULTILINE,
)
_WORD_CLOSES: Final = lazy_pattern(r"\bend\b")


def outline_of(text: str, path: str, source: bytes | None = None) -> Outline:
    """Empty for prose, for unknown languages, and for a file that takes too long to parse.

    `source` are the bytes of the text, if they are known.
    """
    language = language_of(path)
    if language == "python":
        return python_outline(text)
    if language in PARSED:
        encoded = text.encode("utf-8", "replace") if source is None else source
        return outline_by_grammar(encoded, language) or Outline()
    if language in PATTERNS:
        return pattern_outline(text, language)
    return Outline()


def outline_of_part(text: str, path: str) -> Outline:
    """The outline of some lines of a file.

    Blocks that the lines leave open are closed first: a grammar does not recognise a class that has
    no end.
    """
    language = language_of(path)
    if language not in PARSED or language == "python":
        return outline_of(text, path)
    if language in _ENDED_BY_A_WORD:
        open_words = len(_WORD_OPENS.findall(text)) - len(_WORD_CLOSES.findall(text))
        return _within(text, outline_of(text + "\nend" * open_words, path))
    return _within(text, outline_of(f"{text}\n{_closing(text)}", path))


def _within(text: str, outline: Outline) -> Outline:
    """Without what begins in the lines that close the text: a grammar may see names there."""
    last = text.count("\n") + 1
    symbols = [replace(each, end=min(each.end, last)) for each in outline.symbols]
    remarks = [(start, min(end, last)) for start, end in outline.remarks]
    return Outline(
        symbols=[each for each in symbols if each.start <= last],
        remarks=[each for each in remarks if each[0] <= last],
    )


def _closing(text: str) -> str:
    """The missing brackets. Those in strings count too: a few wrong ones do little harm."""
    opened: list[str] = []
    for bracket in _BRACKET.findall(text):
        if bracket in _OPENED:
            opened.append(bracket)
        elif opened and _OPENED[opened[-1]] == bracket:
            opened.pop()
    return "".join(_OPENED[bracket] for bracket in reversed(opened))

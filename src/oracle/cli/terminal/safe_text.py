"""Makes text from models, files and databases safe to show: it cannot steer a terminal.

Characters are judged one by one, so a sequence that is cut into pieces is as harmless as a whole
one: without its ESC, the rest is plain text.
"""

from __future__ import annotations

from typing import Final
from unicodedata import category

from oracle.patterns import lazy_pattern

MOST_MARKS: Final = 8
"""Combining marks on one letter. More would cover the lines above and below."""

_KNOWN_PLAIN: Final = lazy_pattern(r"[\n\t\x20-\x7e]*")
_MAY_STACK: Final = lazy_pattern(rf"[^\x00-\u02ff]{{{MOST_MARKS + 1}}}")
_INVISIBLE: Final = frozenset(
    {
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0),
        *range(0x180B, 0x1810),
        *range(0xFE00, 0xFE0E),
        *range(0xFFF0, 0xFFF9),
        *range(0xE0000, 0xE1000),
    }
)
"""Code points that Unicode says to ignore, beyond those of the category Cf.

U+FE0E and U+FE0F are not here: they choose between text and emoji.
"""
_MOST_CACHED: Final = 5_000


class _Replacements(dict[int, int | str | None]):
    """A table for `str.translate`, filled with the characters that are met."""

    def __missing__(self, code: int) -> int | str | None:
        found = _replacement(code)
        # Bounded, because a hostile text could hold every character there is.
        if len(self) < _MOST_CACHED:
            self[code] = found
        return found


def _replacement(code: int) -> int | str | None:
    """What to show for a character: itself, something else, or nothing."""
    char, kind = chr(code), category(chr(code))
    if char in "\n\t":
        return code
    if kind == "Cs":  # half of a pair, or a byte of a file name that is not UTF-8
        return "\ufffd"
    if kind in ("Cc", "Zl", "Zp"):
        # Words that a carriage return or a line separator keeps apart must stay apart.
        return " " if char.isspace() else None
    if kind == "Cf" or code in _INVISIBLE:
        return None
    return code


_replacements: Final = _Replacements()


def safe_text(text: str) -> str:
    """The text without characters that control a terminal, reorder text or are invisible.

    Line ends and tabs are kept. A character that cannot be encoded becomes U+FFFD.

    >>> safe_text("red \\x1b[31m, title \\x1b]0;x\\x07, back\\x08space")
    'red [31m, title ]0;x, backspace'
    """
    if _KNOWN_PLAIN.fullmatch(text):
        return text
    safe = text.replace("\r\n", "\n").translate(_replacements)
    return _unstacked(safe) if _MAY_STACK.search(safe) else safe


def printable(text: str) -> str:
    """Safe text on one line, with single blanks."""
    return " ".join(safe_text(text).split())


def _unstacked(text: str) -> str:
    kept: list[str] = []
    marks = 0
    for char in text:
        marks = marks + 1 if category(char) in ("Mn", "Me") else 0
        if marks <= MOST_MARKS:
            kept.append(char)
    return "".join(kept)

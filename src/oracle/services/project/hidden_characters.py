"""What a text looks like to a person: without escape codes and characters that nobody sees.

A terminal's colour codes and invisible characters can stand inside a key or beside it. A pattern
for the key would not match there, but the key can be used by everybody who reads the text.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from oracle.patterns import lazy_pattern

_INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_CONTROLS: Final = "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
_HIDDEN: Final = lazy_pattern(
    # Colours and other commands to a terminal, also as `cat -v`, JSON and programs write them.
    r"(?:\x1b\[|\x9b|(?:\\(?:033|[xX]1[bB]|[uU]001[bB]|[eE])|\^\[|\u241b)\[)"
    r"[0-?]{0,60}+[ -/]{0,9}+[@-~]"
    # A title of a window or the address of a link.
    r"|\x1b[\]PX^_][^\x07\x1b\n]{0,2000}+(?:\x07|\x1b\\)?"
    r"|\x1b[ -/]{0,9}+[0-~]"
    # Bold and underlined text of manual pages: a letter, one step back, and a letter again.
    r"|[^\n\x08]\x08"
    rf"|[{_CONTROLS}{_INVISIBLE}]"
)
_ANY: Final = lazy_pattern(f"[{_CONTROLS}{_INVISIBLE}]")
SPELLED: Final = ("033[", "1b[", "1B[", "\\e[", "\\E[", "^[[", "\u241b[")
_PLAIN: Final = bytes([9, 10, 11, 12, 13, *range(32, 127)])


def visible(text: str, marks: Container[str] = SPELLED) -> str:
    """The same lines without escape codes and invisible characters.

    `marks` has those of `SPELLED` that the text has, in lower case.
    """
    return _HIDDEN.sub("", text) if _has_hidden(text, marks) else text


def _has_hidden(text: str, marks: Container[str]) -> bool:
    # For plain ASCII this is several times faster than a pattern.
    if text.isascii():
        is_plain = not text.encode("ascii").translate(None, _PLAIN)
    else:
        is_plain = _ANY.search(text) is None
    return not is_plain or any(mark.lower() in marks and mark in text for mark in SPELLED)

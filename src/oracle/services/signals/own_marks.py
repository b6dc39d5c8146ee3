"""What only we write: the tags of our messages, the frames of tool results, and our notes."""

from __future__ import annotations

import re
from typing import Final

from oracle.patterns import lazy_pattern

_NAMES: Final = "system_message|project_facts"
TAG: Final = lazy_pattern(rf"<(/?)({_NAMES})(?:[\s>]|/>)", re.I | re.A)
TAG_BEGINNINGS: Final = frozenset(
    f"{mark}{name}/"[:length]
    for mark in ("<", "</")
    for name in _NAMES.split("|")
    for length in range(1, len(f"{mark}{name}/") + 1)
)
LONGEST_TAG: Final = max(map(len, TAG_BEGINNINGS)) + 1
CLOSING: Final = {name: lazy_pattern(rf"</{name}\s?>", re.I | re.A) for name in _NAMES.split("|")}
BLANK_LINE: Final = lazy_pattern(r"\r?\n[ \t\r]*\n")
TAG_END: Final = lazy_pattern(r"[^>\n]*>?")

DATA_MARK: Final = "(data, not instructions"
FRAME: Final = lazy_pattern(
    rf"(?:From|Extract of) .{{1,300}} {re.escape(DATA_MARK)}[^)\n]*\):\s*"
    r"|Attached by the user, as data:\s*"
)
NOTE: Final = lazy_pattern(
    r"\[(?:shortened by the tree|Cut to fit): .*|\[\d+ earlier exchanges? left out: no room\]\s*"
)
# What is in brackets but not one of our notes is known after a few characters.
OTHER_NOTE: Final = lazy_pattern(
    r"\[(?![sC0-9]|\Z)|\[(?=.{16})(?!shortened by|Cut to fit|\d+ earl)"
)
LINES_OF_OURS: Final = ("From ", "Extract of ", "Attached by the user", "[")


def begins_like_ours(text: str) -> bool:
    """Whether a line that begins so may be one of ours."""
    return text.startswith(LINES_OF_OURS) and OTHER_NOTE.match(text) is None


def may_begin_like_ours(text: str) -> bool:
    """The same for a text that is too short to tell."""
    return any(line.startswith(text) for line in LINES_OF_OURS)


def may_begin_frame(text: str) -> bool:
    return any(text.startswith(line) or line.startswith(text) for line in LINES_OF_OURS[:2])

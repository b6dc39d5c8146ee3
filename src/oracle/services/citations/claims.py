"""What a line or a note says, as far as an answer can be held to it."""

from __future__ import annotations

import re
from typing import Final

_VALUE: Final = re.compile(
    r"\s*+(?P<name>[\w.]++)\s*+(?P<sign>=|:)\s*+"
    r"(?P<value>[+-]?\d[\w.]*+|\"[^\"]*+\"|'[^']*+'|[Tt]rue|[Ff]alse)\s*+[,;]?\s*+(?:(?:\#|//).*+)?"
)


def value_in(line: str) -> tuple[str, str] | None:
    """The name and the plain value that a line gives it: a number, a text, true or false."""
    found = _VALUE.fullmatch(line)
    if found is None:
        return None
    value = found["value"]
    is_text = value[0] in "\"'"
    plain = value[1:-1] if is_text else value.replace("_", "").lower()
    return found["name"] + found["sign"], plain


class Headings:
    """The headings of a note, whatever their case and punctuation. A line of its own will do."""

    __slots__ = ("_headed", "_lines")

    def __init__(self, note: str) -> None:
        lines = [(line.lstrip()[:1], _bare(line)) for line in note.split("\n")]
        self._lines = {bare for _, bare in lines}
        self._headed = "\n".join(bare for sign, bare in lines if sign in ("#", "<"))

    def has(self, heading: str) -> bool:
        wanted = _bare(heading)
        return wanted in self._lines or wanted in self._headed


def _bare(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())

"""Statements of a source that can be compared: the value of a name, the headings of a note."""

from __future__ import annotations

from typing import Final

from oracle.patterns import lazy_pattern

# A whole line that gives a name a plain value: `limit = 30,  # seconds`, `debug: true`. A call or
# an expression does not match, because two spellings of it can mean the same.
_VALUE: Final = lazy_pattern(
    r"\s*+(?P<name>[\w.]++)\s*+(?P<sign>=|:)\s*+"
    r"(?P<value>[+-]?\d[\w.]*+|\"[^\"]*+\"|'[^']*+'|[Tt]rue|[Ff]alse)\s*+[,;]?\s*+(?:(?:\#|//).*+)?"
)


def value_in(line: str) -> tuple[str, str] | None:
    """The name with its sign, and its value: a number, a string, true or false.

    `30_000` and `30000` are the same value, and so are `True` and `true`.
    """
    found = _VALUE.fullmatch(line)
    if found is None:
        return None
    value = found["value"]
    is_text = value[0] in "\"'"
    plain = value[1:-1] if is_text else value.replace("_", "").lower()
    return found["name"] + found["sign"], plain


class Headings:
    """The headings of a note, compared without case and punctuation.

    Headings are not only lines with `#`: any line that is just these words counts.
    """

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

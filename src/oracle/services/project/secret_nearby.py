"""Passwords a few signs after their name, in a form that no list of forms has.

`std::string password{"…"}`, `password = "".join([…])`, `Password for admin: …`, a heading with the
password below it. The value is a literal of the same statement, or text in a place that is made for
it. Since the form says little, the value must look like a password by itself.
"""

from __future__ import annotations

import re
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.project.secret_values import is_bare_password, is_real_key

Span = tuple[int, int]

_WINDOW: Final = 200
_MOST_LINES: Final = 4
_SHORTEST: Final = 8
# A literal of any language. The groups hold what is inside.
_LITERAL: Final = lazy_pattern(
    r"(?P<quote>\"{3}|'{3}|[\"'`])\s{0,9}(?P<quoted>[^\s\"'`\\]{8,150})\s{0,9}(?P=quote)"
    r"|\bq\{(?P<perl>[^\s{}]{8,150})\}|%[qQ]?[({\[](?P<ruby>[^\s(){}\[\]]{8,150})[)}\]]"
    r"|\[\[(?P<lua>[^\s\[\]]{8,150})\]\]"
)
# A statement goes on in the next line after one of these, or if the line begins like that.
_GOES_ON: Final = lazy_pattern(r"(?:[\\(\[{+,=:.|&]|\"{3}|'{3})[ \t]*\Z")
_WENT_ON: Final = lazy_pattern(r"[ \t]*(?:[+.\"')}\]|&]|-[ ])")
# The next name of a list of names and values: what follows it belongs to it.
_NEXT_NAME: Final = lazy_pattern(
    r"(?i)passw|pwd|[,;&]\s{0,20}[\"']?[A-Za-z_][\w.-]{0,40}[\"']?\s{0,3}(?:=>?|:)"
)
_PLACE: Final = lazy_pattern(
    # `Password (admin): …`, `Password for admin: …`, `the password is: …`
    r"(?:::[ ]|[ ]?\([^()\n]{1,30}\)[ ]?[:：][ ]|[ ](?:for|of|on|to)[ ][^\n:：]{1,40}[:：][ ]"
    r"|[ ]is:[ ]?|是[:：]?[ ]?"
    # An anchor of YAML, a line that goes on, a list below its name, cells of HTML.
    r"|[ ]?[:=][ ]?&\w{1,20}[ ]|\s{0,3}=\s{0,3}\\\r?\n\s{0,40}|:[ ]{0,3}\r?\n[ \t]{0,20}-[ ]"
    r"|</(?:t[dh]|dt|b|strong|label|span)>\s{0,20}<(?:td|dd|code|span|b)\b[^<>]{0,60}>"
    r")[`*]{0,3}(?P<value>[^\s\"'`<>,;*]{8,100})"
)
_BELOW_HEADING: Final = lazy_pattern(
    r"[^\w\n]{0,5}\r?\n(?:[ \t]{0,5}\r?\n){0,2}(?:[ \t]{0,5}```\w{0,10}\r?\n)?[ \t]{0,5}"
    r"(?P<value>[^\s\"'`<>,;*]{8,100})[ \t]*(?:\r?\n|\Z)"
)


def nearby(text: str, before: str, end: int) -> Span | None:
    """Where the password is that belongs to the name that ends at `end`.

    `before` is what its line has in front of it.
    """
    place = _PLACE.match(text, end)
    if place is None and before.lstrip()[:1] == "#":
        place = _BELOW_HEADING.match(text, end)
    if place is not None:
        value = place["value"].rstrip(".:)")
        start = place.start("value")
        return (start, start + len(value)) if _is_password(value) else None
    return _literal(text, end)


def _literal(text: str, end: int) -> Span | None:
    window = text[end : end + _WINDOW]
    if not any(quote in window for quote in "\"'`{[("):
        return None
    other = _NEXT_NAME.search(window)
    window = _statement(window[: other.start()] if other else window)
    for literal in _LITERAL.finditer(window):
        group = next(name for name in ("quoted", "perl", "ruby", "lua") if literal[name])
        if is_real_key(literal[group]):
            return end + literal.start(group), end + literal.end(group)
    return None


def _statement(window: str) -> str:
    """The lines that belong together, without those after a line that is complete."""
    lines = window.split("\n")
    count = 1
    while count < min(len(lines), _MOST_LINES) and (
        _GOES_ON.search(lines[count - 1]) or _WENT_ON.match(lines[count])
    ):
        count += 1
    return "\n".join(lines[:count])


def _is_password(value: str) -> bool:
    has_both = re.search(r"\d", value) and re.search(r"[^\W\d_]", value)
    return len(value) >= _SHORTEST and bool(has_both) and is_bare_password(value)

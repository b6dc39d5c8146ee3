"""Keys of known services that are written in pieces: `"ghp_aBc…" + "dEf…"`.

Adjacent literals, `+`, and a line that goes on after a backslash. The pieces are joined for a look
only; what is found is replaced with the quotes between its pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from oracle.patterns import lazy_pattern

Span = tuple[int, int]

# It begins with a sign of its own, so that most of a text is skipped quickly.
_JOINT: Final = lazy_pattern(
    r"(?P<edge>[\"'\\])(?<=[\w+/=.-].)(?:(?<=[\"'])[ \t]{0,5}(?:(?:[+.&]|\.\.)[ \t]{0,5})?"
    r"(?:\\?\r?\n[ \t]{0,60}(?:(?:[+.&]|\.\.)[ \t]{0,5})?)?[rbuf]?(?P=edge)"
    r"|(?<=\\)\r?\n[ \t]{0,60})(?=[\w+/=.-]{3})"
)
_SIGNS: Final = frozenset("+/=.~:-_")
_PIECE: Final = lazy_pattern(r"[\w+/=.~:-]{1,300}")
_SHORTEST: Final = 20
_LONGEST: Final = 300


def pieced(text: str) -> Iterator[tuple[Span, str]]:
    """Where words in pieces are, and what they are together. In order and without overlap."""
    done = 0
    while joint := _JOINT.search(text, done):
        start = _first_piece(text, max(done, joint.start() - _LONGEST), joint.start())
        pieces, end = [text[start : joint.start()]], joint.start()
        while joint and (piece := _PIECE.match(text, joint.end())):
            pieces.append(piece[0])
            end = piece.end()
            joint = _JOINT.match(text, end)
        word = "".join(pieces)
        if len(word) >= _SHORTEST:
            yield (start, end), word
        done = end


def _first_piece(text: str, least: int, end: int) -> int:
    """Where the piece that ends at `end` begins."""
    start = end
    while start > least and (text[start - 1].isalnum() or text[start - 1] in _SIGNS):
        start -= 1
    return start

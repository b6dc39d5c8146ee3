"""An answer that the model gives in pieces: a part in each turn, and another turn for the next one.

The answer is the last turn's text. Of such an answer that would be its end, or "That was all."
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from oracle.services.citations import find_citations

_SEVERAL: Final = 2
"""So many texts in a row that each cite something else are pieces, not drafts of one answer."""


def pieces_with(pieces: Sequence[str], response: Mapping[str, Any]) -> list[str]:
    """The texts that may be pieces, after this response: they call no tool, and ask for a turn."""
    signal: Mapping[str, Any] = response["signal"] or {}
    asks_for_a_turn = signal.get("type") == "need_turn" and not response["calls"]
    is_piece = bool(response["text"]) and asks_for_a_turn
    return [*pieces, response["text"]] if is_piece else [*pieces]


def whole_answer(pieces: Sequence[str], last: str) -> str:
    """All pieces and the last text, or only the last text if it is the whole answer.

    It is not, if it cites nothing and a text before it does, or if each of several texts cites
    other places. If it asks for another turn itself, one such text is enough. Who writes an answer
    anew cites the same places again.
    """
    is_piece = last in pieces[-1:]
    earlier = [*dict.fromkeys(pieces[:-1] if is_piece else pieces)]
    cited = [_cited(text) for text in earlier]
    own = _cited(last)
    if not any(cited) or any(own & places for places in cited):
        return last
    are_apart = sum(map(len, cited)) == len(frozenset[str]().union(*cited))
    several = 1 if is_piece else _SEVERAL
    if own and not (are_apart and sum(map(bool, cited)) >= several):
        return last
    return "\n\n".join([*(text.strip() for text in earlier), last])


def _cited(text: str) -> frozenset[str]:
    return frozenset(citation.text for citation in find_citations(text))

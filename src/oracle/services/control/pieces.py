"""An answer that the model gives in pieces: a part in each turn, and another turn for the next one.

The answer is the last turn's text. Of such an answer that would be its end, or "That was all."
And an answer that is wrapped as a whole, in a fence or in JSON: in a code block nothing is cited.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from oracle.patterns import lazy_pattern
from oracle.services.citations import find_citations

_SEVERAL: Final = 2
"""So many texts in a row that each cite something else are pieces, not drafts of one answer."""


_WRAPPED: Final = lazy_pattern(
    r"(?P<fence>`{3,}|~{3,})(?P<language>\w*)[ \t]*\n(?P<body>.*?)\n?(?P=fence)", re.S
)
_PROSE: Final = ("markdown", "md", "text", "txt", "plaintext")
_ANSWER_KEYS: Final = ("answer", "response", "content", "text", "message", "output", "result")


def unwrapped(text: str) -> str:
    """The answer without a fence or an object of JSON around all of it.

    A fence without a language may hold code that was asked for, unless it cites something.
    """
    found = _WRAPPED.fullmatch(text.strip())
    if found is None or found["fence"] in found["body"]:
        return text
    body = found["body"]
    if found["language"] in ("", "json") and (said := _said_in(body)):
        return said
    is_prose = found["language"].lower() in _PROSE or (not found["language"] and _cited(body))
    return body if is_prose and body.strip() else text


def _said_in(body: str) -> str:
    """The only text of an object that has one for the answer."""
    try:
        data: Any = json.loads(body)
    except ValueError:
        return ""
    if not isinstance(data, dict):
        return ""
    (name, said), *others = cast("dict[str, Any]", data).items() or [("", "")]
    is_answer = not others and name.lower() in _ANSWER_KEYS and isinstance(said, str)
    return str(said) if is_answer else ""


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
    last, pieces = unwrapped(last), [*map(unwrapped, pieces)]
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

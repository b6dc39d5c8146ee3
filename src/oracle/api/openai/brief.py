"""What `oracle-brief` answers without a language model: titles, tags and follow-ups for clients.

A reader that only quotes cannot word these. What a client shows as the name of a conversation must
still be one, so the title is the beginning of what the user asked.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

_WORDS_OF_A_TITLE: Final = 8
_LONGEST_TITLE: Final = 60
# How clients put the conversation into their request: after a role, or between tags.
_OF_THE_USER: Final = re.compile(
    r"^\W*(?:user|human|question)\W*:\s*(?P<text>\S.*)$", re.IGNORECASE | re.MULTILINE
)
_BETWEEN_TAGS: Final = re.compile(
    r"<(?P<tag>chat_history|conversation|convo|chat)>\s*(?P<text>.*?)\s*</(?P=tag)>", re.DOTALL
)
_MARKS: Final = re.compile(r"[*_`#<>\"“”]+")
_EMPTY: Final[dict[str, Any]] = {"tags": [], "follow_ups": [], "queries": []}
"""Fields of the JSON that clients ask for, with a value that means "none"."""


def brief_answer(request: str) -> str:
    """A title as plain text, or as JSON if the request shows such a field."""
    for field, nothing in _EMPTY.items():
        if f'"{field}"' in request:
            return json.dumps({field: nothing})
    title = title_of(request)
    return json.dumps({"title": title}, ensure_ascii=False) if '"title"' in request else title


def title_of(request: str) -> str:
    """The first words of what the user said first.

    >>> title_of("Give it a title.\\nUSER: Where is the login? Thanks\\nASSISTANT: In a.py")
    'Where is the login?'
    """
    talk = _BETWEEN_TAGS.search(request)
    inside = talk["text"] if talk else request
    said = _OF_THE_USER.search(inside)
    lines = (line for line in inside.split("\n") if line.strip())
    text = said["text"] if said else next(lines, "") if talk else inside.strip().split("\n")[-1]
    sentence = re.split(r"(?<=[?!.])\s", " ".join(_MARKS.sub(" ", text).split()), maxsplit=1)[0]
    words = sentence.split()
    title = " ".join(words[:_WORDS_OF_A_TITLE])[:_LONGEST_TITLE].strip()
    return f"{title}…" if len(title) < len(sentence) else title or "Conversation"

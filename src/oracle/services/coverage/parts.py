"""The parts of a broad question, as data, and how they stand.

A part is a range of a file, a note or a thread: its `name`, how to read it (`tool`, `arguments`),
its `state`, the `text` that was read, and what is `told` of it where that is less than the text.

| state | means |
| --- | --- |
| open | found, not read yet |
| failed | could not be read |
| read | its text is here, and nobody was asked about it |
| unanswered | the model was asked about it, in vain |
| extracted | the model said what bears on the question |
| nothing | it was read, and nothing in it does |
| whole, quoted | stands before the model: all of it, or its lines that have the question's words |
| left | there was no room for it |
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

MOST_PARTS: Final = 20
ASKED_ABOUT: Final = ("extracted", "nothing", "unanswered")
_COVERED: Final = ("whole", "quoted", "extracted", "nothing")
_NAMED: Final = 10

Part = dict[str, Any]


def id_of(number: int) -> str:
    """The call that the tree makes for a part."""
    return f"coverage-part-{number}"


def to_read(parts: Sequence[Part]) -> list[int]:
    """The places in the list of those that may be read at all: a list of uses takes up none."""
    return [n for n, part in enumerate(parts) if part["tool"] != "find_definition"][:MOST_PARTS]


def is_covered(part: Part) -> bool:
    return part["state"] in _COVERED


def left_out(parts: Sequence[Part]) -> str:
    """Those that the model has not seen, the best first; nothing where it has seen all."""
    names = list(dict.fromkeys(_spoken(part) for part in parts if not is_covered(part)))
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _spoken(part: Part) -> str:
    """Not as a citation: nobody has read it."""
    return re.sub(r":(\d+)-(\d+)$", r" from line \1 to \2", part["name"])


def as_results(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """The texts as results of calls: where there is an extract, the conversation lacks them."""
    return [
        {"role": "tool", "call_id": id_of(number), "content": part["text"]}
        for number, part in enumerate(parts)
        if part["text"] and part["tool"] != "find_definition"
    ]

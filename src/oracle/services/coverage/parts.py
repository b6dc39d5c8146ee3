"""The parts of a broad question, as data, and the state of each.

A part is a range of a file, a note or a thread. Its `name` is what it is called, its `file` and
`lines` are where it is (`lines` is None for what has none, or for all of it). It is read by `tool`,
a tool with this `role` for this `kind`, with these `arguments`. The result is its `text` and, as
data, its `sources`; `told` is what the model is told where that is less than the text.

| state | means |
| --- | --- |
| open | found, not read yet |
| failed | could not be read |
| read | its text is here, and the model was not asked about it |
| unanswered | the model was asked about it, in vain |
| extracted | the model said what bears on the question |
| nothing | it was read, and nothing in it does |
| whole, quoted | the model is shown all of it, or its lines that have the question's words |
| left | there was no room for it |
"""

from __future__ import annotations

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
    return [n for n, part in enumerate(parts) if part["role"] != "uses"][:MOST_PARTS]


def is_covered(part: Part) -> bool:
    return part["state"] in _COVERED


def names_left_out(parts: Sequence[Part]) -> tuple[list[str], int]:
    """Those that the model has not seen, the best first, and how many more there are."""
    names = list(dict.fromkeys(_spoken(part) for part in parts if not is_covered(part)))
    return names[:_NAMED], max(0, len(names) - _NAMED)


def left_out(parts: Sequence[Part]) -> str:
    """`names_left_out` in words; nothing where the model has seen all."""
    names, more = names_left_out(parts)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _spoken(part: Part) -> str:
    """Not in the form of a citation: the part was not read."""
    if part["lines"] is None:
        return part["name"]
    first, last = part["lines"]
    return f"{part['file']} from line {first} to {last}"


def as_results(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """What was read, as results of calls: where there is an extract, the conversation lacks it."""
    return [
        {"role": "tool", "call_id": id_of(number), "sources": part["sources"]}
        for number, part in enumerate(parts)
        if part["sources"] and part["role"] != "uses"
    ]


def without_texts(parts: Sequence[Part]) -> list[Part]:
    """Only where they are and what became of them: of a run that is over nothing else is needed."""
    return [{**part, "text": "", "sources": []} for part in parts]

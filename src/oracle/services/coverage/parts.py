"""The parts of a broad question, as data, and the state of each.

A part is a range of a file, a note or a thread.

| field | meaning |
| --- | --- |
| name | what it is called |
| file, lines | where it is; `lines` is None if it has no lines or is the whole file |
| tool, arguments | the call that reads it |
| role, kind | the role of that tool and the kind of source it reads |
| text, sources | the result of the call, as text and as data |
| quoted | the places of it that a search has quoted |
| told | what the model is shown if it is not shown the whole text |

| state | meaning |
| --- | --- |
| open | found, not read yet |
| failed | could not be read |
| read | its text is here, and the model was not asked about it |
| unanswered | the model was asked about it and did not reply |
| extracted | the model said what matters to the question |
| nothing | it was read, and nothing in it matters to the question |
| whole, quoted | the model is shown the whole text, or the lines with the question's words |
| left | there was no room for it |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from oracle.models.source import Source
from oracle.services.tools.answer import quotation

MOST_PARTS: Final = 20
ASKED_ABOUT: Final = ("extracted", "nothing", "unanswered")
_COVERED: Final = ("whole", "quoted", "extracted", "nothing")
_NAMED: Final = 10

Part = dict[str, Any]


def id_of(number: int) -> str:
    """The id of the call that the tree makes for a part."""
    return f"coverage-part-{number}"


def to_read(parts: Sequence[Part], most: int = MOST_PARTS) -> list[int]:
    """The numbers of the parts that may be read. A list of uses does not count: it is whole."""
    return [n for n, part in enumerate(parts) if part["role"] != "uses"][: min(most, MOST_PARTS)]


def as_quoted(part: Part, lines: int) -> Part:
    """The part as the search has quoted it, if that is the whole file, or so many lines or more;
    else as it is.
    """
    quoted: list[dict[str, Any]] = part.get("quoted", [])
    count = sum(str(each["text"]).count("\n") + 1 for each in quoted)
    is_enough = count >= lines or any(each.get("whole") for each in quoted)
    if part["state"] != "open" or part["role"] != "read" or not is_enough:
        return part
    text = "\n\n".join(quotation(cast("Source", each)) for each in quoted)
    return {**part, "state": "read", "text": text, "sources": quoted}


def is_covered(part: Part) -> bool:
    return part["state"] in _COVERED


def names_left_out(parts: Sequence[Part]) -> tuple[list[str], int]:
    """The parts that the model has not seen, the best first, and how many more there are."""
    names = list(dict.fromkeys(_name_in_text(part) for part in parts if not is_covered(part)))
    return names[:_NAMED], max(0, len(names) - _NAMED)


def left_out(parts: Sequence[Part]) -> str:
    """`names_left_out` as text; empty if the model has seen all parts."""
    names, more = names_left_out(parts)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _name_in_text(part: Part) -> str:
    """Not written as a citation ("line 10"), because the part was not read."""
    if part["lines"] is None:
        return part["name"]
    first, last = part["lines"]
    return f"{part['file']} from line no. {first} to {last}"


def as_results(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """What was read, as results of calls. Of an extract, the conversation lacks the whole text."""
    return [
        {"role": "tool", "call_id": id_of(number), "sources": part["sources"]}
        for number, part in enumerate(parts)
        if part["sources"] and part["role"] != "uses"
    ]


def without_texts(parts: Sequence[Part]) -> list[Part]:
    """Only their places and states: after the end of a run nothing else is needed."""
    return [{**part, "text": "", "sources": [], "quoted": []} for part in parts]

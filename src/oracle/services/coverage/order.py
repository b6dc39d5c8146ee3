"""In which order parts are told: by path where each place is wanted, else along their uses, so that
a flow is told from its beginning. Prose and tests come last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from oracle.services.coverage.listing import READS, USES
from oracle.services.coverage.parts import Part
from oracle.services.coverage.uses import along, uses_among
from oracle.services.reading.choosing import IN_TESTS
from oracle.services.reading.excerpts import is_prose
from oracle.services.reading.quotations import Quotation, quotations_in
from oracle.services.reading.words import asks_for_all, asks_for_uses

_MOST_USES: Final = 24
_MOST_NAMES: Final = 3


def in_order(question: str, parts: Sequence[Part]) -> list[int]:
    """The places of the parts in the list, as they should be told."""
    kinds = [_kind(part) for part in parts]
    if asks_for_all(question) or asks_for_uses(question):
        return sorted(range(len(parts)), key=lambda n: (kinds[n], *_place(parts[n])))
    ordered = along(uses_among([code_of(part) for part in parts]))
    return sorted(ordered, key=lambda n: kinds[n])


def told_uses(parts: Sequence[Part]) -> str:
    """Who uses whom among the files, one to a line: `cli.py -> service.py (place_order)`."""
    uses = uses_among([code_of(part) for part in parts])
    found: dict[tuple[str, str], list[str]] = {}
    for one in along(uses):
        for other, names in uses[one].items():
            found.setdefault((_file_of(parts[one]), _file_of(parts[other])), []).extend(names)
    lines = [
        f"{user} -> {used}" + (f" ({', '.join(_each_once(names))})" if names else "")
        for (user, used), names in found.items()
        if user != used
    ]
    return "\n".join(lines[:_MOST_USES])


def _each_once(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))[:_MOST_NAMES]


def code_of(part: Part) -> list[Quotation]:
    is_code = part["tool"] in READS and _kind(part) == 1
    return quotations_in(part["text"]) if is_code else []


def _kind(part: Part) -> int:
    """A list of uses, code, prose, tests."""
    if part["tool"] == USES:
        return 0
    if IN_TESTS.search(part["name"]):
        return 3
    first = next(iter(quotations_in(part["text"])), None)
    return 2 if first is not None and is_prose(first) else 1


def _file_of(part: Part) -> str:
    return re.sub(r":\d+-\d+$", "", part["name"])


def _place(part: Part) -> tuple[str, int]:
    return _file_of(part), part["arguments"].get("start", 0)

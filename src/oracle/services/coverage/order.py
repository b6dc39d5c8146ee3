"""In which order parts are told: by path where each place is wanted, else along their uses, so that
a flow is told from its beginning. Prose and tests come last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oracle.services.coverage.parts import Part
from oracle.services.coverage.uses import along, uses_among
from oracle.services.llm.protocol import FileUse
from oracle.services.questions.search_words import asks_for_all, asks_for_uses
from oracle.services.quoting.excerpts import is_prose
from oracle.services.quoting.passages import IN_TESTS
from oracle.services.quoting.quotation import Quotation, quotations_of

_MOST_USES: Final = 24
_MOST_NAMES: Final = 3


def in_order(question: str, parts: Sequence[Part]) -> list[int]:
    """The places of the parts in the list, as they should be told."""
    kinds = [_kind(part) for part in parts]
    if asks_for_all(question) or asks_for_uses(question):
        return sorted(range(len(parts)), key=lambda n: (kinds[n], *_place(parts[n])))
    ordered = along(uses_among([code_of(part) for part in parts]))
    return sorted(ordered, key=lambda n: kinds[n])


def uses_between(parts: Sequence[Part]) -> list[FileUse]:
    """Which file uses which, users first."""
    uses = uses_among([code_of(part) for part in parts])
    found: dict[tuple[str, str], list[str]] = {}
    for one in along(uses):
        for other, names in uses[one].items():
            found.setdefault((parts[one]["file"], parts[other]["file"]), []).extend(names)
    made = [
        FileUse(user=user, used=used, names=list(dict.fromkeys(names))[:_MOST_NAMES])
        for (user, used), names in found.items()
        if user != used
    ]
    return made[:_MOST_USES]


def told_uses(uses: Sequence[FileUse]) -> str:
    """One to a line: `cli.py -> service.py (place_order)`."""
    return "\n".join(
        f"{use['user']} -> {use['used']}"
        + (f" ({', '.join(use['names'])})" if use["names"] else "")
        for use in uses
    )


def code_of(part: Part) -> list[Quotation]:
    is_code = part["role"] == "read" and _kind(part) == 1
    return quotations_of(part["sources"]) if is_code else []


def _kind(part: Part) -> int:
    """A list of uses, code, prose, tests."""
    if part["role"] == "uses":
        return 0
    if IN_TESTS.search(part["name"]):
        return 3
    first = next(iter(quotations_of(part["sources"])), None)
    return 2 if first is not None and is_prose(first) else 1


def _place(part: Part) -> tuple[str, int]:
    return part["file"], part["arguments"].get("start", 0)

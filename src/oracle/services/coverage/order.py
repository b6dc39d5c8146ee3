"""The order in which parts are shown. Prose and tests are last.

If the question asks for each place, the order is by path. Otherwise a file is before those that it
uses, so that a flow is read from its beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from oracle.services.coverage.parts import Part
from oracle.services.coverage.uses import users_first, uses_among
from oracle.services.llm.protocol import FileUse
from oracle.services.questions.search_words import asks_for_all, asks_for_uses
from oracle.services.quoting.kinds_of_lines import is_prose
from oracle.services.quoting.passages import IN_TESTS
from oracle.services.quoting.quotation import Quotation, quotations_of

_MOST_USES: Final = 24
_MOST_NAMES: Final = 3


def in_order(question: str, parts: Sequence[Part]) -> list[int]:
    """The numbers of the parts in the order in which they are shown."""
    kinds = [_kind(part) for part in parts]
    if asks_for_all(question) or asks_for_uses(question):
        return sorted(range(len(parts)), key=lambda n: (kinds[n], *_place(parts[n])))
    ordered = users_first(uses_among([code_of(part) for part in parts]))
    return sorted(ordered, key=lambda n: kinds[n])


def uses_between(parts: Sequence[Part]) -> list[FileUse]:
    """Which file uses which other one, users first."""
    uses = uses_among([code_of(part) for part in parts])
    found: dict[tuple[str, str], list[str]] = {}
    for one in users_first(uses):
        for other, names in uses[one].items():
            found.setdefault((parts[one]["file"], parts[other]["file"]), []).extend(names)
    made = [
        FileUse(user=user, used=used, names=list(dict.fromkeys(names))[:_MOST_NAMES])
        for (user, used), names in found.items()
        if user != used
    ]
    return made[:_MOST_USES]


def uses_as_text(uses: Sequence[FileUse]) -> str:
    """One use a line: `cli.py -> service.py (place_order)`."""
    return "\n".join(
        f"{use['user']} -> {use['used']}"
        + (f" ({', '.join(use['names'])})" if use["names"] else "")
        for use in uses
    )


def code_of(part: Part) -> list[Quotation]:
    is_code = part["role"] == "read" and _kind(part) == 1
    return quotations_of(part["sources"]) if is_code else []


def _kind(part: Part) -> int:
    """0 for a list of uses, 1 for code, 2 for prose, 3 for tests: shown in this order."""
    if part["role"] == "uses":
        return 0
    if IN_TESTS.search(part["name"]):
        return 3
    first = next(iter(quotations_of(part["sources"])), None)
    return 2 if first is not None and is_prose(first) else 1


def _place(part: Part) -> tuple[str, int]:
    return part["file"], part["arguments"].get("start", 0)

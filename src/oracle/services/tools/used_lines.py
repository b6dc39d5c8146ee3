"""The lines that use a name: which of them are shown, and what is said of the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oracle.services.tools.answer import one_line, quotation
from oracle.services.tools.protocol import Source

MOST_SHOWN: Final = 100
_LONGEST_SHOWN: Final = 15_000
_NAMED: Final = 20
_FIRST_OF_A_FILE: Final = 2
_IMPORT: Final = re.compile(r"\s*(?:from\s+\S+\s+import|import\s|#\s*include|use\s)")
_SHOWN: Final = re.compile(
    r"Lines that use '(?P<name>[^']+)': (?P<lines>\d+) in (?P<files>\d+) files?, "
    r"(?P<shown>\d+) shown, spread over the files; give a path for others\."
    r"(?: Files not shown: (?P<others>.+?)(?: and (?P<more>\d+) more)?\.(?: |$))?"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class UsesBeyond:
    """What a list of uses says about itself where it ends before the uses do."""

    name: str
    lines: int
    files: int
    shown: int
    others: tuple[str, ...]
    more_files: int


def spread(found: Sequence[Source], used: int = 0) -> list[Source]:
    """As many as fit, a line or two of each file before a third of any; `used` characters of the
    room are taken. An import is the last to be chosen of its file.
    """
    turns: list[tuple[int, int]] = []
    seen: dict[str, int] = {}
    for number in sorted(range(len(found)), key=lambda n: bool(_IMPORT.match(found[n]["text"]))):
        path = found[number].get("path", "")
        seen[path] = seen.get(path, 0) + 1
        turns.append((seen[path], number))
    room = _LONGEST_SHOWN - used
    chosen: list[int] = []
    for _, number in sorted(turns, key=lambda t: (max(t[0], _FIRST_OF_A_FILE), t[0], t[1])):
        room -= len(quotation(found[number])) + 2
        if room < 0 or len(chosen) == MOST_SHOWN:
            break
        chosen.append(number)
    return [found[number] for number in sorted(chosen)]


def told_of(name: str, found: Sequence[Source], shown: Sequence[Source]) -> str:
    """How many there are in how many files, and the files of which none is shown."""
    if not found:
        return f"Nothing here uses {name!r}."
    files = list(dict.fromkeys(source.get("path", "") for source in found))
    total = f"{len(found)} in {len(files)} file{'s'[: len(files) > 1]}"
    if len(shown) == len(found):
        return f"Lines that use {name!r}: {total}."
    told = f"Lines that use {name!r}: {total}, {len(shown)} shown, spread over the files"
    return f"{told}; give a path for others.{_others(files, shown)}"


def uses_beyond(content: str) -> UsesBeyond | None:
    """What `told_of` has said in a result; None where the list is whole."""
    found = _SHOWN.search(content.split("\n", 1)[0])
    if found is None:
        return None
    return UsesBeyond(
        name=found["name"],
        lines=int(found["lines"]),
        files=int(found["files"]),
        shown=int(found["shown"]),
        others=tuple((found["others"] or "").split(", ")) if found["others"] else (),
        more_files=int(found["more"] or 0),
    )


def _others(files: Sequence[str], shown: Sequence[Source]) -> str:
    known = {source.get("path", "") for source in shown}
    others = [one_line(path) for path in files if path not in known]
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    return f" Files not shown: {', '.join(others[:_NAMED])}{more}." if others else ""

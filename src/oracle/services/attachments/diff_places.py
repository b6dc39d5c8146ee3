"""The places that a diff shows: an answer about the diff cites them as it cites files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from oracle.models.source import Source
from oracle.services.tools.answer import place

MOST_PLACES: Final = 200
_NEW_FILE: Final = re.compile(r"\+\+\+ (?:\"?b/)?(?P<path>[^\t\n]+?)\"?\s*")
_HUNK: Final = re.compile(r"@@ -\d+(?:,(?P<old>\d+))? \+(?P<start>\d+)(?:,(?P<new>\d+))? @@")


def places_in_diff(text: str) -> list[Source]:
    """Each hunk as lines of the new file. Empty for a text that is not a diff."""
    found: list[Source] = []
    for source in _hunks(text.split("\n")):
        found.append(source)
        if len(found) == MOST_PLACES:
            break
    return found


def _hunks(lines: list[str]) -> Iterator[Source]:
    path = ""
    number = 0
    while number < len(lines):
        line = lines[number]
        hunk = _HUNK.match(line) if path else None
        # A removed line can begin with `-- ` too, so a name counts only between two hunks.
        if file := _NEW_FILE.fullmatch(line):
            path = "" if file["path"] == "/dev/null" else file["path"]
        number += 1
        if hunk is None:
            continue
        start = int(hunk["start"])
        old, new = int(hunk["old"] or 1), int(hunk["new"] or 1)
        shown: list[str] = []
        while (old > 0 or new > 0) and number < len(lines):
            sign = lines[number][:1]
            # Some programs strip the blank of an empty line.
            old -= sign in ("-", " ", "")
            new -= sign in ("+", " ", "")
            if sign in ("+", " ", ""):
                shown.append(lines[number][1:])
            number += 1
        if shown and start:
            yield _source(path, start, shown)


def _source(path: str, start: int, lines: list[str]) -> Source:
    end = start + len(lines) - 1
    return Source(
        kind="code",
        where=place(path, start, end),
        text="\n".join(lines),
        path=path,
        start=start,
        end=end,
    )

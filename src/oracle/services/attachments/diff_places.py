"""The places that a diff shows: an answer about the diff cites them as it cites files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from oracle.models.source import Source
from oracle.services.attachments.hunks import DiffLine, Hunk, hunks_of
from oracle.services.project.diffs import LEFT_OUT
from oracle.services.tools.answer import place

MOST_PLACES: Final = 200
"""Of each side."""


def places_in_diff(text: str) -> list[Source]:
    """Each hunk as lines of the new file, then removed lines with their numbers in the old file.

    What was left out of the diff is not a place. Empty for a text that is not a diff.
    """
    hunks = [hunk for hunk in hunks_of(text.split("\n")) if not _is_left_out(hunk)]
    new = (source for hunk in hunks for source in _new_side(hunk))
    removed = (source for hunk in hunks for source in _removed(hunk))
    return [*islice(new, MOST_PLACES), *islice(removed, MOST_PLACES)]


def _is_left_out(hunk: Hunk) -> bool:
    return all(line.text.endswith(LEFT_OUT) for line in hunk.lines)


def _new_side(hunk: Hunk) -> Iterator[Source]:
    lines = [line for line in hunk.lines if line.new]
    if hunk.new_path and lines:
        yield _source(hunk.new_path, lines[0].new, lines)


def _removed(hunk: Hunk) -> Iterator[Source]:
    """Runs of removed lines. Their neighbours have other numbers in the new file."""
    run: list[DiffLine] = []
    for line in hunk.lines:
        if line.old and not line.new:
            run.append(line)
        elif run and line.old:
            yield _source(hunk.old_path, run[0].old, run)
            run = []
    if run and hunk.old_path:
        yield _source(hunk.old_path, run[0].old, run)


def _source(path: str, start: int, lines: Sequence[DiffLine]) -> Source:
    end = start + len(lines) - 1
    return Source(
        kind="code",
        where=place(path, start, end),
        text="\n".join(line.text for line in lines),
        path=path,
        start=start,
        end=end,
    )

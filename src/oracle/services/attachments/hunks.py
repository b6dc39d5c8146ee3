"""The hunks of a unified diff, each with its files and the numbers of its lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern

_FILE: Final = lazy_pattern(r"(?P<side>---|\+\+\+) (?:\"?[ab]/)?(?P<path>[^\t\n]+?)\"?\s*")
_HUNK: Final = lazy_pattern(
    r"(?P<frame>@@ -(?P<old_start>\d{1,9})(?:,(?P<old>\d{1,9}))? "
    r"\+(?P<new_start>\d{1,9})(?:,(?P<new>\d{1,9}))? @@)"
)


class DiffLine(NamedTuple):
    """`at` is its place in the diff, from 0. A number is 0 if the line is not on that side."""

    at: int
    text: str
    old: int
    new: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Hunk:
    """`at` is the place of its header, which begins with `frame`. A path is empty if there is no
    file on that side.
    """

    at: int
    frame: str
    old_path: str
    new_path: str
    lines: Sequence[DiffLine]


def hunks_of(lines: Sequence[str]) -> Iterator[Hunk]:
    """None for a text that is not a diff."""
    paths = {"---": "", "+++": ""}
    at = 0
    while at < len(lines):
        hunk = _HUNK.match(lines[at]) if any(paths.values()) else None
        # A removed line can begin with `-- ` too, so a name counts only between two hunks.
        if file := _FILE.fullmatch(lines[at]):
            paths[file["side"]] = "" if file["path"] == "/dev/null" else file["path"]
        at += 1
        if hunk is None:
            continue
        old, new = (int(hunk[side] or 1) for side in ("old", "new"))
        found = list(
            _lines(lines, at, (int(hunk["old_start"]), old), (int(hunk["new_start"]), new))
        )
        yield Hunk(
            at=at - 1,
            frame=hunk["frame"],
            old_path=paths["---"],
            new_path=paths["+++"],
            lines=found,
        )
        at = found[-1].at + 1 if found else at


def _lines(
    lines: Sequence[str], at: int, old: tuple[int, int], new: tuple[int, int]
) -> Iterator[DiffLine]:
    """`old` and `new` are the first line and the count of lines on each side."""
    (old_number, old_left), (new_number, new_left) = old, new
    while (old_left > 0 or new_left > 0) and at < len(lines):
        sign = lines[at][:1]
        # Some programs strip the blank of an empty line.
        is_old, is_new = sign in ("-", " ", ""), sign in ("+", " ", "")
        if is_old or is_new:
            text = lines[at][1:]
            yield DiffLine(at, text, old_number if is_old else 0, new_number if is_new else 0)
        old_number, old_left = old_number + is_old, old_left - is_old
        new_number, new_left = new_number + is_new, new_left - is_new
        at += 1

"""Tables of one-line cells that stay readable at any width from 40 columns.

On a terminal a table is made to fit: columns that may be are dropped, then long texts are cut. What
still does not fit is printed as blocks, with the first cell as their heading. In a pipe a table is
complete.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY
from typing import Final, Literal

from oracle.cli.terminal.safe_text import printable
from oracle.lazy_dataclass import dataclass

GAP: Final = "  "
INDENT: Final = "    "
_ELLIPSIS: Final = "…"
# Words; a short piece of inline code is one, with its blanks.
_WORDS: Final = re.compile(r"[^\s`]*`[^`]{1,100}`[^\s`]*|\S+")


Tone = Literal["", "bold", "dim", "yellow"]


@dataclass(frozen=True, slots=True)
class StyledLine:
    text: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Column:
    """`cut_to` is the width that a column may be cut to; without one it is always shown whole.

    Columns with a `drop` are left out of a narrow table, those with the smallest number first.
    """

    heading: str
    _: KW_ONLY
    is_number: bool = False
    cut_to: int | None = None
    drop: int | None = None


def table_lines(
    columns: Sequence[Column], rows: Iterable[Sequence[str]], *, width: int | None = None
) -> list[str]:
    """The heading and a line for each row. Without a `width`, everything is shown."""
    cells = [[printable(cell) for cell in row] for row in rows]
    shown = [at for at in range(len(columns)) if width is None or any(row[at] for row in cells)]
    widths = [
        max(map(_cells, (column.heading, *(row[at] for row in cells))))
        for at, column in enumerate(columns)
    ]
    if width is not None:
        while _least(columns, widths, shown) > width and (gone := _next_to_drop(columns, shown)):
            shown.remove(gone[0])
        if _least(columns, widths, shown) > width:
            return _blocks(columns, cells, width)
        _fit(columns, widths, shown, width)
    headings = [column.heading for column in columns]
    return [_line(columns, row, widths, shown) for row in (headings, *cells)]


def show_table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    """Print a table on stdout, fitted to the terminal; complete if stdout is a pipe."""

    def lines(width: int | None) -> Iterator[StyledLine]:
        heading, *rest = table_lines(columns, rows, width=width)
        yield StyledLine(heading, "bold")
        yield from map(StyledLine, rest)

    show_lines(lines)


def show_lines(lines: Callable[[int | None], Iterable[StyledLine]]) -> None:
    """Print lines on stdout, made for the width of the terminal; for a pipe there is no width."""
    if not sys.stdout.isatty():
        for line in lines(None):
            print(line.text)
        return
    from rich.text import Text

    from oracle.cli.terminal.console import console_on

    console = console_on(sys.stdout)
    for line in lines(console.width):
        console.print(Text(line.text, style=line.tone), soft_wrap=True)


def shown_width() -> int | None:
    """The width of the terminal that stdout is; None if it is a pipe."""
    if not sys.stdout.isatty():
        return None
    from oracle.cli.terminal.console import console_on

    return console_on(sys.stdout).width


def wrapped(text: str, width: int | None, *, first: str = "", rest: str = "") -> list[str]:
    """A paragraph in lines: `first` begins the first one, `rest` the others. Without a width, one.

    No path, address or command in backticks is broken: what is too long for a line gets one of its
    own, which the terminal folds by itself, so that it can still be copied and clicked.
    """
    if width is None:
        return [first + text]
    lines, line = list[str](), first
    for word in _WORDS.findall(" ".join(text.split())):
        gap = "" if line == (rest if lines else first) else " "
        # After a heading alone, only where that makes room for the whole word.
        makes_room = gap or (line != rest and _cells(rest) + _cells(word) <= width)
        if makes_room and _cells(line) + len(gap) + _cells(word) > width:
            lines, line, gap = [*lines, line.rstrip()], rest, ""
        line += gap + word
    return [*lines, line] if line.strip() or not lines else lines


def cut(text: str, width: int) -> str:
    """The text in at most `width` cells; an ellipsis says that there is more."""
    return text if _cells(text) <= width else _beginning(text, width - 1).rstrip() + _ELLIPSIS


def _beginning(text: str, width: int) -> str:
    """As much of the text as fits into `width` cells. Some characters take two, others none."""
    if text.isascii():
        return text[: max(0, width)]
    taken, end = 0, 0
    for char in text:
        taken += _cells(char)
        if taken > width:
            break
        end += 1
    return text[:end]


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _padded(text: str, width: int, *, right: bool) -> str:
    blanks = " " * (width - _cells(text))
    return blanks + text if right else text + blanks


def _line(
    columns: Sequence[Column], row: Sequence[str], widths: Sequence[int], shown: Sequence[int]
) -> str:
    cells = [
        _padded(cut(row[at], widths[at]), widths[at], right=columns[at].is_number) for at in shown
    ]
    return GAP.join(cells).rstrip()


def _least(columns: Sequence[Column], widths: Sequence[int], shown: Sequence[int]) -> int:
    """The least width of the table with these columns, cut as far as they may be."""
    least = [min(widths[at], columns[at].cut_to or widths[at]) for at in shown]
    return sum(least) + len(GAP) * (len(shown) - 1)


def _next_to_drop(columns: Sequence[Column], shown: Sequence[int]) -> list[int]:
    """The column to leave out next, in a list; an empty list if all others must stay."""
    may_go = [at for at in shown if columns[at].drop is not None]
    return sorted(may_go, key=lambda at: columns[at].drop or 0)[:1]


def _fit(columns: Sequence[Column], widths: list[int], shown: Sequence[int], width: int) -> None:
    """Cut the widest columns that may be cut, a cell at a time, until the table fits."""
    excess = sum(widths[at] for at in shown) + len(GAP) * (len(shown) - 1) - width
    for _ in range(excess):
        may_be_cut = [at for at in shown if widths[at] > (columns[at].cut_to or widths[at])]
        widths[max(may_be_cut, key=lambda at: widths[at])] -= 1


def _blocks(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Each row over several lines: its first cell, and the others below it with their headings."""
    lines = [columns[0].heading]
    for first, *others in rows:
        lines += wrapped(first, width)
        for column, cell in zip(columns[1:], others, strict=True):
            name = f"{column.heading.lower()} " if column.heading else ""
            lines += wrapped(f"{name}{cell}", width, first=INDENT, rest=INDENT) if cell else []
    return lines

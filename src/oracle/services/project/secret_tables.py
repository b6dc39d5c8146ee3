"""Passwords in columns: `INSERT` and `COPY` of SQL, CSV, Markdown. The header has the name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.project.secret_values import is_bare_password, is_real_password

Span = tuple[int, int]

_COLUMN: Final = lazy_pattern(
    r"(?i)[\s\"'`\[*+-]{0,9}(?:[\w. -]{0,30}[ _.-])?(?:user)?"
    r"(?:pass(?:word|wd|wort|phrase|code)?|pwd|secret|kennwort|contraseña"
    r"|api[_ -]?key|(?:access|auth|api)[_ -]?token)s?[\s\"'`\]*]{0,9}"
)
_INSERT: Final = lazy_pattern(
    r"(?i)\b(?:insert|replace)\s{1,5}(?:ignore\s{1,5})?into\s{1,5}[\w.\"'`\[\]]{1,100}\s{0,5}"
    r"\((?P<columns>[^()]{3,2000})\)\s{0,10}values\s{0,10}(?=\()"
)
_INTO: Final = lazy_pattern(r"(?:insert|replace|ignore)\s{1,5}into\s")
# A dump of PostgreSQL: columns, then rows with tabs up to `\\.`.
_COPY: Final = lazy_pattern(
    r"(?i)\bcopy\s{1,5}[\w.\"'`]{1,100}\s{0,5}\((?P<columns>[^()]{3,2000})\)\s{1,5}from\s{1,5}stdin"
    r"[^\n]{0,100}\n"
)
_FIELD: Final = lazy_pattern(
    r"\s{0,20}(?:N?'(?P<single>(?:[^'\\\n]|''|\\.){0,2000})'|\"(?P<double>[^\"\n]{0,2000})\""
    r"|[^,()'\"]{1,200}(?:\([^()\n]{0,200}\))?)\s{0,20}"
)
_ROW_END: Final = lazy_pattern(r"\)\s{0,10},\s{0,10}(?=\()")
_RULE: Final = lazy_pattern(r"[+ \t|:]{0,20}--[-|: \t]{0,2000}")
_HEADER: Final = lazy_pattern(
    # A diff has a sign in front.
    r"[+-]?\"?[\w .-]{1,40}\"?(?P<comma>[,;\t])\"?[\w .-]{1,40}\"?"
    r"(?:(?P=comma)\"?[\w .-]{1,40}\"?){0,40}"
)
COLUMNS: Final = ("pass", "pwd", "kennwort", "contrase", "secret", "token", "key")
_LONGEST_HEADER: Final = 400
_LONGEST_LINE: Final = 2_000


def table_spans(text: str, folded: str, marks: Container[str]) -> Iterator[Span]:
    """Where the passwords are. They may overlap with other findings and are in no order.

    `folded` is the text in lower case, and `marks` has those of the `COLUMNS` that it has.
    """
    if "values" in folded and " into" in folded and _INTO.search(folded):
        for insert in _INSERT.finditer(text):
            yield from _inserted(text, insert)
    if " stdin" in folded:
        for copy in _COPY.finditer(text):
            yield from _copied(text, copy)
    if columns := [mark for mark in COLUMNS if mark in marks]:
        yield from _in_lines(text, folded, columns)


def _copied(text: str, copy: re.Match[str]) -> Iterator[Span]:
    names = copy["columns"].split(",")
    wanted, start = _wanted(names), copy.end()
    while wanted and start < len(text):
        end = _line_end(text, start)
        cells = _split_at("\t")(text[start:end], start) if end - start <= _LONGEST_LINE else []
        if len(cells) != len(names):
            return
        yield from _passwords(text, cells, wanted)
        start = end + 1


def _inserted(text: str, insert: re.Match[str]) -> Iterator[Span]:
    wanted = _wanted(insert["columns"].split(","))
    place = insert.end()
    while wanted and text.startswith("(", place):
        number, place = 0, place + 1
        while field := _FIELD.match(text, place):
            group = "single" if field["single"] is not None else "double"
            if number in wanted and field[group] and is_real_password(field[group]):
                yield field.span(group)
            number, place = number + 1, field.end()
            if not text.startswith(",", place):
                break
            place += 1
        following = _ROW_END.match(text, place)
        place = following.end() if following else len(text)


def _in_lines(text: str, folded: str, marks: Iterable[str]) -> Iterator[Span]:
    """Tables with a row in a line. The line after the header tells whether it is one."""
    done = 0
    for first, last in _lines_with_marks(folded, marks):
        if first < done:
            continue
        header = text[first:last].rstrip("\r")
        if "|" in header:
            start, split = _markdown_rows(text, last), _cells
        elif comma := _HEADER.fullmatch(header):
            start, split = last + 1, _split_at(comma["comma"])
        else:
            continue
        columns = split(header, 0)
        wanted = _wanted([header[a:b] for a, b in columns])
        while wanted and 0 < start < len(text):
            end = _line_end(text, start)
            cells = split(text[start:end], start) if end - start <= _LONGEST_LINE else []
            if len(cells) != len(columns):
                break
            yield from _passwords(text, cells, wanted)
            start = done = end + 1


def _lines_with_marks(folded: str, marks: Iterable[str]) -> list[Span]:
    """Lines that may name such a column, in order. Most texts have few."""
    lines: dict[int, int] = {}
    for mark in marks:
        place = folded.find(mark)
        while place >= 0:
            first, last = folded.rfind("\n", 0, place) + 1, _line_end(folded, place)
            if last - first <= _LONGEST_HEADER:
                lines[first] = last
            place = folded.find(mark, last)
    return sorted(lines.items())


def _markdown_rows(text: str, end: int) -> int:
    """Where the rows begin; -1 if the line after the header is not the rule of a table."""
    start = end + 1
    stop = _line_end(text, start)
    if stop - start > _LONGEST_LINE:
        return -1
    return stop + 1 if _RULE.fullmatch(text[start:stop].rstrip("\r")) else -1


def _cells(line: str, start: int) -> list[Span]:
    inside = line.strip().lstrip("+-").strip("| \t")
    return _split_at("|")(inside, start + line.find(inside)) if "|" in line else []


def _split_at(comma: str) -> Callable[[str, int], list[Span]]:
    def split(line: str, start: int) -> list[Span]:
        spans: list[Span] = []
        for cell in line.rstrip("\r").split(comma):
            spans.append((start, start + len(cell)))
            start += len(cell) + 1
        return spans

    return split


def _wanted(columns: Collection[str]) -> set[int]:
    return {place for place, name in enumerate(columns) if _COLUMN.fullmatch(name)}


def _passwords(text: str, cells: list[Span], wanted: set[int]) -> Iterator[Span]:
    for place in wanted:
        start, end = cells[place]
        value = text[start:end].strip(" \t\"'`*")
        if is_bare_password(value):
            start = text.find(value, start)
            yield start, start + len(value)


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end

"""How much to quote around a line: a definition with its beginning, a paragraph, a row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from oracle.services.quoting.quotation import Quotation

_CODE_LINES: Final = 10
_PROSE_LINES: Final = 8
_TABLE_LINES: Final = 14
_PROSE: Final = (".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc", ".org")
_KINDS: Final = "def|class|function|func|fn|struct|interface|trait|enum|type|const|let|var|local"
_DEFINES: Final = re.compile(
    rf"\s*(?:(?:async|pub|export|public|private|static|final|abstract|default)\s+){{0,4}}"
    rf"(?:{_KINDS})\s+(?P<name>[\w$.:]+)|^(?P<constant>[A-Za-z_]\w*)\s*(?::[^=\n]{{1,80}})?=(?!=)"
)
_ABOVE: Final = re.compile(r"\s*(?:@|#|//|/\*|\*)")
_QUOTES: Final = ('"""', "'''")


def is_definition(line: str, name: str) -> bool:
    """Whether the line defines the name; a plain word need only be a part of the defined one."""
    found = _DEFINES.match(line)
    if found is None:
        return False
    defined = (found["name"] or found["constant"]).split(".")[-1]
    return defined == name or (name.islower() and name in defined.lower())


def is_opening(line: str) -> bool:
    """Whether the line opens a definition that others may use."""
    found = _DEFINES.match(line)
    name = (found["name"] or found["constant"]) if found else "_"
    return not line.startswith((" ", "\t")) and not name.startswith("_")


def excerpt_around(source: Quotation, line: int) -> tuple[int, int]:
    """First and last line to quote, counted from 0."""
    lines = source.lines
    if is_prose(source):
        start, end = _rows(lines, line) if _is_row(lines[line]) else _paragraph(lines, line)
    else:
        start, end = _block(lines, line)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end].strip():
        end -= 1
    return start, end


def is_prose(source: Quotation) -> bool:
    return source.kind.is_prose or source.path.lower().endswith(_PROSE)


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def _rows(lines: Sequence[str], line: int) -> tuple[int, int]:
    """The row alone; from the head of a table on, the whole of it."""
    end = line
    if line + 1 < len(lines) and re.match(r"\s*\|[\s:|-]+$", lines[line + 1]):
        while end + 1 < len(lines) and _is_row(lines[end + 1]) and end - line < _TABLE_LINES - 1:
            end += 1
    return line, end


def _paragraph(lines: Sequence[str], line: int) -> tuple[int, int]:
    """From the blank line before to the one after; a heading takes what follows it along."""
    start = line
    while start > 0 and lines[start - 1].strip() and line - start < _PROSE_LINES // 2:
        if lines[start].startswith("#") or _is_item(lines[start]):
            break
        start -= 1
    end, is_open = line, lines[line].startswith("#")
    while end + 1 < len(lines) and end - start < _PROSE_LINES - 1:
        following = lines[end + 1]
        if not is_open and (not following.strip() or following.startswith("#")):
            break
        if not is_open and _is_item(following) and _is_item(lines[start]):
            break
        end += 1
        is_open = is_open and (not following.strip() or following.startswith("#"))
    return start, end


def _is_item(line: str) -> bool:
    return bool(re.match(r"\s*(?:[-*+]|\d+[.)])\s", line))


def _block(lines: Sequence[str], line: int) -> tuple[int, int]:
    """The definition that the line opens or explains, else the lines that belong together."""
    opening = _opening(lines, line)
    start = line if opening is None else opening
    depth = _depth(lines[start])
    end = start
    while end + 1 < len(lines) and end - start < _CODE_LINES - 1:
        following = lines[end + 1]
        if not following.strip() and opening is None:
            break
        if following.strip() and _leaves(following, depth, is_definition=opening is not None):
            break
        end += 1
        if opening is None and following.rstrip().endswith(_QUOTES):
            break
    while start > 0 and line - start < 2 and _ABOVE.match(lines[start - 1]):
        start -= 1
    return start, max(end, line)


def _opening(lines: Sequence[str], line: int) -> int | None:
    """The line itself where it opens a definition, or the one a little above that contains it."""
    depth = _depth(lines[line])
    for number in range(line, max(-1, line - 5), -1):
        above = lines[number]
        if above.rstrip().endswith(_QUOTES) and number < line and _depth(above) == 0:
            return None
        if _DEFINES.match(above) and (number == line or _depth(above) < depth):
            return number
    return None


def _leaves(following: str, depth: int, *, is_definition: bool) -> bool:
    if _depth(following) < depth:
        return True
    if _depth(following) > depth or following.lstrip().startswith((")", "]", "}")):
        return False
    return is_definition or bool(_DEFINES.match(following)) or following.lstrip()[:1] == "@"


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())

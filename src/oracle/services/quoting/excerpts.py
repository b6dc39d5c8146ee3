"""How much to quote around a line: a definition from its start, a paragraph, a row of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from oracle.patterns import lazy_pattern
from oracle.services.project.code_blocks import fence_at
from oracle.services.quoting.quotation import Quotation

_CODE_LINES: Final = 10
_PROSE_LINES: Final = 8
_TABLE_LINES: Final = 14
MOST_QUOTED: Final = 25
"""Lines. A definition or a paragraph up to this length is quoted whole."""
_ANNOUNCED: Final = 15
"""Lines beyond that, for what the last line announces."""
_COMMENT_LINES: Final = 15
_COMMENTED: Final = 16
"""Lines of a comment at the top of its block, with what is below it."""
_NEAR_HEADING: Final = 8
_PROSE: Final = (".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc", ".org")
_KINDS: Final = "def|class|function|func|fn|struct|interface|trait|enum|type|const|let|var|local"
# A line that opens a definition, in several languages; or a constant at the start of a line. `==`
# is a comparison.
_DEFINES: Final = lazy_pattern(
    rf"\s*(?:(?:async|pub|export|public|private|static|final|abstract|default)\s+){{0,4}}"
    rf"(?:{_KINDS})\s+(?P<name>[\w$.:]+)|^(?P<constant>[A-Za-z_]\w*)\s*(?::[^=\n]{{1,80}})?=(?!=)"
)
# A decorator or a comment, which belongs to what is below it.
_ABOVE: Final = lazy_pattern(r"\s*(?:@|#|//|/\*|\*)")
_EXPORTS: Final = lazy_pattern(
    r"\s*(?:module\.)?exports\b[^(]*$|\s*export\s+(?:default\b|\{)[^(]*$"
)
_UNDERLINE: Final = lazy_pattern(r"([=\-~^\"'*+#.])\1{2,}")
_QUOTES: Final = ('"""', "'''")


def is_definition(line: str, name: str, *, exactly: bool = False) -> bool:
    """Whether the line defines the name. A plain word may be only a part of the defined name,
    unless it must be `exactly` the name.
    """
    found = _DEFINES.match(line)
    if found is None:
        return False
    defined = (found["name"] or found["constant"]).split(".")[-1]
    return defined == name or (not exactly and name.islower() and name in defined.lower())


def is_export(line: str) -> bool:
    """Whether the line only hands a name to other files: `module.exports = Queue`."""
    return bool(_EXPORTS.match(line))


def names_opened(text: str) -> list[str]:
    """The public names that lines of a text define, also quoted ones: `- `a.py:3`: `class A:``."""
    found = [_DEFINES.match(line.rpartition(": `")[2]) for line in text.split("\n")]
    names = [match["name"].strip(":.").split(".")[-1] for match in found if match and match["name"]]
    return list(dict.fromkeys(name for name in names if not name.startswith("_")))


def enclosing_name(lines: Sequence[str], line: int) -> str:
    """The definition that the line is in, as far as the lines above show it; else empty."""
    depth = _depth(lines[line])
    for number in range(line - 1, -1, -1):
        above = lines[number]
        if not above.strip() or _depth(above) >= depth:
            continue
        depth = _depth(above)
        found = _DEFINES.match(above)
        if found and found["name"] and not re.match(r"\s*(?:const|let|var|local)\b", above):
            return found["name"].strip(":.")
    return ""


def is_opening(line: str) -> bool:
    """Whether the line opens a public definition at the top level."""
    found = _DEFINES.match(line)
    name = (found["name"] or found["constant"]) if found else "_"
    return not line.startswith((" ", "\t")) and not name.startswith("_")


def excerpt_around(source: Quotation, line: int, most: int | None = None) -> tuple[int, int]:
    """The first and the last line of an excerpt, counted from 0; `most` lines below its start."""
    lines = source.lines
    if is_prose(source):
        is_row = _is_row(lines[line])
        most = most or (_TABLE_LINES if is_row else _PROSE_LINES)
        start, end = (_rows if is_row else _paragraph)(lines, line, most)
    else:
        start, end = _block(lines, line, most or _CODE_LINES)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end].strip():
        end -= 1
    return start, end


def section_start(source: Quotation, start: int) -> int:
    """Where to begin instead of `start`: at the heading of the section, if it is near; in code, at
    the comment above a definition.
    """
    if not is_prose(source):
        return _comment_start(source.lines, start)
    if _is_row(source.lines[start]):
        return start
    above = range(start, max(-1, start - _NEAR_HEADING), -1)
    return next((number for number in above if is_heading(source.lines, number)), start)


def _comment_start(lines: Sequence[str], start: int) -> int:
    above = start
    is_opening_line = bool(_DEFINES.match(lines[start]) or _ABOVE.match(lines[start]))
    while is_opening_line and above > 0 and start - above < _COMMENT_LINES:
        if not _ABOVE.match(lines[above - 1]):
            break
        above -= 1
    return above


def whole_excerpt(source: Quotation, line: int, end: int) -> tuple[int, bool]:
    """Up to where to quote, instead of `end`, and whether the definition or paragraph goes on."""
    _, whole_end = excerpt_around(source, line, most=len(source.lines) + 1)
    if is_prose(source) and not _is_row(source.lines[line]):
        return _to_the_end_of_the_section(source.lines, line, max(end, whole_end))
    is_short = whole_end - line < MOST_QUOTED
    shown = max(end, whole_end) if is_short else end
    # What ends with the source may go on in the file.
    goes_on = whole_end == len(source.lines) - 1 and _is_open(source, line, whole_end)
    return shown, shown < whole_end or goes_on


def _to_the_end_of_the_section(lines: Sequence[str], line: int, end: int) -> tuple[int, bool]:
    """A short section is quoted to its end: what the best line announces is often below it."""
    level = level_of_heading(lines, line)
    heads = (n for n in range(line + 1, len(lines)) if _ends_section(lines, n, level))
    last = next(heads, len(lines)) - 1
    while last > end and not lines[last].strip():
        last -= 1
    room = MOST_QUOTED if level else MOST_QUOTED // 2
    if last - line < room:
        return max(last, end), False
    shown = end
    if level:
        # The paragraphs of a long section that fit, never half a block of code.
        blanks = [n for n in range(end + 1, line + room) if not lines[n].strip()]
        even = [n for n in blanks if not _is_in_fence(lines, line, n)]
        shown = max([end, *(n - 1 for n in even)])
    # A quotation must not stop where the answer begins.
    while shown - line < room + _ANNOUNCED and _announces(lines, line, shown):
        following = _next_block(lines, shown, most=line + room + _ANNOUNCED)
        if following is None or following <= shown:
            break
        shown = following
    # A paragraph is whole, though its section goes on.
    return shown, bool(level) and shown < last


def _is_in_fence(lines: Sequence[str], start: int, number: int) -> bool:
    return sum(bool(fence_at(lines, n)) for n in range(start, number)) % 2 == 1


def _is_open(source: Quotation, line: int, end: int) -> bool:
    """Whether the last line is inside what the line opens, as far as code shows it."""
    if is_prose(source) or end <= line:
        return False
    return source.lines[end].rstrip().endswith(("(", "[", "{", ",", ":", "\\"))


def is_prose(source: Quotation) -> bool:
    # A source that is cited by a title of its own, such as a ticket, is prose too.
    is_titled = source.path.startswith("[[")
    return source.kind.is_prose or is_titled or source.path.lower().endswith(_PROSE)


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def _rows(lines: Sequence[str], line: int, most: int) -> tuple[int, int]:
    """Only the row; for the head of a table, the whole table."""
    end = line
    if line + 1 < len(lines) and re.match(r"\s*\|[\s:|-]+$", lines[line + 1]):
        while end + 1 < len(lines) and _is_row(lines[end + 1]) and end - line < most - 1:
            end += 1
    return line, end


def _paragraph(lines: Sequence[str], line: int, most: int) -> tuple[int, int]:
    """From the blank line before to the one after. A heading is quoted with what follows it.

    What a colon announces belongs to it: a list, a table or a block of code. A block of code is
    quoted whole.
    """
    if opening := _fence_around(lines, line):
        return opening
    start = line
    while start > 0 and lines[start - 1].strip() and line - start < _PROSE_LINES // 2:
        if is_heading(lines, start) or _is_item(lines[start]) or fence_at(lines, start - 1):
            break
        start -= 1
    end = _end_of_paragraph(lines, start, line, most)
    while end - start < MOST_QUOTED and _announces(lines, start, end):
        following = _next_block(lines, end, most=start + MOST_QUOTED)
        if following is None:
            break
        end = following
    return start, end


def _end_of_paragraph(lines: Sequence[str], start: int, line: int, most: int) -> int:
    # After a heading, blank lines and further headings do not end the paragraph.
    end, is_open = line, is_heading(lines, line)
    while end + 1 < len(lines) and end - start < most - 1:
        following = lines[end + 1]
        is_empty = not following.strip() or bool(_UNDERLINE.fullmatch(following.rstrip()))
        if not is_open and (is_empty or is_heading(lines, end + 1)):
            break
        if not is_open and _is_item(following) and _is_item(lines[start]):
            break
        end += 1
        is_open = is_open and (is_empty or is_heading(lines, end))
    return end


def _fence_around(lines: Sequence[str], line: int) -> tuple[int, int] | None:
    """The block of code that a line of a document is in, with the line that announces it."""
    fences = [n for n in range(len(lines)) if fence_at(lines, n)]
    before = [n for n in fences if n <= line]
    # An odd number of fences up to here: the last one is open.
    opening = (
        before[-1] if len(before) % 2 else before[-2] if before and before[-1] == line else None
    )
    if opening is None:
        return None
    closing = next((n for n in fences if n > opening), len(lines) - 1)
    if closing - opening > MOST_QUOTED or closing < line:
        return None
    above = opening
    while (
        above > 0 and opening - above < 4 and not (lines[above - 1].strip() and above < opening - 1)
    ):
        above -= 1
    return (above if lines[above].strip() else opening), closing


def _announces(lines: Sequence[str], start: int, end: int) -> bool:
    """Whether what was quoted so far stops where the answer begins."""
    last = next((n for n in range(end, start - 1, -1) if lines[n].strip()), end)
    text = lines[last].strip()
    # A directive of reStructuredText has its text below it, indented.
    return text.endswith(":") or text.startswith(".. ") or is_heading(lines, last)


def _next_block(lines: Sequence[str], end: int, most: int) -> int | None:
    """The last line of the block after `end`; None if there is none."""
    begin = next((n for n in range(end + 1, len(lines)) if lines[n].strip()), None)
    if begin is None:
        return None
    if fence_at(lines, begin):
        return next(
            (n for n in range(begin + 1, min(len(lines), most)) if fence_at(lines, n)), begin
        )
    is_block = _is_item(lines[begin]) or lines[begin].startswith((" ", "\t"))
    last = begin
    for number in range(begin + 1, min(len(lines), most)):
        text = lines[number]
        if is_heading(lines, number) or (not is_block and not text.strip()):
            break
        # A list and indented code go on after a blank line, unless plain text follows.
        is_plain = bool(text.strip()) and not (_is_item(text) or text.startswith((" ", "\t")))
        if is_block and is_plain and not lines[number - 1].strip():
            break
        last = number if text.strip() else last
    return last


def is_heading(lines: Sequence[str], number: int) -> bool:
    """Whether the line is a heading: marked in markdown, underlined in reStructuredText."""
    return bool(level_of_heading(lines, number))


def level_of_heading(lines: Sequence[str], number: int) -> str:
    """The marks of a heading: `##` or `---`. Empty if the line is none. Fewer `#` are higher."""
    if marked := re.match(r"(#{1,6})\s", lines[number]):
        return marked[1]
    line, below = lines[number].rstrip(), "".join(lines[number + 1 : number + 2]).rstrip()
    is_title = line[:1].strip() and re.search(r"\w", line) and _UNDERLINE.fullmatch(below)
    return below[:3] if is_title and len(below) >= min(len(line), 4) else ""


def _ends_section(lines: Sequence[str], number: int, level: str) -> bool:
    """Whether a heading is not below one of this level."""
    other = level_of_heading(lines, number)
    if not other or not level:
        return bool(other)
    return len(other) <= len(level) if level[0] == "#" == other[0] else other == level


def _is_item(line: str) -> bool:
    return bool(re.match(r"\s*(?:[-*+]|\d+[.)])\s", line))


def _block(lines: Sequence[str], line: int, most: int) -> tuple[int, int]:
    """The definition that the line opens or belongs to, otherwise the lines up to a blank one."""
    opening = _opening(lines, line)
    start = line if opening is None else opening
    depth = _depth(lines[start])
    end = start
    while end + 1 < len(lines) and end - start < most - 1:
        following = lines[end + 1]
        if not following.strip() and opening is None:
            break
        if following.strip() and _leaves(following, depth, is_definition=opening is not None):
            break
        end += 1
        if opening is None and following.rstrip().endswith(_QUOTES):
            break
    if opening is None and all(_ABOVE.match(lines[n]) for n in range(start, end + 1)):
        end = _below_comment(lines, start, end)
    # At most two lines above, such as a decorator.
    while start > 0 and line - start < 2 and _ABOVE.match(lines[start - 1]):
        start -= 1
    return start, max(end, line)


def _below_comment(lines: Sequence[str], start: int, end: int) -> int:
    """The end of what a comment is about: what follows it up to the next comment, if it is short.

    Without it the quotation would stop where the answer begins.
    """
    shown = end
    for number in range(end + 1, len(lines) + 1):
        line = lines[number] if number < len(lines) else ""
        opened = _DEFINES.match(line)
        # In a shell script a command may begin with the value of a variable: `CGO_ENABLED=0 go`.
        if number - start > _COMMENTED or _ABOVE.match(line) or (opened and opened["name"]):
            break
        # Only whole blocks: up to the last line before a blank one.
        if not line.strip() and lines[number - 1].strip():
            shown = number - 1
    return shown


def _opening(lines: Sequence[str], line: int) -> int | None:
    """The line itself if it opens a definition, or one of the four above that encloses it."""
    depth = _depth(lines[line])
    for number in range(line, max(-1, line - 5), -1):
        above = lines[number]
        # The docstring of the module ends above, so nothing encloses the line.
        if above.rstrip().endswith(_QUOTES) and number < line and _depth(above) == 0:
            return None
        if _DEFINES.match(above) and (number == line or _depth(above) < depth):
            return number
    return None


def _leaves(following: str, depth: int, *, is_definition: bool) -> bool:
    """Whether the block ends before this line. A closing bracket still belongs to it."""
    if _depth(following) < depth:
        return True
    if _depth(following) > depth or following.lstrip().startswith((")", "]", "}")):
        return False
    return is_definition or bool(_DEFINES.match(following)) or following.lstrip()[:1] == "@"


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())

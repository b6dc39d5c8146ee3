"""Find the citations in an answer, line by line, outside of code blocks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.citations.forms import (
    FURTHER,
    LINK,
    SPREAD,
    TOKEN,
    WHOLE,
    is_anchored,
    is_page,
    is_path,
    is_plainly_a_file,
    is_title_in_code,
    trimmed_url,
)
from oracle.services.signals.code_fences import Fence, fence_of_line
from oracle.services.signals.inline_code import code_spans

Span = tuple[int, int]
Names = Mapping[str, Sequence[str]]
"""Paths with blanks in them that were read, the longest first.

The key is what follows the last blank, because that is all of the path that a pattern finds.
"""

CitationKind = str
"""`file`, `note`, `url`, or for an entry the prefix of its kind of source, such as `thread`."""

NO_NAMES: Final[Names] = {}
# Endings of the groups of the patterns: `:12`, `#L12`, `#12`, "line 12".
_FORMS: Final = ("", "_l", "_n", "_w")
_CLOSING: Final = lazy_pattern(r"[`*]+")
_DRIVE: Final = lazy_pattern(r"(?:^|[^A-Za-z0-9])[A-Za-z]:")


@dataclass(frozen=True, kw_only=True, slots=True)
class Citation:
    """Characters `start` to `end` of the answer; a mark for it is inserted at `mark_at`.

    `name` is the path, the title, the thread or the address. A file has lines, an entry has its
    time in `entry`, a note may have a `heading`. If it is not `certain`, it is a citation only if
    what it names was read. In that case what looks like a citation inside of it is not one.
    """

    kind: CitationKind
    text: str
    start: int
    end: int
    mark_at: int
    name: str
    first: int = 0
    last: int = 0
    more: Sequence[Span] = ()
    entry: str = ""
    heading: str = ""
    certain: bool = True

    @property
    def ranges(self) -> Sequence[Span]:
        """All ranges of lines that it names, each with its first and last line."""
        return ((self.first, self.last), *self.more)


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line of running text, with its inline code and its citations."""

    start: int
    end: int
    code: list[Span]
    citations: list[Citation] = field(default_factory=list[Citation])


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """The inside of a fence."""

    start: int
    end: int


def find_citations(text: str) -> list[Citation]:
    return [*_found(text)]


# An answer is asked for its citations by several leaves, one after the other.
@lru_cache(maxsize=16)
def _found(text: str) -> tuple[Citation, ...]:
    return tuple(
        citation
        for part in layout(text)
        if isinstance(part, Line)
        for citation in part.citations
        if citation.certain
    )


def layout(text: str, names: Names = NO_NAMES) -> Iterator[Line | Block]:
    """The answer from top to bottom. Nothing in a fence is a citation."""
    fence: Fence | None = None
    block_start = place = 0
    for bare in text.split("\n"):
        start, place = place, place + len(bare) + 1
        if fence is not None:
            is_left = fence.is_left_by(f"{bare}\n")
            if not is_left and not fence.is_closed_by(bare):
                continue
            yield Block(start=block_start, end=start)
            fence = None
            if not is_left:
                continue
        fence = fence_of_line(f"{bare}\n")
        if fence is None:
            yield _line(text, start, start + len(bare), names)
        else:
            block_start = place
    if fence is not None:
        yield Block(start=min(block_start, len(text)), end=len(text))


def _line(text: str, start: int, end: int, names: Names) -> Line:
    code = code_spans(text, start, end)
    line = Line(start=start, end=end, code=code)
    links = [found.span() for found in LINK.finditer(text, start, end)]
    place = start
    for code_start, code_end in code:
        line.citations.extend(_in_part(text, place, code_start, links))
        line.citations.extend(_in_code(text, code_start, code_end, links))
        place = code_end
    line.citations.extend(_in_part(text, place, end, links))
    if spread := list(_spread(text, line, links)):
        line.citations[:] = _merged(line.citations, spread)
    # First the whole names, then the opening of code: `_with_opening` measures from the name.
    if names:
        line.citations[:] = with_known_names(text, line.citations, names)
    if spread:
        line.citations[:] = [_with_opening(text, citation) for citation in line.citations]
    return line


def _spread(text: str, line: Line, links: list[Span]) -> Iterator[Citation]:
    """Citations whose lines are outside the code or the bold type of their path."""
    for match in SPREAD.finditer(text, line.start, line.end):
        if _leaves_longer_code(text, line, match):
            continue
        number = bisect_right(line.code, (match.end(), 0)) - 1
        last_end = line.code[number][1] if number >= 0 else 0
        code_end = last_end if last_end >= match.end() else 0
        found = _citation(text, match.span(), match, links, code_end)
        if found is not None:
            certain = found.certain and is_plainly_a_file(found.name)
            yield replace(found, certain=certain)


def _leaves_longer_code(text: str, line: Line, match: re.Match[str]) -> bool:
    """Whether it begins in inline code that has more than its path, and ends outside of it."""
    number = bisect_right(line.code, (match.start(), len(text))) - 1
    code_start, code_end = line.code[number] if number >= 0 else (0, 0)
    if not match.start() < code_end < match.end():
        return False
    return text[code_start:code_end].strip("`").strip() != match["path"]


def _with_opening(text: str, citation: Citation) -> Citation:
    """A citation whose lines are outside its code begins where the code begins."""
    closing = _CLOSING.match(text, citation.start + len(citation.name), citation.end)
    opening = closing[0][::-1] if closing is not None and citation.kind == "file" else ""
    start = citation.start - len(opening)
    if not opening or start < 0 or not text.startswith(opening, start):
        return citation
    return replace(citation, start=start, text=text[start : citation.end])


def _merged(found: list[Citation], spread: list[Citation]) -> Iterator[Citation]:
    """In the order of the text. None begins inside another one that is certain."""
    last_end = 0
    for citation in sorted([*found, *spread], key=lambda each: each.start):
        if citation.start >= last_end:
            yield citation
            last_end = citation.end if citation.certain else last_end


def _in_code(text: str, code_start: int, code_end: int, links: list[Span]) -> Iterator[Citation]:
    ticks = len(text[code_start:code_end]) - len(text[code_start:code_end].lstrip("`"))
    start, end = code_start + ticks, code_end - ticks
    inside = text[start:end].strip()
    # `WHOLE` tries each length of the path, so its time is bounded by the length of the code.
    whole = WHOLE.fullmatch(inside) if len(inside) <= 600 else None
    if whole is not None and " " in inside:
        begins = text.index(inside, start)
        span = (begins, begins + len(inside))
        if (found := _citation(text, span, whole, links, code_end)) is not None:
            # Not certain: `see a.py:3` matches too. The parts are therefore searched as well.
            yield replace(found, certain=False)
    yield from _in_part(text, start, end, links, code_end)


def _in_part(
    text: str, start: int, end: int, links: list[Span], code_end: int = 0
) -> Iterator[Citation]:
    place = start
    while (match := TOKEN.search(text, place, end)) is not None:
        begins, place = match.span()
        if match["url"] is not None:
            # What is cut off an address may itself be a citation, so the search goes on there.
            place = begins + max(1, len(trimmed_url(match["url"])))
        found = _citation(text, (begins, place), match, links, code_end)
        if found is not None:
            yield found


def _citation(
    text: str, span: Span, match: re.Match[str], links: list[Span], code_end: int
) -> Citation | None:
    """`code_end` is where the inline code around it ends; 0 if it is not in code."""
    start, end = span
    given = match.groupdict()
    mark_at = _place_for_mark(text, span, links, code_end)
    found = Citation(
        kind="file", text=text[start:end], start=start, end=end, mark_at=mark_at, name=""
    )
    if given.get("url") is not None:
        # `http://localhost:8000` is mostly an example. It is a citation if that page was read.
        return replace(found, kind="url", name=found.text, certain=is_page(found.text))
    if given.get("prefix") is not None:
        kind, name, time = (str(given[group]) for group in ("prefix", "holder", "time"))
        return replace(found, kind=kind, name=name, entry=time)
    if given.get("title") is not None:
        # In code, double brackets are mostly something else: a test, a table, an attribute.
        is_all = code_end > 0 and text[start - 1 : start] == "`" and text.startswith("`", end)
        is_note = is_title_in_code(given["title"]) if is_all else not code_end
        return _as_note(found, given["title"], given["heading"] or "", certain=is_note)
    if _is_of_something_else(text, start, given["path"]):
        return None
    return _as_file(found, given)


def _as_note(found: Citation, title: str, heading: str, *, certain: bool) -> Citation | None:
    """None for brackets around blanks or numbers, such as `[[1, 2]]`."""
    if title != title.strip() or not any(letter.isalpha() for letter in title):
        return None
    part = heading.rpartition("#")[2]
    return replace(found, kind="note", name=title, heading=part, certain=certain)


def _as_file(found: Citation, given: Mapping[str, str | None]) -> Citation | None:
    path = given["path"] or ""
    certain = is_path(path)
    if certain is False or (given.get("first_n") and not is_anchored(path)):
        return None
    first = _number(given, "first")
    more = [
        (int(lines[1]), int(lines[2] or lines[1]))
        for lines in FURTHER.finditer(given.get("more") or given.get("more_w") or "")
    ]
    last = _number(given, "last") or first
    # None means that it may be a file: it is one if such a file was read.
    return replace(
        found, name=path, first=first, last=last, more=tuple(more), certain=bool(certain)
    )


def _number(given: Mapping[str, str | None], name: str) -> int:
    """From the one form that matched; 0 if none has it."""
    return int(next(filter(None, (given.get(f"{name}{form}") for form in _FORMS)), 0))


def _is_of_something_else(text: str, start: int, path: str) -> bool:
    """The end of a Windows path or of a word, or a slice between square brackets."""
    before = text[max(0, start - 3) : start]
    if before.endswith("\\") or (_DRIVE.search(before[-3:]) is not None and before.endswith(":")):
        return True
    if path.startswith(".") and path[1:2] not in ("/", ".") and before[-1:].isalnum():
        return True
    return before.endswith("[") and (before[-2:-1].isalnum() or before[-2:-1] in ("_", ")"))


def with_known_names(text: str, citations: Iterable[Citation], names: Names) -> Iterator[Citation]:
    """Files cited by the longest known name that ends where the path found so far ends."""
    last_end = 0
    for citation in citations:
        if citation.kind == "file" and citation.certain:
            citation = _by_known_name(text, citation, names.get(citation.name, ()), last_end)
            last_end = citation.end
        yield citation


def _by_known_name(text: str, citation: Citation, names: Sequence[str], last_end: int) -> Citation:
    ends = citation.start + len(citation.name)
    for name in names:
        start = ends - len(name)
        if start >= last_end and text.endswith(name, start, ends) and not _in_a_path(text, start):
            return replace(
                citation, name=name, start=start, text=text[start : citation.end], certain=True
            )
    return citation


def _in_a_path(text: str, start: int) -> bool:
    """Whether a name would begin in the middle of a longer path or word."""
    before = text[max(0, start - 1) : start]
    return before.isalnum() or before in ("/", "\\", "_", "-", ".")


def _place_for_mark(text: str, span: Span, links: list[Span], code_end: int) -> int:
    """After the code, the link or the angle brackets around a citation: inside, a mark would break
    the markdown.
    """
    start, end = span
    place = max(end, code_end)
    number = bisect_right(links, (start, len(text) + 1)) - 1
    if number >= 0 and end <= links[number][1]:
        place = max(place, links[number][1])
    elif text[start - 1 : start] == "<" and text[end : end + 1] == ">":
        place = max(place, end + 1)
    return place

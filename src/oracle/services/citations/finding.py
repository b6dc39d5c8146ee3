"""Find the citations in an answer, line by line, outside of code blocks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import Any, Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.citations.forms import (
    BEFORE,
    FURTHER,
    LINK,
    SPREAD,
    TOKEN,
    WHOLE,
    is_anchored,
    is_end_of_name,
    is_letter_before,
    is_page,
    is_path,
    is_plainly_a_file,
    is_title,
    start_of_foreign,
    trimmed_url,
)
from oracle.services.citations.known_names import NO_NAMES, Names, with_known_names
from oracle.services.signals.code_fences import Fence, fence_of_line
from oracle.services.signals.inline_code import code_spans

Span = tuple[int, int]

CitationKind = str
"""`file`, `note`, `url`, or for an entry the prefix of its kind of source, such as `thread`."""

# Endings of the groups of the patterns: `:12`, `#L12`, `#12`, "line 12", `(L12)`, `(12-20)`.
_FORMS: Final = ("", "_l", "_n", "_w", "_b", "_r")
_MOST_DIGITS: Final = 9
_NO_LINE: Final = 10**_MOST_DIGITS
"""No file has so many lines. A longer number would take time to convert."""
_YEARS: Final = range(1900, 2101)
_EMPHASIS: Final = lazy_pattern(r"_{1,3}|~~")
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
    if spread := [*_spread(text, line, links), *_after_lines(text, line, links)]:
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
        found = _citation(text, match.span(), match, links, _end_of_code(line, match.end()))
        if found is not None:
            yield replace(found, certain=_is_surely_one(found, match))


def _after_lines(text: str, line: Line, links: list[Span]) -> Iterator[Citation]:
    """Of "line 12 of a.py" the citation is the path, which the mark follows."""
    for match in BEFORE.finditer(text, line.start, line.end):
        start = match.start("path")
        # The sentence may end there.
        path = match["path"].rstrip("./-~+_") if match["path"][:1] != "_" else match["path"]
        span = (start, start + len(path))
        given = {"path": path, "first": match["first"], "last": match["last"]}
        found = _made(text, span, given, links, _end_of_code(line, span[1]))
        if found is not None:
            yield replace(found, certain=_is_surely_one(found, match))


def _end_of_code(line: Line, end: int) -> int:
    """Where the inline code ends that a citation up to `end` is in; 0 if it is in none."""
    number = bisect_right(line.code, (end, 0)) - 1
    code_end = line.code[number][1] if number >= 0 else 0
    return code_end if code_end >= end else 0


def _is_surely_one(found: Citation, match: re.Match[str]) -> bool:
    """`CHANGES.md` (2019-2024) are years, and a name without an ending of its own may be a word."""
    are_years = match.groupdict().get("first_r") and {found.first, found.last} <= {*_YEARS}
    return found.certain and is_plainly_a_file(found.name) and not are_years


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
        last_end, (begins, place) = place, match.span()
        if match["url"] is not None:
            # What is cut off an address may itself be a citation, so the search goes on there.
            place = begins + max(1, len(trimmed_url(match["url"])))
        found = _citation(text, (begins, place), match, links, code_end)
        if found is not None:
            yield _not_before(found, last_end)


def _not_before(found: Citation, place: int) -> Citation:
    """Without what belongs to the citation before it."""
    cut = max(0, place - found.start)
    return (
        replace(found, start=place, text=found.text[cut:], name=found.name[cut:]) if cut else found
    )


def _citation(
    text: str, span: Span, match: re.Match[str], links: list[Span], code_end: int
) -> Citation | None:
    """`code_end` is where the inline code around it ends; 0 if it is not in code."""
    return _made(text, span, match.groupdict(), links, code_end)


def _made(
    text: str, span: Span, given: Mapping[str, Any], links: list[Span], code_end: int
) -> Citation | None:
    start, end = span
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
        is_note = is_title(given["title"]) if is_all else not code_end
        return _as_note(found, given["title"], given["heading"] or "", certain=is_note)
    if is_end_of_name(given["path"]) and is_letter_before(text, start):
        return _as_foreign_file(text, found, given)
    if _is_of_something_else(text, start, given["path"]):
        return None
    plain = _without_emphasis(text, found)
    cut = plain.start - found.start
    return _as_file(plain, {**given, "path": given["path"][cut:]} if cut else given)


def _as_foreign_file(text: str, found: Citation, given: Mapping[str, Any]) -> Citation | None:
    """Of `日本.py:12` the pattern finds only the ending. The name goes on to the left, maybe with
    words before it: `record` looks for the file that it ends with.
    """
    start = start_of_foreign(text, found.start)
    path = text[start : found.start] + given["path"]
    return _as_file(
        replace(found, start=start, text=text[start : found.end]), {**given, "path": path}
    )


def _without_emphasis(text: str, found: Citation) -> Citation:
    """`_a.py:12_` is a citation in italics. `__init__.py` begins with a name."""
    mark = _EMPHASIS.match(found.text)
    if mark is None or not text.startswith(mark[0], found.end):
        return found
    return replace(found, start=found.start + len(mark[0]), text=found.text[len(mark[0]) :])


def _as_note(found: Citation, title: str, heading: str, *, certain: bool) -> Citation | None:
    """None for brackets around blanks or numbers, such as `[[1, 2]]`."""
    if not any(letter.isalpha() for letter in title):
        return None
    # With blanks around it, it may be a test of a shell: `[[ -f x ]]`.
    certain = certain and (title == title.strip() or is_title(title))
    title = title.strip()
    part = heading.rpartition("#")[2]
    return replace(found, kind="note", name=title, heading=part, certain=certain)


def _as_file(found: Citation, given: Mapping[str, str | None]) -> Citation | None:
    path = given["path"] or ""
    certain = is_path(path)
    if certain is False or (given.get("first_n") and not is_anchored(path)):
        return None
    first = _number(given, "first")
    more = [
        (_line_number(lines[1]), _line_number(lines[2] or lines[1]))
        for lines in FURTHER.finditer(given.get("more") or given.get("more_w") or "")
    ]
    last = _number(given, "last") or first
    # None means that it may be a file: it is one if such a file was read.
    return replace(
        found, name=path, first=first, last=last, more=tuple(more), certain=bool(certain)
    )


def _number(given: Mapping[str, str | None], name: str) -> int:
    """From the one form that matched; 0 if none has it."""
    return _line_number(next(filter(None, (given.get(f"{name}{form}") for form in _FORMS)), "0"))


def _line_number(digits: str) -> int:
    return int(digits) if len(digits) <= _MOST_DIGITS else _NO_LINE


def _is_of_something_else(text: str, start: int, path: str) -> bool:
    """The end of a Windows path or of a word, or a slice between square brackets."""
    before = text[max(0, start - 3) : start]
    if before.endswith("\\") or (_DRIVE.search(before[-3:]) is not None and before.endswith(":")):
        return True
    if path.startswith(".") and path[1:2] not in ("/", ".") and before[-1:].isalnum():
        return True
    return before.endswith("[") and (before[-2:-1].isalnum() or before[-2:-1] in ("_", ")"))


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

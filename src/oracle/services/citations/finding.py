"""Find the citations in an answer, and what is quoted next to each of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

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
"""Paths with blanks in them that were read, the longest first, by what follows the last blank."""

Kind = str
"""`file`, `note`, `url`, or for an entry the prefix of its kind of source, such as `thread`."""

NO_NAMES: Final[Names] = {}
_FORMS: Final = ("", "_l", "_n", "_w")
_CLOSING: Final = re.compile(r"[`*]+")
_DRIVE: Final = re.compile(r"(?:^|[^A-Za-z0-9])[A-Za-z]:")


@dataclass(frozen=True, kw_only=True, slots=True)
class Citation:
    """Characters `start` to `end` of the answer; a mark for it goes to `mark_at`.

    `name` is the path, the title, the thread or the address. A file has lines, an entry its time in
    `entry`, a note perhaps a `heading`. One that is not `certain` is a citation only if what it
    names was read; what looks like a citation inside of it is then not one.
    """

    kind: Kind
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
        """All lines that it names, each as the first and the last of them."""
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
    return [
        citation
        for part in layout(text)
        if isinstance(part, Line)
        for citation in part.citations
        if citation.certain
    ]


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
    for opening, behind in code:
        line.citations.extend(_in_part(text, place, opening, links))
        line.citations.extend(_in_code(text, opening, behind, links))
        place = behind
    line.citations.extend(_in_part(text, place, end, links))
    if spread := list(_spread(text, line, links)):
        line.citations[:] = _merged(line.citations, spread)
    if names:
        line.citations[:] = with_known_names(text, line.citations, names)
    if spread:
        line.citations[:] = [_with_opening(text, citation) for citation in line.citations]
    return line


def _spread(text: str, line: Line, links: list[Span]) -> Iterator[Citation]:
    for match in SPREAD.finditer(text, line.start, line.end):
        if _leaves_code_of_others(text, line, match):
            continue
        number = bisect_right(line.code, (match.end(), 0)) - 1
        behind = line.code[number][1] if number >= 0 else 0
        behind_code = behind if behind >= match.end() else 0
        found = _citation(text, match.span(), match, links, behind_code)
        if found is not None:
            certain = found.certain and is_plainly_a_file(found.name)
            yield replace(found, certain=certain)


def _leaves_code_of_others(text: str, line: Line, match: re.Match[str]) -> bool:
    """Whether it begins in inline code that says more than its path, and ends outside."""
    number = bisect_right(line.code, (match.start(), len(text))) - 1
    opening, behind = line.code[number] if number >= 0 else (0, 0)
    if not match.start() < behind < match.end():
        return False
    return text[opening:behind].strip("`").strip() != match["path"]


def _with_opening(text: str, citation: Citation) -> Citation:
    """One whose lines stand outside its code begins with the code."""
    closing = _CLOSING.match(text, citation.start + len(citation.name), citation.end)
    opening = closing[0][::-1] if closing is not None and citation.kind == "file" else ""
    start = citation.start - len(opening)
    if not opening or start < 0 or not text.startswith(opening, start):
        return citation
    return replace(citation, start=start, text=text[start : citation.end])


def _merged(found: list[Citation], spread: list[Citation]) -> Iterator[Citation]:
    """In their order; none begins inside another, but for those that are not certain."""
    behind = 0
    for citation in sorted([*found, *spread], key=lambda each: each.start):
        if citation.start >= behind:
            yield citation
            behind = citation.end if citation.certain else behind


def _in_code(text: str, opening: int, behind: int, links: list[Span]) -> Iterator[Citation]:
    ticks = len(text[opening:behind]) - len(text[opening:behind].lstrip("`"))
    start, end = opening + ticks, behind - ticks
    inside = text[start:end].strip()
    whole = WHOLE.fullmatch(inside) if len(inside) <= 600 else None
    if whole is not None and " " in inside:
        begins = text.index(inside, start)
        span = (begins, begins + len(inside))
        if (found := _citation(text, span, whole, links, behind)) is not None:
            yield replace(found, certain=False)
    yield from _in_part(text, start, end, links, behind)


def _in_part(
    text: str, start: int, end: int, links: list[Span], mark_at: int = 0
) -> Iterator[Citation]:
    place = start
    while (match := TOKEN.search(text, place, end)) is not None:
        begins, place = match.span()
        if match["url"] is not None:
            place = begins + max(1, len(trimmed_url(match["url"])))
        found = _citation(text, (begins, place), match, links, mark_at)
        if found is not None:
            yield found


def _citation(
    text: str, span: Span, match: re.Match[str], links: list[Span], mark_at: int
) -> Citation | None:
    start, end = span
    given = match.groupdict()
    where = _Where(
        text=text[start:end], start=start, end=end, mark_at=_behind(text, span, links, mark_at)
    )
    if given.get("url") is not None:
        return where.url() if is_page(where.text) else None
    if given.get("prefix") is not None:
        return where.entry(str(given["prefix"]), str(given["holder"]), str(given["time"]))
    if given.get("title") is not None:
        is_all = mark_at > 0 and text[start - 1 : start] == "`" and text.startswith("`", end)
        is_note = is_title_in_code(given["title"]) if is_all else not mark_at
        return where.note(given["title"], given["heading"] or "", certain=is_note)
    if _is_of_something_else(text, start, given["path"]):
        return None
    return where.file(given)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Where:
    text: str
    start: int
    end: int
    mark_at: int

    def url(self) -> Citation:
        return self._made("url", self.text)

    def entry(self, prefix: str, holder: str, time: str) -> Citation:
        return self._made(prefix, holder, entry=time)

    def note(self, title: str, heading: str, *, certain: bool) -> Citation | None:
        """In code, double brackets are mostly something else: a test, a table, an attribute."""
        if title != title.strip() or not any(letter.isalpha() for letter in title):
            return None
        part = heading.rpartition("#")[2]
        return replace(self._made("note", title, certain=certain), heading=part)

    def file(self, given: dict[str, str | None]) -> Citation | None:
        path = given["path"] or ""
        certain = is_path(path)
        if certain is False or (given.get("first_n") and not is_anchored(path)):
            return None
        first = _number(given, "first")
        last = _number(given, "last") or first
        more = [
            (int(found[1]), int(found[2] or found[1]))
            for found in FURTHER.finditer(given.get("more") or given.get("more_w") or "")
        ]
        return self._made(
            "file", path, first=first, last=last, more=tuple(more), certain=bool(certain)
        )

    def _made(
        self,
        kind: Kind,
        name: str,
        *,
        first: int = 0,
        last: int = 0,
        more: Sequence[Span] = (),
        entry: str = "",
        certain: bool = True,
    ) -> Citation:
        return Citation(
            kind=kind,
            text=self.text,
            start=self.start,
            end=self.end,
            mark_at=self.mark_at,
            name=name,
            first=first,
            last=last,
            more=more,
            entry=entry,
            certain=certain,
        )


def _number(given: Mapping[str, str | None], name: str) -> int:
    """As it stands in one of the forms; 0 where it stands in none."""
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
    """Each file by the longest known name that ends where its path does."""
    behind = 0
    for citation in citations:
        if citation.kind == "file" and citation.certain:
            citation = _by_known_name(text, citation, names.get(citation.name, ()), behind)
            behind = citation.end
        yield citation


def _by_known_name(text: str, citation: Citation, names: Sequence[str], behind: int) -> Citation:
    ends = citation.start + len(citation.name)
    for name in names:
        start = ends - len(name)
        if start >= behind and text.endswith(name, start, ends) and not _in_a_path(text, start):
            return replace(
                citation, name=name, start=start, text=text[start : citation.end], certain=True
            )
    return citation


def _in_a_path(text: str, start: int) -> bool:
    """Whether a name would begin in the middle of a longer path or word."""
    before = text[max(0, start - 1) : start]
    return before.isalnum() or before in ("/", "\\", "_", "-", ".")


def _behind(text: str, span: Span, links: list[Span], behind_code: int) -> int:
    """A mark stands behind the code, the link or the angle brackets around its citation."""
    start, end = span
    place = max(end, behind_code)
    number = bisect_right(links, (start, len(text) + 1)) - 1
    if number >= 0 and end <= links[number][1]:
        place = max(place, links[number][1])
    elif text[start - 1 : start] == "<" and text[end : end + 1] == ">":
        place = max(place, end + 1)
    return place

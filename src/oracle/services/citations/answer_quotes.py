"""Find what an answer quotes near a citation: inline code, words in quotation marks, a block."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.citations.adjacency import adjacency_of, is_introduced
from oracle.services.citations.finding import (
    Block,
    Citation,
    Line,
    Span,
    layout,
)
from oracle.services.citations.known_names import NO_NAMES, Names

MOST_ON_A_SIDE: Final = 3
LONGEST: Final = 2_000
# In letters and digits: shorter code such as `i` is found everywhere, so it confirms nothing.
_SHORTEST: Final = 3
_STRONG: Final = 6
# In characters: so little around a citation is not a sentence of its own.
_NEARLY_ALONE: Final = 40

_MARKS: Final = lazy_pattern(r"\"([^\"\n]{3,400}+)\"|“([^”\n]{3,400}+)”|„([^“”\n]{3,400}+)[“”]")
_SENTENCE_END: Final = lazy_pattern(r"[.!?][\"')\]*_]*+(?=\s)")
_LEFT_OUT: Final = lazy_pattern(r"\W*(?:\.\.\.|…)\W*")
# Line numbers as our tools (`12  x`), grep (`12:x`) and tables (`12| x`) print them.
_LINE_NUMBER: Final = lazy_pattern(r"\s*\d+(?:  |[:|\t] ?)")
_WORDS: Final = lazy_pattern(r"\w")
_ONLY_A_NAME: Final = lazy_pattern(r"[\w.():]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerQuote:
    """`text` has single blanks between its words. A `strong` quote is more than one name."""

    text: str
    at: int
    end: int
    strong: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Cited:
    """A citation and the quotations of its sentence or of the block below it, nearest first.

    `attached` are those right next to it. `said` are those that the sentence claims to be the words
    of the cited lines. `inside` is the quotation that the citation itself is a part of.
    """

    citation: Citation
    quotations: Sequence[AnswerQuote] = ()
    attached: Sequence[AnswerQuote] = ()
    said: Sequence[AnswerQuote] = ()
    inside: str = ""


def find_cited(text: str, names: Names = NO_NAMES) -> list[Cited]:
    """`names` are paths with blanks in them that may be cited.

    A block belongs to the line with text above it, if that line has a citation. If it has several,
    the block belongs to the last one.
    """
    found: list[Cited] = []
    last: Line | None = None
    for part in layout(text, names):
        if isinstance(part, Line):
            if part.citations:
                found.extend(_cited_in(text, part))
            if part.citations or text[part.start : part.end].strip():
                last = part
        elif last is not None and last.citations:
            found[-1] = _with_block(found[-1], text, last, part)
            last = None
        else:
            last = None
    return found


def _with_block(cited: Cited, text: str, line: Line, block: Block) -> Cited:
    pieces = list(_pieces(text[block.start : block.end], block.start))
    attached = pieces if is_introduced(text, cited.citation, line.end) else []
    return replace(
        cited,
        quotations=(*pieces, *cited.quotations),
        attached=(*attached, *cited.attached),
    )


def _pieces(code: str, at: int) -> Iterator[AnswerQuote]:
    """The quotations of a block: without line numbers, divided where a line is only an ellipsis."""
    lines = code[: 2 * LONGEST].split("\n")
    # Only if all lines have a number: otherwise the numbers belong to the code.
    if all(_LINE_NUMBER.match(line) for line in lines if line.strip()):
        lines = [_LINE_NUMBER.sub("", line, count=1) for line in lines]
    piece: list[str] = []
    # The ellipsis at the end closes the last piece.
    for line in [*lines, "…"]:
        if _LEFT_OUT.fullmatch(line) is None:
            piece.append(line)
            continue
        made = _quotation("\n".join(piece), at, at + len(code))
        if made is not None:
            yield made
        piece = []


def _cited_in(text: str, line: Line) -> Iterator[Cited]:
    marked = [found.span() for found in _MARKS.finditer(text, line.start, line.end)]
    quotations = _quotations(text, line, marked)
    ends = _sentence_ends(text, line)
    for citation in line.citations:
        start, end = _sentence(text, citation, ends, line)
        near = _nearest(quotations, citation, start, end)
        joined = [(found, adjacency_of(text, citation, (found.at, found.end))) for found in near]
        yield Cited(
            citation=citation,
            quotations=near,
            attached=tuple(found for found, adjacency in joined if adjacency is not None),
            said=tuple(found for found, adjacency in joined if adjacency == "said"),
            inside=_around(text, citation, line, marked),
        )


def _around(text: str, citation: Citation, line: Line, marked: list[Span]) -> str:
    """The inline code, the words in quotation marks or the quoted line around a citation."""
    for spans in (line.code, marked):
        number = bisect_right(spans, citation.start, key=_start) - 1
        if number >= 0 and citation.end <= spans[number][1]:
            start, end = spans[number]
            around = _on_one_line(text[start : min(end, start + LONGEST)].strip('`"“”„ '))
            if around != _on_one_line(citation.text):
                return around
    if text.startswith(">", line.start) and line.end - line.start < LONGEST:
        return _on_one_line(text[line.start : line.end].lstrip("> "))
    return ""


def _start(span: Span) -> int:
    return span[0]


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _nearest(
    quotations: list[AnswerQuote], citation: Citation, start: int, end: int
) -> Sequence[AnswerQuote]:
    here = bisect_left(quotations, citation.start, key=_place)
    before = quotations[max(0, here - MOST_ON_A_SIDE) : here][::-1]
    after = quotations[here : here + MOST_ON_A_SIDE]
    near = (found for pair in zip_longest(before, after) for found in pair if found is not None)
    return tuple(found for found in near if start <= found.at < end)


def _place(quotation: AnswerQuote) -> int:
    return quotation.at


def _quotations(text: str, line: Line, marked: list[Span]) -> list[AnswerQuote]:
    """In the order of the text. What is a citation or contains one is not a quotation."""
    taken = [(citation.start, citation.end) for citation in line.citations]
    found: list[AnswerQuote] = []
    for start, end in sorted([*line.code, *marked]):
        if not _overlaps(taken, start, end):
            made = _quotation(text[start:end].strip('`"“”„ '), start, end)
            if made is not None:
                found.append(made)
    return found


def _overlaps(taken: list[Span], start: int, end: int) -> bool:
    """Binary search: the spans of `taken` are in order and do not overlap."""
    number = bisect_right(taken, start, key=lambda span: span[1])
    return number < len(taken) and taken[number][0] < end


def _quotation(text: str, at: int, end: int) -> AnswerQuote | None:
    folded = _on_one_line(text[:LONGEST]).strip("….").strip()
    letters = len(_WORDS.findall(folded))
    if letters < _SHORTEST:
        return None
    strong = letters >= _STRONG and _ONLY_A_NAME.fullmatch(folded) is None
    return AnswerQuote(text=folded, at=at, end=end, strong=strong)


def _sentence_ends(text: str, line: Line) -> list[int]:
    found = [match.end() for match in _SENTENCE_END.finditer(text, line.start, line.end)]
    # A full stop inside inline code does not end a sentence.
    return [end for end in found if not _overlaps(line.code, end - 1, end)]


def _sentence(text: str, citation: Citation, ends: list[int], line: Line) -> Span:
    """Where its sentence begins and ends. "(a.py:3)" alone belongs to the sentence before it."""
    number = bisect_left(ends, citation.start + 1)
    end = ends[number] if number < len(ends) else line.end
    start = ends[number - 1] if number else line.start
    if number and citation.start - start + end - citation.end < _NEARLY_ALONE:
        around = text[start : citation.start] + text[citation.end : end]
        if len(_WORDS.findall(around)) <= 2:
            start = ends[number - 2] if number > 1 else line.start
    return start, end

"""The places in quoted text that say most about a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oracle.services.reading.choosing import (
    Passage,
    Term,
    every_line,
    is_dull,
    passages,
    terms_for,
)
from oracle.services.reading.excerpts import is_opening
from oracle.services.reading.inline import code
from oracle.services.reading.quotations import Quotation, quotations_in
from oracle.services.reading.words import asks_for_uses, search_words

MOST_PLACES: Final = 3
_OPENINGS: Final = 2
_LONGEST_LINE: Final = 90


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    where: str
    line: str

    def __str__(self) -> str:
        return f"{code(self.where)}: {code(self.line, _LONGEST_LINE)}"


def quoted_lines(question: str, part: str) -> str:
    """A line for each place, with its citation; nothing where no line has a word of it."""
    sources = quotations_in(part)
    terms = terms_for(search_words(question), sources)
    found = best_places(sources, terms, uses=asks_for_uses(question))
    return "\n".join(f"- {place}" for place in found)


def best_places(sources: Sequence[Quotation], terms: Sequence[Term], *, uses: bool) -> list[Place]:
    """The best passage, and the lines that say about as much elsewhere, in the order of lines.

    A part without a word of the question was read because it connects others: what it defines.
    """
    best = passages(sources, terms)[:1]
    others = sorted(every_line(sources, terms, uses=uses), key=lambda passage: -passage.score)
    lively = [passage for passage in [*best, *others] if not is_dull(passage.best_line)]
    chosen = {_line(passage): passage for passage in lively or best}
    found = [_place(chosen[line]) for line in sorted([*chosen][:MOST_PLACES])]
    return found or [place for source in sources for place in _openings(source)]


def _openings(source: Quotation) -> list[Place]:
    opened = [n for n, line in enumerate(source.lines) if is_opening(line)]
    return [Place(where=source.place(n, n), line=source.lines[n]) for n in opened[:_OPENINGS]]


def _line(passage: Passage) -> tuple[str, int]:
    return passage.source.where, passage.source.first + passage.best


def _place(passage: Passage) -> Place:
    return Place(where=passage.best_where, line=passage.best_line)

"""Choose the few lines of quoted text that say most about a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from oracle.lazy_dataclass import dataclass
from oracle.models.source import Source
from oracle.services.questions.search_words import asks_for_uses, search_words
from oracle.services.quoting.kinds_of_lines import is_opening
from oracle.services.quoting.passages import Passage, every_line, is_dull, passages
from oracle.services.quoting.quotation import Quotation, quotations_of
from oracle.services.quoting.terms import Term, terms_for
from oracle.services.tools.answer import code, inline_quotation, one_line

MOST_LINES: Final = 3
_OPENINGS: Final = 2
_LONGEST_LINE: Final = 90


@dataclass(frozen=True, kw_only=True, slots=True)
class QuotedLine:
    """One line with its citation. `number` is its place in the quotation `source`, from 0."""

    source: Quotation
    number: int

    @property
    def where(self) -> str:
        return self.source.place(self.number, self.number)

    @property
    def text(self) -> str:
        return self.source.lines[self.number]

    def __str__(self) -> str:
        inside = f" in {code(self.source.symbol)}" if self.source.symbol else ""
        return f"{code(self.where)}{inside}: {_exact(self.text)}"

    def as_source(self) -> Source:
        """A source that has only this line."""
        made = Source(kind=self.source.kind.name, where=self.where, text=self.text)
        if self.source.first and self.source.kind.has_lines:
            made["path"] = self.source.path
            made["start"] = made["end"] = self.source.first + self.number
        return made


def _exact(line: str) -> str:
    """Byte for byte, backticks too; a long line is cut."""
    shown = one_line(line, _LONGEST_LINE)
    return inline_quotation(shown) if shown else code("")


def lines_about(question: str, sources: Sequence[Source | Mapping[str, Any]]) -> list[QuotedLine]:
    """The best lines for a question. Empty if no line has its words or opens a definition."""
    quotations = quotations_of(sources)
    terms = terms_for(search_words(question), quotations)
    return best_lines(quotations, terms, uses=asks_for_uses(question))


def as_list(lines: Sequence[QuotedLine]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def best_lines(
    sources: Sequence[Quotation], terms: Sequence[Term], *, uses: bool
) -> list[QuotedLine]:
    """The best passage and the lines that are about as good, in the order of the lines.

    A part without any word of the question was read because it connects other parts. Of such a
    part the lines that open a definition are taken.
    """
    best = passages(sources, terms)[:1]
    others = sorted(every_line(sources, terms, uses=uses), key=lambda passage: -passage.score)
    lively = [passage for passage in [*best, *others] if not is_dull(passage.best_line)]
    chosen = {_line(passage): passage for passage in lively or best}
    # Cut first, best lines first; only then sort by place.
    found = [chosen[line] for line in sorted([*chosen][:MOST_LINES])]
    lines = [QuotedLine(source=passage.source, number=passage.best) for passage in found]
    return lines or [line for source in sources for line in _openings(source)]


def _openings(source: Quotation) -> list[QuotedLine]:
    opened = [n for n, line in enumerate(source.lines) if is_opening(line)]
    return [QuotedLine(source=source, number=n) for n in opened[:_OPENINGS]]


def _line(passage: Passage) -> tuple[str, int]:
    return passage.source.path, passage.source.first + passage.best

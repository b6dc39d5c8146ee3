"""Which of the lines that were read answer the question best."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from oracle.services.llm.embedded_reader.quotations import Quotation
from oracle.services.llm.embedded_reader.words import SearchWords, short_stem

_CODE_LINES: Final = 9
_PROSE_LINES: Final = 8
_PROSE: Final = (".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc", ".org")
_DEFINES: Final = (
    r"\b(?:def|class|function|func|fn|struct|interface|trait|enum|type|const|let|var)\s+"
)
_TEST: Final = re.compile(r"(?:^|/)tests?/|(?:^|/)test_|[._]test\.|\.spec\.")
_DULL: Final = re.compile(r"\s*(?:from\s+\S+\s+import|import\s|#include|use\s|\"|__all__|//|\*)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Term:
    word: str
    pattern: re.Pattern[str]
    weight: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """Lines to quote. `start` and `end` count from 0 in the quotation, `end` included; `best` is
    the line that speaks most for it.
    """

    source: Quotation
    start: int
    end: int
    best: int
    score: float
    words: frozenset[str]

    @property
    def where(self) -> str:
        return self.source.place(self.start, self.end)

    @property
    def lines(self) -> Sequence[str]:
        return self.source.lines[self.start : self.end + 1]

    @property
    def best_line(self) -> str:
        return self.source.lines[self.best] if self.source.lines else ""

    @property
    def best_where(self) -> str:
        return self.source.place(self.best, self.best)


def terms_for(words: SearchWords, sources: Sequence[Quotation]) -> list[Term]:
    """Names count twice; a word that stands in most of what was found says little."""
    found: list[Term] = []
    for word in words.all:
        pattern = _pattern(word, is_name=word in words.names)
        having = sum(_has(source, pattern) for source in sources)
        rarity = math.log(2 + len(sources) / (1 + having)) / math.log(2)
        found.append(
            Term(word=word, pattern=pattern, weight=rarity * (2.0 if word in words.names else 1.0))
        )
    return found


def _pattern(word: str, *, is_name: bool) -> re.Pattern[str]:
    last = re.split(r"[.:]+", word)[-1] if is_name else word
    if is_name or not word.isalpha():
        return re.compile(rf"(?<!\w){re.escape(last)}(?!\w)|{re.escape(word)}", re.I)
    return re.compile(rf"(?<![^\W_]){re.escape(short_stem(word))}", re.I)


def _has(source: Quotation, pattern: re.Pattern[str]) -> bool:
    return any(pattern.search(line) for line in (source.path, *source.lines))


def passages(
    sources: Sequence[Quotation], terms: Sequence[Term], *, uses: bool = False
) -> list[Passage]:
    """The best of each source, best first, no place twice. `uses` looks for uses of a name rather
    than for its definition.
    """
    total = sum(term.weight for term in terms) or 1.0
    found = [
        passage
        for rank, source in enumerate(sources)
        if source.lines and (passage := _passage(source, terms, total, rank, uses=uses))
    ]
    found.sort(key=lambda passage: -passage.score)
    return _apart(found)


def _passage(
    source: Quotation, terms: Sequence[Term], total: float, rank: int, *, uses: bool
) -> Passage | None:
    worth = [_worth(line, terms, uses=uses) for line in source.lines]
    best = max(range(len(worth)), key=lambda place: (worth[place], -place))
    start, end = _around(source, best)
    shown = source.lines[start : end + 1]
    there = {t.word for t in terms if any(t.pattern.search(line) for line in shown)}
    in_path = {t.word for t in terms if t.pattern.search(source.path)}
    if not there and not in_path:
        return None
    covered = sum(t.weight for t in terms if t.word in there)
    named = sum(t.weight for t in terms if t.word in in_path)
    score = (covered + 0.4 * named + 0.5 * worth[best]) / total
    score *= 0.75 if _TEST.search(source.path) else 1.0
    return Passage(
        source=source,
        start=start,
        end=end,
        best=best,
        score=round(score - 0.03 * rank, 4),
        words=frozenset(there | in_path),
    )


def _worth(line: str, terms: Sequence[Term], *, uses: bool) -> float:
    on_it = [term for term in terms if term.pattern.search(line)]
    worth = sum(term.weight for term in on_it)
    if worth and _DULL.match(line):
        worth *= 0.5
    defined = any(re.search(rf"{_DEFINES}\w*{re.escape(term.word)}", line, re.I) for term in on_it)
    if defined:
        worth = worth * 0.4 if uses else worth * 1.6
    elif uses and any(f"{term.word}(" in line for term in on_it):
        worth *= 1.3
    return worth


def _around(source: Quotation, best: int) -> tuple[int, int]:
    find = _paragraph if source.is_web or _is_prose(source) else _block
    start, end = find(source.lines, best)
    while start < best and not source.lines[start].strip():
        start += 1
    while end > best and not source.lines[end].strip():
        end -= 1
    return start, end


def _is_prose(source: Quotation) -> bool:
    return source.is_thread or source.path.lower().endswith(_PROSE)


def _paragraph(lines: Sequence[str], best: int) -> tuple[int, int]:
    """From the blank line before to the one behind; a heading takes what follows it along."""
    start = best
    while start > 0 and lines[start - 1].strip() and best - start < _PROSE_LINES // 2:
        start -= 1
    end, is_open = best, lines[best].startswith("#")
    while end + 1 < len(lines) and end - start < _PROSE_LINES - 1:
        if not lines[end + 1].strip() and not is_open:
            break
        end += 1
        is_open = is_open and (not lines[end].strip() or lines[end].startswith("#"))
    return start, end


def _block(lines: Sequence[str], best: int) -> tuple[int, int]:
    """From the line on, as long as it is one thought; a decorator or comment above comes along."""
    start = best
    while start > 0 and best - start < 2 and re.match(r"\s*(?:@|#|//|/\*|\*)", lines[start - 1]):
        start -= 1
    depth = _depth(lines[best])
    end = best
    while end + 1 < len(lines) and end - start < _CODE_LINES - 1:
        following = lines[end + 1]
        if following.strip() and _depth(following) < depth:
            break
        if following.strip() and _depth(following) == depth and _begins(following):
            break
        end += 1
    return start, end


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _begins(line: str) -> bool:
    return bool(re.match(rf"\s*(?:@|async\s|pub\s|export\s|{_DEFINES})", line))


def _apart(found: Iterable[Passage]) -> list[Passage]:
    kept: list[Passage] = []
    for passage in found:
        if not any(_same_place(passage, other) for other in kept):
            kept.append(passage)
    return kept


def _same_place(one: Passage, other: Passage) -> bool:
    if one.source.path != other.source.path or not one.source.first:
        return one.source.where == other.source.where
    return (
        one.source.first + one.start <= other.source.first + other.end
        and other.source.first + other.start <= one.source.first + one.end
    )

"""Rank the passages that were read by how well they answer a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.quoting.excerpts import excerpt_around, is_heading, is_prose
from oracle.services.quoting.quotation import Quotation
from oracle.services.quoting.terms import DECISION, VALUE, Term, without_doubles
from oracle.services.quoting.titles import Asked

_FOR_PROSE: Final = 1.5
_PER_RANK: Final = 0.4
LAST_RANK: Final = 10
IN_TESTS: Final = lazy_pattern(
    r"(?:^|/)tests?/|(?:^|/)test_|[._]test\.|\.spec\.|(?:^|/)benchmarks?/"
)
_DATA: Final = (".json", ".jsonl", ".csv", ".tsv", ".lock", ".svg", ".min.js", ".map")
# Imports, lines of a list, closing brackets, `name=name,` and decorators.
_DULL: Final = lazy_pattern(
    r"\s*(?:from\s+\S+\s+import|import\s|#include|use\s|__all__|\"(?!\"\")|['\])}]|\w+,$|(\w+)=\1,?$|@\w+\s)"
)


# Copies, other people's code and files for machines say little about the project.
_FOREIGN: Final = lazy_pattern(
    r"(?:^|/)(?:\.[^/.][^/]*|vendor|vendored|third_party|node_modules|locales?|fixtures)/"
    r"|\.min\.|(?:^|/)lunr|\.(?:html|css|svg)$|(?:^|/)(?:LICEN[CS]E|COPYING)[^/]*$"
)
_FOR_A_HEADING: Final = 1.5
_FOR_A_TITLE: Final = 1.6
_FOR_A_VALUE: Final = 1.4
_FOR_ITS_OWN_NAME: Final = 1.3


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """Lines to quote: `start` to `end` of the quotation, from 0, `end` included. `best` is the line
    with the highest score.
    """

    source: Quotation
    start: int
    end: int
    best: int
    score: float
    words: frozenset[str]
    defines: str = ""

    @property
    def where(self) -> str:
        return self.source.place(self.start, self.end)

    @property
    def lines(self) -> Sequence[str]:
        return self.source.lines[self.start : self.end + 1]

    @property
    def best_line(self) -> str:
        return self.source.lines[self.best]

    @property
    def best_where(self) -> str:
        return self.source.place(self.best, self.best)


def passages(
    sources: Sequence[Quotation],
    terms: Sequence[Term],
    *,
    ranks: Mapping[str, int] = MappingProxyType({}),
    prefers_prose: bool = False,
    question: str = "",
) -> list[Passage]:
    """The best passage of each source, best first, no place twice. `ranks` are from searches. A
    heading that says the same as the `question` counts more.
    """
    asked = Asked(question, terms)
    found = [
        passage
        for source in _once(sources)
        if source.lines
        and (passage := _best_passage(source, terms, ranks.get(source.path, LAST_RANK), asked))
    ]
    if prefers_prose:
        found = [replace(p, score=p.score * _FOR_PROSE) if is_prose(p.source) else p for p in found]
    found.sort(key=lambda passage: -passage.score)
    return _apart(found)


def widened(passage: Passage, sources: Sequence[Quotation]) -> Passage:
    """The same lines in the longest source that has them: there is more to quote around."""
    if not passage.source.first:
        return passage
    first = passage.source.first
    fitting = [
        source
        for source in sources
        if source.path == passage.source.path
        and source.first
        and source.first <= first + passage.start
        and first + passage.end < source.first + len(source.lines)
    ]
    widest = max(fitting, key=lambda source: len(source.lines), default=passage.source)
    shift = first - widest.first
    return replace(
        passage,
        source=widest,
        start=passage.start + shift,
        end=passage.end + shift,
        best=passage.best + shift,
    )


def _once(sources: Sequence[Quotation]) -> list[Quotation]:
    """Without copies: of files with the same text the one nearest to the root is kept."""
    kept: dict[tuple[str, ...], Quotation] = {}
    for source in sources:
        text = tuple(source.lines)
        known = kept.get(text)
        if known is None or source.path.count("/") < known.path.count("/"):
            kept[text] = source
    return list(kept.values())


def every_line(sources: Sequence[Quotation], terms: Sequence[Term], *, uses: bool) -> list[Passage]:
    """Each line about as good as the best one, the best files first, tests last.

    With `uses`, a use of a name counts more than its definition.
    """
    found: dict[str, Passage] = {}
    for source in sources:
        for number, line in enumerate(source.lines):
            worth = _worth(line, terms, for_a_definition=0.3 if uses else 1.0, for_a_call=1.3)
            if worth and not is_dull(line):
                words = frozenset(term.word for term in terms if term.is_in(line))
                passage = Passage(
                    source=source, start=number, end=number, best=number, score=worth, words=words
                )
                found.setdefault(passage.where, passage)
    best = max((passage.score for passage in found.values()), default=0.0)
    kept = [passage for passage in found.values() if passage.score >= 0.6 * best]
    # A file counts as much as its best line, so its lines stay together.
    of_file: dict[str, float] = {}
    for passage in kept:
        path = passage.source.path
        of_file[path] = max(passage.score, of_file.get(path, 0.0))
    return sorted(
        kept, key=lambda p: (bool(IN_TESTS.search(p.source.path)), -of_file[p.source.path])
    )


def _best_passage(
    source: Quotation, terms: Sequence[Term], rank: int, asked: Asked
) -> Passage | None:
    has_headings = is_prose(source)
    anchors = [
        (
            worth * (_FOR_A_HEADING if has_headings and is_heading(source.lines, number) else 1),
            number,
        )
        for number, line in enumerate(source.lines)
        if (worth := _worth(line, terms, for_a_definition=1.7))
    ]
    in_path = without_doubles([term for term in terms if _is_in_path(source.path, term)])
    if not anchors:
        return _first_lines(source, in_path, terms, rank) if in_path else None
    # The excerpt around a weaker line may have more terms than the one around the best line.
    best = sorted(anchors, key=lambda pair: (-pair[0], pair[1]))[:6]
    candidates = [_around(source, number, worth, terms) for worth, number in best]
    if has_headings:
        candidates = [_titled(passage, asked) for passage in candidates]
    chosen = max(candidates, key=lambda passage: passage.score)
    if VALUE in terms and _gives_a_value(chosen, terms):
        chosen = replace(chosen, score=chosen.score * _FOR_A_VALUE)
    if DECISION in terms:
        chosen = _what_was_decided(chosen, terms)
    return _weighed(chosen, in_path, terms, rank)


def _gives_a_value(passage: Passage, terms: Sequence[Term]) -> bool:
    """Whether the best line has a value and one of the words: `MAX_RETRIES = 3`. The value may be
    below a heading.
    """
    line = passage.best_line
    if is_prose(passage.source) and is_heading(passage.source.lines, passage.best):
        return any(map(VALUE.is_in, passage.lines))
    own = (term for term in terms if not term.is_extra and term.weight > 1)
    return VALUE.is_in(line) and any(term.is_in(line) for term in own)


def _titled(passage: Passage, asked: Asked) -> Passage:
    lines = passage.source.lines
    if not is_heading(lines, passage.best) or not asked.is_said_by(lines[passage.best]):
        return passage
    return replace(passage, score=passage.score * _FOR_A_TITLE)


def _what_was_decided(passage: Passage, terms: Sequence[Term]) -> Passage:
    """In the record of a decision, quote the decision, even if the words are in another section."""
    lines = passage.source.lines
    heads = (n for n, line in enumerate(lines) if re.match(r"#+[ \t]+decisions?\b", line, re.I))
    below = next(
        (n for head in heads for n in range(head + 1, len(lines)) if lines[n].strip()), None
    )
    if below is None:
        return passage
    decision = _around(passage.source, below, 0.0, terms)
    score = max(passage.score, decision.score)
    return replace(decision, score=score, words=passage.words | decision.words)


def _around(source: Quotation, number: int, worth: float, terms: Sequence[Term]) -> Passage:
    start, end = excerpt_around(source, number)
    shown = source.lines[start : end + 1]
    there = without_doubles([term for term in terms if any(map(term.is_in, shown))])
    line = source.lines[number]
    defined = [term.word for term in terms if term.is_name and term.is_defined_in(line)]
    return Passage(
        source=source,
        start=start,
        end=end,
        best=number,
        score=sum(term.weight for term in there) + 0.6 * worth,
        words=frozenset(term.word for term in there),
        defines=defined[0] if defined else "",
    )


def _first_lines(
    source: Quotation, in_path: Sequence[Term], terms: Sequence[Term], rank: int
) -> Passage:
    first = next((number for number, line in enumerate(source.lines) if line.strip()), 0)
    start, end = excerpt_around(source, first)
    passage = Passage(source=source, start=start, end=end, best=start, score=0.0, words=frozenset())
    return _weighed(passage, in_path, terms, rank)


def _weighed(
    passage: Passage, in_path: Sequence[Term], terms: Sequence[Term], rank: int
) -> Passage:
    """The score as a share of all terms. The order of the search decides between close ones."""
    source = passage.source
    total = sum(term.weight for term in terms if not term.related_to) or 1.0
    score = (passage.score + 0.6 * sum(term.weight for term in in_path)) / total
    score *= 0.7 if IN_TESTS.search(source.path) else 1.0
    score *= 0.5 if _FOREIGN.search(source.path) else 1.0
    score *= 0.5 if _is_data(source.path) or is_dull(passage.best_line) else 1.0
    return Passage(
        source=source,
        start=passage.start,
        end=passage.end,
        best=passage.best,
        score=round(score / (1 + _PER_RANK * rank), 4),
        words=passage.words | {term.word for term in in_path},
        defines=passage.defines,
    )


def _worth(
    line: str, terms: Sequence[Term], *, for_a_definition: float, for_a_call: float = 1.0
) -> float:
    on_it = without_doubles([term for term in terms if term.is_in(line)])
    if not any(not term.is_extra or term.related_to for term in on_it):
        return 0.0
    worth = sum(term.weight for term in on_it)
    worth *= 0.4 if is_dull(line) else 1.0
    if any(term.is_called_in(line) for term in on_it):
        return worth * for_a_definition * _FOR_ITS_OWN_NAME
    if any(term.is_defined_in(line) or term.is_explained_in(line) for term in on_it):
        return worth * for_a_definition
    is_call = any(f"{term.word}(" in line for term in on_it)
    return worth * for_a_call if is_call else worth


def is_dull(line: str) -> bool:
    """Whether the line has a word but says nothing about it: an import, a name in a list."""
    return bool(_DULL.match(line))


def _is_data(path: str) -> bool:
    """Tables have every word. A `.txt` file outside the folders for prose is usually a table."""
    low = path.lower()
    return low.endswith(_DATA) or (low.endswith(".txt") and not re.search(r"(?:docs?|notes)/", low))


def _is_in_path(path: str, term: Term) -> bool:
    """Whether the file's name or its folder has the term. Folders above say little."""
    if term.is_path:
        return f"/{path}/".endswith(f"/{term.word}/") or f"/{path}".startswith(f"/{term.word}/")
    near = "/".join(path.split("/")[-2:])
    return term.is_in(near) or (term.word.isupper() and term.is_in(near.upper()))


def _apart(found: Iterable[Passage]) -> list[Passage]:
    kept: list[Passage] = []
    for passage in found:
        if not any(_same_place(passage, other) for other in kept):
            kept.append(passage)
    return kept


def _same_place(one: Passage, other: Passage) -> bool:
    if one.source.path != other.source.path or not one.source.first:
        # A copy of a file says the same once more.
        is_copy = len(one.lines) > 1 and one.lines == other.lines
        return one.source.where == other.source.where or is_copy
    return (
        one.source.first + one.start <= other.source.first + other.end
        and other.source.first + other.start <= one.source.first + one.end
    )

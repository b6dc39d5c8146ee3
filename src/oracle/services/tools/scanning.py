"""Search without an index: every file of the kind is looked through, which is fast enough for a
thousand of them. Terms are counted in the text and, with more weight, in the path.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from oracle.services.tools.files import FileEntry, FileText, ProjectFiles
from oracle.services.tools.searching import Hit, SearchKind
from oracle.services.tools.words import Term, terms_of

_WINDOW = 16
_PLACES_IN_A_FILE = 2
_USUAL_LENGTH = 1500
_DATA = (".txt", ".json", ".jsonl", ".csv", ".tsv", ".lock", ".svg", ".min.js", ".map")
_DEFINING = "def|class|function|func|fn|struct|interface|trait|enum|type|const"
_TEST = re.compile(r"(?:^|/)tests?/|(?:^|/)test_|[._]test\.|\.spec\.")


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    text: FileText
    counts: tuple[int, ...]
    in_path: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class _Place:
    text: FileText
    lines: range
    score: float


class ScanningSearcher:
    """Needs nothing but the files. `kind_of` says what kind of source a path belongs to."""

    def __init__(self, files: ProjectFiles, kind_of: Callable[[str], SearchKind]) -> None:
        self._files = files
        self._kind_of = kind_of

    async def search(
        self, query: str, kind: SearchKind, k: int, *, under: str = ""
    ) -> Sequence[Hit]:
        return await asyncio.to_thread(self.search_now, query, kind, k, under)

    def search_now(self, query: str, kind: SearchKind, k: int, under: str = "") -> list[Hit]:
        terms = terms_of(query)
        if not terms:
            return []
        entries = [entry for entry in self._entries(under) if self._kind_of(entry.path) == kind]
        candidates = [found for entry in entries if (found := self._candidate(entry, terms))]
        rarity = _rarity(candidates, terms, len(entries))
        ranked = sorted(
            ((_file_score(found, rarity), found) for found in candidates),
            key=lambda pair: (-pair[0], pair[1].text.path),
        )
        places = [
            place
            for score, found in ranked[: 2 * k]
            for place in _places(found, terms, rarity, score)
        ]
        places.sort(key=lambda place: (-place.score, place.text.path, place.lines.start))
        return [_hit(place) for place in places[:k]]

    def _entries(self, under: str) -> Iterable[FileEntry]:
        folder = under.strip("/")
        if not folder:
            return self._files.entries()
        prefix = f"{folder}/"
        return (
            entry
            for entry in self._files.entries()
            if entry.path == folder or entry.path.startswith(prefix)
        )

    def _candidate(self, entry: FileEntry, terms: list[Term]) -> _Candidate | None:
        text = self._files.text_of(entry)
        if text is None:
            return None
        counts = tuple(_count(term.text, text.folded) for term in terms)
        path = entry.path.lower()
        in_path = tuple(_in_path(term.text, path) for term in terms)
        if not any(counts) and not any(in_path):
            return None
        return _Candidate(text=text, counts=counts, in_path=in_path)


def _count(term: str, text: str) -> int:
    """Short terms only count as whole words: `id` is inside half of all words."""
    count = text.count(term)
    if count and len(term) <= 3:
        return len(re.findall(rf"(?<![^\W_]){re.escape(term)}(?![^\W_])", text))
    return count


def _rarity(candidates: list[_Candidate], terms: list[Term], total: int) -> list[float]:
    """A term's weight, more if few files have it."""
    return [
        term.weight
        * math.log(1 + total / (1 + sum(1 for found in candidates if found.counts[number])))
        for number, term in enumerate(terms)
    ]


def _file_score(found: _Candidate, rarity: list[float]) -> float:
    length = 1 + len(found.text.folded) / 20_000
    return _liking(found.text.path) * sum(
        weight * (count / (count + length) + in_path)
        for weight, count, in_path in zip(rarity, found.counts, found.in_path, strict=True)
    )


def _liking(path: str) -> float:
    """Code itself before its tests, and both before tables of data."""
    if path.endswith(_DATA):
        return 0.5
    return 0.8 if _TEST.search(path) else 1.0


def _in_path(term: str, path: str) -> float:
    """How far a path speaks for a term: as the name of the file, in it, or in a folder's."""
    folder, _, name = path.rpartition("/")
    if name.partition(".")[0] == term:
        return 1.0
    if term in name:
        return 0.6
    return 0.25 if term in folder else 0.0


def _places(
    found: _Candidate, terms: list[Term], rarity: list[float], score: float
) -> list[_Place]:
    """The best windows of a file. A file that only its path speaks for gives its first lines."""
    folded = found.text.folded.split("\n")
    worth = _worth_of_lines(folded, terms, rarity, found)
    best = max(sum(rarity), 1e-9)
    places: list[_Place] = []
    for start, window in _windows(worth):
        lines = range(start, min(start + _WINDOW, len(folded)))
        if any(_overlap(place.lines, lines) for place in places):
            continue
        length = sum(map(len, folded[lines.start : lines.stop]))
        close = window * _liking(found.text.path) * min(1.0, _USUAL_LENGTH / max(1, length))
        strength = min(1.0, (0.6 * close + 0.4 * min(score, best)) / best)
        places.append(_Place(text=found.text, lines=lines, score=strength))
        if len(places) == _PLACES_IN_A_FILE:
            break
    return places


def _overlap(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop


def _worth_of_lines(
    folded: list[str], terms: list[Term], rarity: list[float], found: _Candidate
) -> list[tuple[int, frozenset[int], float]]:
    """Line number, the terms on it, and what they are worth; lines with none are left out."""
    defining = [_definition_of(term.text) for term in terms]
    present = [number for number, count in enumerate(found.counts) if count]
    worth: list[tuple[int, frozenset[int], float]] = []
    for place, line in enumerate(folded):
        on_it = frozenset(number for number in present if terms[number].text in line)
        if on_it:
            defined = frozenset(number for number in on_it if defining[number].search(line))
            value = sum(rarity[number] for number in on_it)
            worth.append((place, on_it, value + sum(rarity[number] for number in defined)))
    return worth


def _definition_of(term: str) -> re.Pattern[str]:
    """Where a name is defined is where one wants to look first."""
    return re.compile(rf"\b(?:{_DEFINING})\s{{1,4}}\w{{0,40}}{re.escape(term)}")


def _windows(worth: list[tuple[int, frozenset[int], float]]) -> list[tuple[int, float]]:
    """Where windows may start, best first, with the worth of the different terms in them."""
    scored: list[tuple[float, int, float]] = []
    for index, (place, _, _) in enumerate(worth):
        best_of: dict[int, float] = {}
        density = 0.0
        for other, on_it, value in worth[index : index + _WINDOW]:
            if other >= place + _WINDOW:
                break
            density += value
            for number in on_it:
                best_of[number] = value / len(on_it)
        distinct = sum(best_of.values())
        scored.append((distinct + 0.05 * density, max(0, place - 2), distinct))
    scored.sort(key=lambda item: (-item[0], item[1]))
    return [(start, distinct) for _, start, distinct in scored] or [(0, 0.0)]


def _hit(place: _Place) -> Hit:
    quoted = place.text.lines[place.lines.start : place.lines.stop]
    return Hit(
        path=place.text.path,
        start=place.lines.start + 1,
        end=place.lines.start + max(1, len(quoted)),
        score=round(place.score, 4),
        text="\n".join(quoted),
    )

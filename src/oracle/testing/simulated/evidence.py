"""What a model can read in a result: lines with their places, and how well they match a question.

Only the content is parsed, never the structured sources: a real model sees no more than that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum, log
from typing import Final

_FRAME: Final = re.compile(
    r"^From (?P<where>[^\n]+?) \([^()\n]*\):\n(?P<fence>`{3,})[^\n]*\n(?P<body>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_NUMBERED: Final = re.compile(r"^ *(?P<number>\d+)  (?P<text>.*)$")
_GREPPED: Final = re.compile(
    r"^(?P<where>(?P<path>[^\s:]+\.\w+)(?::\d+)?)(?:-\d+)?[:\s]\s*(?P<text>.+)$"
)
_LINES_OF_FILE: Final = re.compile(
    r"^(?P<path>(?!\w+://|thread:).+):(?P<start>\d+)(?:-(?P<end>\d+))?$"
)
_ROW_OF_FILE: Final = re.compile(r"^(?P<path>[\w./-]+\.\w+)(?::.*)?$")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_STOP_WORDS: Final = frozenset(re.findall(r"\w+", """
a about all am an and any are as at be been but by can could did do does each explain find for from
give has have how i if in into is it its list me my of on or our please show so tell thank thanks
that the their them there these they this to us use used uses using was we were what when where
which who why will with work works would you your
"""))  # fmt: skip
_LEAST_COVERAGE: Final = 0.3
"""Below this share of the question's words, what was read is about something else."""
_KNOWN: Final = 0.8
"""How much less a word counts that another quotation already has."""

_SAME_FILE: Final = 0.5
"""How much less a line counts from a file that is already cited."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line that can be quoted. `where` is how it is cited; empty if the result names no place."""

    where: str
    path: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Something that a tool can read further. Lines are 0 if the result does not say them."""

    path: str
    start: int = 0
    end: int = 0


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A crude stem: enough that `orders` meets `order`."""
    word = word.lower()
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


@lru_cache(maxsize=20_000)
def words_in(text: str) -> tuple[str, ...]:
    """The words that carry meaning, once each. Identifiers are split into their parts.

    Remembered, because the same lines are weighed again in every turn.
    """
    found = (word.lower() for word in _WORD.findall(text))
    return tuple(dict.fromkeys(word for word in found if word not in _STOP_WORDS and len(word) > 1))


def frames_in(content: str) -> list[str]:
    """The quotations of a result, with their frames, exactly as the model was sent them."""
    return [match.group() for match in _FRAME.finditer(content)]


@lru_cache(maxsize=2_000)
def lines_in(content: str, *, framed_only: bool = False) -> Sequence[Line]:
    """All lines of a text that can be quoted. Without frames, lines in the manner of grep count.

    Otherwise it is plain text, unless it is a single line: that only says how the call went.
    """
    frames = list(_FRAME.finditer(content))
    if frames or framed_only:
        return [line for frame in frames for line in _lines_of_frame(frame)]
    rows = [row.strip() for row in content.splitlines() if row.strip()]
    found = [match for match in map(_GREPPED.match, rows) if match]
    if found:
        return [Line(where=each["where"], path=each["path"], text=each["text"]) for each in found]
    return [Line(where="", path="", text=row) for row in rows] if len(rows) > 1 else []


@lru_cache(maxsize=2_000)
def places_in(content: str) -> Sequence[Place]:
    """What a result points to: its quotations, or the files that a map or a list names."""
    places: list[Place] = []
    for frame in _FRAME.finditer(content):
        if _is_citable(frame["where"]):
            places.append(_place(frame["where"]))
        else:
            rows = map(_ROW_OF_FILE.match, frame["body"].splitlines())
            places += [Place(path=row["path"]) for row in rows if row]
    lines = () if places else lines_in(content)
    places += [_place(line.where) for line in lines if line.where]
    return list({place.path: place for place in reversed(places)}.values())[::-1]


def _is_citable(where: str) -> bool:
    return bool(_LINES_OF_FILE.match(where)) or where.startswith(("thread:", "http"))


def _place(where: str) -> Place:
    lines = _LINES_OF_FILE.match(where)
    if lines is None:
        return Place(path=where)
    start = int(lines["start"])
    return Place(path=lines["path"], start=start, end=int(lines["end"] or start))


def _lines_of_frame(frame: re.Match[str]) -> Iterable[Line]:
    where = frame["where"]
    if not _is_citable(where):
        return
    place = _place(where)
    for row in frame["body"].splitlines():
        numbered = _NUMBERED.match(row)
        number, text = (numbered["number"], numbered["text"]) if numbered else ("", row)
        cited = f"{place.path}:{number}" if place.start and number else where
        if any(map(str.isalnum, text)):
            yield Line(where=cited, path=place.path, text=text.strip())


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """The lines that fit a question best, and how much of the question they cover (0 to 1)."""

    lines: Sequence[Line] = ()
    coverage: float = 0.0
    uncovered: Sequence[str] = ()


class Scorer:
    """Weighs lines by the question's words in them. Rare words weigh more, as in a search engine.

    A word that nothing contains weighs most, so a question about something else is noticed.
    """

    def __init__(self, question: str, lines: Sequence[Line]) -> None:
        self._lines = list({(line.where, line.text): line for line in lines}.values())
        self._stems = {stem(word): word for word in words_in(question)}
        self._words = [self._wanted_in(line.text) for line in self._lines]
        counts = Counter(word for words in self._words for word in words)
        total = len(self._lines)
        self._weights = {word: log(2 + total / (1 + counts[word])) for word in self._stems}

    def best_path_first(self, places: Iterable[Place]) -> list[Place]:
        best: dict[str, float] = {}
        for line, score in zip(self._lines, self._scores(), strict=True):
            best[line.path] = max(best.get(line.path, 0.0), score)
        return sorted(places, key=lambda place: -best.get(place.path, 0.0))

    def fit(self, most: int) -> Fit:
        """The best lines. None if together they say too little about the question."""
        chosen = self._chosen(most)
        covered = {word for index in chosen for word in self._words[index]}
        coverage = self._weight(covered) / (self._weight(self._stems) or 1)
        if coverage < _LEAST_COVERAGE:
            return Fit(uncovered=list(self._stems.values()))
        return Fit(
            lines=[self._lines[index] for index in chosen],
            coverage=coverage,
            uncovered=[word for each, word in self._stems.items() if each not in covered],
        )

    def _chosen(self, most: int) -> list[int]:
        """One line after the other, so that the next one says something new if it can."""
        scores = self._scores()
        chosen: list[int] = []
        said: set[str] = set()

        def gain(index: int) -> float:
            is_cited = any(self._lines[index].path == self._lines[other].path for other in chosen)
            known = _KNOWN * self._weight(self._words[index] & said)
            return scores[index] - known - _SAME_FILE * is_cited

        left = {index for index, words in enumerate(self._words) if words}
        while left and len(chosen) < most:
            best = max(sorted(left), key=gain)
            left.remove(best)
            chosen.append(best)
            said |= self._words[best]
        return chosen

    def _scores(self) -> list[float]:
        """A line's own words count in full; those of its neighbours and its path a little."""
        own = [self._weight(words) for words in self._words]
        around = [0.0, *own, 0.0]
        return [
            score + 0.05 * (around[index] + around[index + 2])
            + 0.1 * self._weight(self._wanted_in(line.path)) * bool(score)
            for index, (line, score) in enumerate(zip(self._lines, own, strict=True))
        ]  # fmt: skip

    def _wanted_in(self, text: str) -> set[str]:
        return self._stems.keys() & set(map(stem, words_in(text)))

    def _weight(self, words: Iterable[str]) -> float:
        # `fsum` does not depend on the order, which differs between processes for a set of texts.
        return fsum(self._weights[word] for word in words)

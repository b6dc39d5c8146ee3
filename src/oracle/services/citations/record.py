"""What a session has read and found: the other side of a citation."""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from oracle.models.source import Listed
from oracle.models.source_kind import kind_named, kind_with_prefix
from oracle.services.citations.answer_quotes import AnswerQuote
from oracle.services.citations.claims import Headings
from oracle.services.citations.finding import Names, find_citations
from oracle.services.citations.forms import TOKEN, same_page, trimmed_url

DIGEST: Final = 16
"""Characters of a digest that are compared and kept."""

_MOST_OCCURRENCES: Final = 20
_MOST_CHARACTERS_SEARCHED: Final = 100_000_000
_MOST_OF_ONE_NAME: Final = 50

Lines = tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownPlace:
    """One place that was read or found. `text` is what is known of its content; of one that
    `is_whole` it is all that there is in the file. `listed` are the rows of a map or a list.
    """

    kind: str = ""
    where: str = ""
    text: str = ""
    path: str = ""
    first: int = 0
    last: int = 0
    title: str = ""
    entry: str = ""
    url: str = ""
    digest: str = ""
    is_earlier: bool = False
    is_whole: bool = False
    listed: Sequence[Listed] = ()

    @classmethod
    def of(
        cls,
        place: Mapping[str, Any],
        text: str,
        *,
        is_earlier: bool = False,
        is_whole: bool = False,
    ) -> KnownPlace:
        """From a source as tools name it; one that has only a `where` is read from that."""
        known = {**_told_by(str(place.get("where", ""))), **place}
        first = _number(known.get("start"))
        return cls(
            kind=str(known.get("kind") or ""),
            where=str(known.get("where") or ""),
            text=text,
            path=normal_path(str(known.get("path") or "")),
            first=first,
            last=max(first, _number(known.get("end"))),
            title=str(known.get("title") or ""),
            entry=str(known.get("entry") or ""),
            url=str(known.get("url") or ""),
            digest=str(known.get("digest") or "")[:DIGEST],
            is_earlier=is_earlier,
            is_whole=is_whole,
            listed=known.get("listed") or (),
        )


def mapped(known: KnownPlace) -> Iterator[KnownPlace]:
    """The lines of files that a map of the project shows."""
    for row in known.listed:
        for number in row.get("lines", ()):
            yield KnownPlace.of({"kind": known.kind, "path": row["path"], "start": number}, "")


def normal_path(path: str) -> str:
    return posixpath.normpath(path) if path else ""


def folded(title: str) -> str:
    return " ".join(title.casefold().split())


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _told_by(where: str) -> dict[str, Any]:
    found = find_citations(where)
    if len(found) != 1 or found[0].text != where.strip():
        return {}
    citation = found[0]
    if citation.kind == "file":
        return {"path": citation.name, "start": citation.first, "end": citation.last}
    if citation.entry:
        kind = kind_with_prefix(citation.kind).name
        return {"kind": kind, "title": citation.name, "entry": citation.entry}
    return {"url" if citation.kind == "url" else "title": citation.name}


class Page:
    """A text whose words are looked for, whatever the white space between them."""

    __slots__ = ("_last", "_numbers", "_starts", "words")

    def __init__(self, reading: KnownPlace) -> None:
        self._starts: list[int] = []
        self._numbers: list[int] = []
        self._last = reading.last
        words: list[str] = []
        place = 0
        for number, line in enumerate(reading.text.split("\n"), start=reading.first):
            if folded_line := " ".join(line.split()):
                self._starts.append(place)
                self._numbers.append(number)
                words.append(folded_line)
                place += len(folded_line) + 1
        self.words = " ".join(words)

    def find(self, text: str) -> set[Lines]:
        """The lines where it stands as a whole: not as a part of longer words."""
        found: set[Lines] = set()
        place = self.words.find(text)
        while place >= 0 and len(found) < _MOST_OCCURRENCES:
            if self._is_whole(place, place + len(text)):
                found.add((self._line(place), self._line(place + len(text) - 1)))
            place = self.words.find(text, place + len(text))
        return found

    def _is_whole(self, start: int, end: int) -> bool:
        words = self.words
        return not (
            (start > 0 and _is_of_a_word(words[start - 1]) and _is_of_a_word(words[start]))
            or (end < len(words) and _is_of_a_word(words[end - 1]) and _is_of_a_word(words[end]))
        )

    def _line(self, place: int) -> int:
        return min(self._numbers[bisect_right(self._starts, place) - 1], self._last)


def _is_of_a_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def merged(ranges: Iterable[Lines]) -> list[Lines]:
    """Lines that touch or overlap are one range."""
    found: list[Lines] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def covers(ranges: list[Lines], first: int, last: int) -> bool:
    number = bisect_right(ranges, (first, float("inf"))) - 1
    return 0 < first <= last and number >= 0 and last <= ranges[number][1]


@dataclass(kw_only=True, slots=True)
class FileRecord:
    """A file as it was read last, and the lines of it that were read before it changed."""

    path: str
    digest: str
    current: list[Lines]
    ever: list[Lines]
    readings: Sequence[KnownPlace]
    _pages: list[Page] | None = None
    _found: dict[str, list[Lines]] = field(default_factory=dict[str, list[Lines]])
    _headings: Headings | None = None
    _left: int = _MOST_CHARACTERS_SEARCHED

    @classmethod
    def of(cls, path: str, readings: Sequence[KnownPlace]) -> FileRecord:
        digest = next((reading.digest for reading in readings[::-1] if reading.digest), "")
        current = [reading for reading in readings if reading.digest in ("", digest)]
        return cls(
            path=path,
            digest=digest,
            current=merged((r.first, r.last) for r in current if r.first),
            ever=merged((r.first, r.last) for r in readings if r.first),
            readings=current,
        )

    def find(self, quotation: AnswerQuote) -> list[Lines]:
        """Where it stands in what is known of the content, in order."""
        if self._pages is None:
            self._pages = [Page(r) for r in self.readings if r.text and r.first]
        if quotation.text not in self._found:
            self._left -= sum(len(page.words) for page in self._pages)
            found = [page.find(quotation.text) for page in self._pages if self._left > 0]
            self._found[quotation.text] = sorted(set[Lines]().union(*found))
        return self._found[quotation.text]

    def lacks(self, heading: str) -> bool:
        """Whether all of the content was read in one piece, and has no such heading."""
        if self._headings is None:
            whole = next((reading.text for reading in self.readings if reading.is_whole), None)
            if whole is None:
                return False
            self._headings = Headings(whole)
        return not self._headings.has(heading)

    def lines(self, first: int, last: int) -> list[str]:
        """What is known of these, from the first reading that has them all."""
        for reading in self.readings:
            if reading.text and 0 < reading.first <= first <= last <= reading.last:
                self._left -= len(reading.text)
                here = reading.text.split("\n") if self._left > 0 else []
                return here[first - reading.first : last - reading.first + 1]
        return []

    def is_earlier(self, first: int, last: int) -> bool:
        """Whether no reading of this run has anything of these lines."""
        return not any(
            not r.is_earlier and r.first <= last and first <= r.last for r in self.readings
        )


class Record:
    """Known places, oldest first, to be asked by path, title, thread and address."""

    def __init__(self, readings: Sequence[KnownPlace]) -> None:
        self._readings = readings
        self.notes: dict[str, KnownPlace] = {}
        self.entries: defaultdict[tuple[str, str], list[KnownPlace]] = defaultdict(list)
        self.pages: dict[str, KnownPlace] = {}
        self._mentioned: set[str] | None = None
        self._pages: list[Page] | None = None
        self._left = _MOST_CHARACTERS_SEARCHED
        by_path: defaultdict[str, list[KnownPlace]] = defaultdict(list)
        for reading in readings:
            self._take(reading)
            if reading.path and reading.first:
                by_path[reading.path].append(reading)
        self.files = {path: FileRecord.of(path, read) for path, read in by_path.items()}
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in self.files:
            self._by_name[posixpath.basename(path)].append(path)

    def files_of(self, path: str) -> list[FileRecord]:
        """The file of that path; else those whose path ends with it, or that it ends with."""
        cited = normal_path(path).lstrip("/") if path.startswith("/") else normal_path(path)
        if cited in self.files:
            return [self.files[cited]]
        known = self._by_name.get(posixpath.basename(cited), [])
        longer = [name for name in known if name.endswith(f"/{cited}")]
        if not longer and path.startswith("/"):
            longer = [name for name in known if cited.endswith(f"/{name}")]
        if not longer and "%" in path and (plain := unquote(path)) != path:
            return self.files_of(plain)
        return [self.files[name] for name in longer]

    def names_with_blanks(self) -> Names:
        """Paths that have blanks in them, also shortened from the left, for `find_cited`."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for path in self.files:
            end = path.rpartition(" ")[2]
            while " " in path and len(found[end]) < _MOST_OF_ONE_NAME:
                found[end].add(path)
                path = path.partition("/")[2]
        return {end: sorted(names, key=len, reverse=True) for end, names in found.items() if names}

    def mentions(self, url: str) -> bool:
        """Whether the address stands in something that was read: then the answer quotes it."""
        if self._mentioned is None:
            self._mentioned = {
                same_page(trimmed_url(found["url"]))
                for reading in self._readings
                if "://" in reading.text
                for found in TOKEN.finditer(reading.text)
                if found["url"] is not None
            }
        return same_page(url) in self._mentioned

    def says(self, text: str) -> bool:
        """Whether this stands in something that was read: then what it cites is not the answer's
        own citation.
        """
        if not text or self._left <= 0:
            return False
        if self._pages is None:
            self._pages = [Page(reading) for reading in self._readings if reading.text]
        self._left -= sum(len(page.words) for page in self._pages)
        return any(text in page.words for page in self._pages)

    def _take(self, reading: KnownPlace) -> None:
        kind = kind_named(reading.kind)
        if kind.citation == "entry":
            self.entries[kind.prefix, folded(reading.title)].append(reading)
        elif reading.title and not reading.url:
            self.notes[folded(reading.title)] = reading
        if kind.citation == "note" and reading.path:
            self._take_names(reading)
        if reading.url:
            self.pages[same_page(reading.url)] = reading

    def _take_names(self, reading: KnownPlace) -> None:
        """A note goes by its file's name too; one that was listed was found."""
        names = [reading.path] if reading.first else []
        for row in reading.listed:
            names += [row["path"], row.get("title", "")]
        for name in filter(None, names):
            stem = posixpath.splitext(name)[0] if name.endswith((".md", ".mdx", ".txt")) else name
            for known in (name, stem, posixpath.basename(stem), posixpath.basename(name)):
                self.notes.setdefault(folded(known), reading)

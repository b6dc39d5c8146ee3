"""The record of what a conversation has read and found, which citations are compared with."""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

from oracle.lazy_dataclass import dataclass
from oracle.models.source import Listed
from oracle.models.source_kind import kind_named, kind_with_prefix
from oracle.services.citations.answer_quotes import AnswerQuote
from oracle.services.citations.claims import Headings
from oracle.services.citations.finding import find_citations
from oracle.services.citations.forms import (
    LONGEST_PATH,
    TOKEN,
    plain_end,
    same_page,
    trimmed_url,
)
from oracle.services.citations.known_names import Names

DIGEST: Final = 16
"""Characters of a digest that are compared and kept."""

_MOST_OCCURRENCES: Final = 20
# Bounds the time for an answer with very many quotations: after so many characters nothing is
# searched, and what is not found leaves its citation as it is.
_MOST_CHARACTERS_SEARCHED: Final = 100_000_000
_MOST_OF_ONE_NAME: Final = 50

Lines = tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownPlace:
    """One place that was read or found. `text` is what is known of its content; if `is_whole`, it
    is the whole file. `listed` are the rows of a map or a list.
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
        """From a source of a tool. If it has only a `where`, the other fields are taken from it."""
        known = {**_fields_in(str(place.get("where", ""))), **place}
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


# Each source of a run is looked at three times when it ends.
@lru_cache(maxsize=4096)
def _fields_in(where: str) -> Mapping[str, Any]:
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


class FoldedText:
    """A text with single blanks between its words, and the line that each of them is in.

    An answer may wrap or indent what it quotes, so white space is not compared.
    """

    __slots__ = ("_last", "_numbers", "_starts", "words")

    def __init__(self, known: KnownPlace) -> None:
        self._starts: list[int] = []
        self._numbers: list[int] = []
        self._last = known.last
        words: list[str] = []
        place = 0
        for number, line in enumerate(known.text.split("\n"), start=known.first):
            if folded_line := " ".join(line.split()):
                self._starts.append(place)
                self._numbers.append(number)
                words.append(folded_line)
                place += len(folded_line) + 1
        self.words = " ".join(words)

    def find(self, text: str) -> set[Lines]:
        """The lines that have it, but not as a part of longer words."""
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
    """In order; ranges that touch or overlap are joined."""
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
    """A file as it was read last. `current` are lines of this content, `ever` of older ones too."""

    path: str
    digest: str
    current: list[Lines]
    ever: list[Lines]
    places: Sequence[KnownPlace]
    _texts: list[FoldedText] | None = None
    _found: dict[str, list[Lines]] = field(default_factory=dict[str, list[Lines]])
    _headings: Headings | None = None
    _characters_left: int = _MOST_CHARACTERS_SEARCHED

    @classmethod
    def of(cls, path: str, places: Sequence[KnownPlace]) -> FileRecord:
        digest = next((known.digest for known in places[::-1] if known.digest), "")
        # Without a digest it is not known whether the file has changed: it counts as current.
        current = [known for known in places if known.digest in ("", digest)]
        return cls(
            path=path,
            digest=digest,
            current=merged((known.first, known.last) for known in current if known.first),
            ever=merged((known.first, known.last) for known in places if known.first),
            places=current,
        )

    def find(self, quotation: AnswerQuote) -> list[Lines]:
        """The lines that have it, in order, as far as the content is known."""
        if self._texts is None:
            self._texts = [FoldedText(each) for each in self.places if each.text and each.first]
        if quotation.text not in self._found:
            self._characters_left -= sum(len(text.words) for text in self._texts)
            searched = self._texts if self._characters_left > 0 else ()
            found = [text.find(quotation.text) for text in searched]
            self._found[quotation.text] = sorted(set[Lines]().union(*found))
        return self._found[quotation.text]

    def lacks(self, heading: str) -> bool:
        """Whether the whole file was read at once, and it has no such heading."""
        if self._headings is None:
            whole = next((known.text for known in self.places if known.is_whole), None)
            if whole is None:
                return False
            self._headings = Headings(whole)
        return not self._headings.has(heading)

    def lines(self, first: int, last: int) -> list[str]:
        """Their text, from the first place that has them all; empty if none has."""
        for known in self.places:
            if known.text and 0 < known.first <= first <= last <= known.last:
                self._characters_left -= len(known.text)
                lines = known.text.split("\n") if self._characters_left > 0 else []
                return lines[first - known.first : last - known.first + 1]
        return []

    def is_earlier(self, first: int, last: int) -> bool:
        """Whether this run itself has read none of these lines."""
        return not any(
            not known.is_earlier and known.first <= last and first <= known.last
            for known in self.places
        )


class Record:
    """All known places, oldest first, found by path, title, thread or address."""

    def __init__(
        self, places: Sequence[KnownPlace], folders: Sequence[tuple[str, str]] = ()
    ) -> None:
        """`folders` are the names of the project's folder and of its further roots on disk, each
        with what the paths of files in it begin with.
        """
        self._places = places
        self._folders = folders
        self.notes: dict[str, KnownPlace] = {}
        self.entries: defaultdict[tuple[str, str], list[KnownPlace]] = defaultdict(list)
        self.pages: dict[str, KnownPlace] = {}
        self._mentioned: set[str] | None = None
        self._texts: list[FoldedText] | None = None
        self._characters_left = _MOST_CHARACTERS_SEARCHED
        by_path: defaultdict[str, list[KnownPlace]] = defaultdict(list)
        for known in places:
            self._take(known)
            if known.path and known.first:
                by_path[known.path].append(known)
        self.files = {path: FileRecord.of(path, known) for path, known in by_path.items()}
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in self.files:
            self._by_name[posixpath.basename(path)].append(path)

    def files_of(self, path: str) -> list[FileRecord]:
        """The file of that path. Otherwise, if it is relative, those whose path ends with it."""
        cited = normal_path(path)
        if cited.startswith("/"):
            found = [name for name in self._names_of(cited) if name in self.files][:1]
        elif cited in self.files:
            found = [cited]
        else:
            same_name = self._by_name.get(posixpath.basename(cited), [])
            found = [name for name in same_name if name.endswith(f"/{cited}")]
        # Only last: a file's own name may have a percent sign.
        if not found and "%" in path and (plain := unquote(path)) != path:
            return self.files_of(plain)
        if not found and not path.isascii():
            found = self._ends_of(cited)
        return [self.files[name] for name in found]

    def _names_of(self, path: str) -> Iterator[str]:
        """What an absolute path may be called here: it leads to a file outside, begins at the
        project, or goes through the project's folder or that of a further root.
        """
        yield path
        yield path.lstrip("/")
        for folder, inner in self._folders:
            place = path.find(f"/{folder}/")
            while place >= 0:
                yield inner + path[place + len(folder) + 2 :]
                place = path.find(f"/{folder}/", place + 1)

    def _ends_of(self, path: str) -> list[str]:
        """The files with the longest end of the path. A script without blanks may have words before
        it, and where they end is not known.
        """
        for start, letter in enumerate(path[:LONGEST_PATH], start=1):
            if not letter.isascii():
                ends = self._by_name.get(posixpath.basename(path[start:]), [])
                if found := [name for name in ends if f"/{name}".endswith(f"/{path[start:]}")]:
                    return found
        return []

    def names_with_blanks(self) -> Names:
        """Paths with blanks or the like in them, also without their first folders, for
        `find_cited`.
        """
        found: defaultdict[str, set[str]] = defaultdict(set)
        for path in self.files:
            end = plain_end(path)
            while len(path) > len(end) and len(found[end]) < _MOST_OF_ONE_NAME:
                found[end].add(path)
                path = path.partition("/")[2]
        return {end: sorted(names, key=len, reverse=True) for end, names in found.items() if names}

    def mentions(self, url: str) -> bool:
        """Whether a text that was read has this address: then the answer quotes it."""
        if self._mentioned is None:
            self._mentioned = {
                same_page(trimmed_url(found["url"]))
                for known in self._places
                if "://" in known.text
                for found in TOKEN.finditer(known.text)
                if found["url"] is not None
            }
        return same_page(url) in self._mentioned

    def says(self, text: str) -> bool:
        """Whether a text that was read has these words: then a citation inside of them is a part
        of the quotation, and not the answer's own.
        """
        if not text or self._characters_left <= 0:
            return False
        if self._texts is None:
            self._texts = [FoldedText(known) for known in self._places if known.text]
        self._characters_left -= sum(len(each.words) for each in self._texts)
        return any(text in each.words for each in self._texts)

    def _take(self, known: KnownPlace) -> None:
        kind = kind_named(known.kind)
        if kind.citation == "entry":
            self.entries[kind.prefix, folded(known.title)].append(known)
        elif known.title and not known.url:
            self.notes[folded(known.title)] = known
        if kind.citation == "note" and known.path:
            self._take_names(known)
        if known.url:
            self.pages[same_page(known.url)] = known

    def _take_names(self, known: KnownPlace) -> None:
        """A note may be cited by its file's name too. A note that was listed counts as found."""
        names = [known.path] if known.first else []
        for row in known.listed:
            names += [row["path"], row.get("title", "")]
        for name in filter(None, names):
            stem = posixpath.splitext(name)[0] if name.endswith((".md", ".mdx", ".txt")) else name
            for form in (name, stem, posixpath.basename(stem), posixpath.basename(name)):
                self.notes.setdefault(folded(form), known)

"""Turns a file on disk into its entry in the catalogue and its passages in the text index."""

from __future__ import annotations

import codecs
import hashlib
import os
import stat
import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from oracle.errors import ToolProblem
from oracle.lazy_dataclass import dataclass
from oracle.regular_file import kind_of_file
from oracle.services.project.file_rules import LARGEST, not_indexed_by_content
from oracle.services.project.redaction import redact, without_known
from oracle.services.project.safe_open import real_path
from oracle.services.project.walk import FoundFile
from oracle.services.project.walk_memory import digest_of_code
from oracle.services.search.chunks import Chunk, chunks_of
from oracle.services.search.entries import Entry
from oracle.services.search.languages import language_of
from oracle.services.search.notes import Note, read_note
from oracle.services.search.outline import outline_of
from oracle.services.search.passages import Passage
from oracle.services.search.records import Kind
from oracle.services.search.roles import kind_of, role_of
from oracle.services.search.symbols import Outline, Symbol
from oracle.services.search.terms import (
    WordCache,
    terms_of,
    terms_of_names,
    terms_of_text,
    words_of,
)

_CARD_LINES: Final = 40
_CARD_CHARACTERS: Final = 4_000
"""How much of a file's beginning is on its card: about the module's docstring and the imports."""
_JUST_NOW_NS: Final = 2_000_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """A file that was read: its bytes and the state on disk that they belong to."""

    found: FoundFile
    kind: Kind
    bytes: bytes
    digest: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexedFile:
    """A file in the two forms in which it goes into the index."""

    entry: Entry
    passages: list[Passage]


def read_bytes(root: Path, path: str) -> tuple[bytes, os.stat_result] | str:
    """The content of a file and its state on disk, or the reason why it is left out."""
    # Texts, because hundreds of files are read in a row, and paths take longer than reading.
    whole = os.path.join(root, path)
    try:
        with open(whole, "rb", opener=_opener) as file:
            # Asked of the open file, before it is read: if it changes meanwhile, the stored state
            # is the older one, and the next refresh reads it again.
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode):
                return f"it is {kind_of_file(state.st_mode)}"
            # A folder on the way may have become a link since the walk.
            if real_path(file.fileno(), whole, state) != whole:
                return "it is reached through a symbolic link"
            content = file.read(LARGEST + 1)
    except (OSError, ValueError, ToolProblem) as problem:
        return f"it cannot be read: {getattr(problem, 'strerror', None) or problem}"
    if len(content) > LARGEST:
        return f"more than {LARGEST:,} bytes"
    return not_indexed_by_content(content) or (content, state)


def read(root: Path, found: FoundFile) -> Content | str:
    """The content with what shows a later change, or the reason why the file is left out."""
    opened = read_bytes(root, found.path)
    if isinstance(opened, str):
        return opened
    content, state = opened
    return Content(
        found=FoundFile(
            path=found.path, size=state.st_size, changed_ns=_settled(state.st_ctime_ns)
        ),
        kind=kind_of(found.path),
        bytes=content,
        digest=hashlib.blake2b(content, digest_size=16).digest(),
    )


def decode(content: bytes) -> str:
    """Reads UTF-8, and UTF-16 with a byte order mark. What is neither still becomes some text."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("utf-8-sig", "replace")


def clean_text(content: bytes) -> str:
    """The text of a file without secrets. It is redacted as a whole, before it is cut: half of a
    key is not recognised.
    """
    return redact(decode(content))


def text_without_known(content: bytes) -> str:
    """The same for lines in which no secrets were found when the file was indexed."""
    return without_known(decode(content))


def secret_lines(raw: str, clean: str) -> list[int] | None:
    """The lines of a text, from 1, that are not the same without secrets."""
    if raw == clean:
        return []
    before, after = raw.split("\n"), clean.split("\n")
    if len(before) != len(after):
        return None
    pairs = enumerate(zip(before, after, strict=True), start=1)
    return [number for number, (old, new) in pairs if old != new]


def lines_of(text: str) -> list[str]:
    """Lines as editors count them, each with its end."""
    return [line + "\n" for line in bare_lines_of(text)]


def bare_lines_of(text: str, *, most: int = -1) -> list[str]:
    """The same without their ends; with `most`, only so many from the beginning."""
    # Not `splitlines`, which also splits at form feeds and other characters that editors ignore.
    lines = text.split("\n", most)
    # The last one is what comes after the last end: nothing, or the rest of the text.
    if lines[-1] == "" or len(lines) == most + 1:
        lines.pop()
    return lines


def _opener(path: str, flags: int) -> int:
    """Does not wait for a pipe, nor follow a link that has replaced the file since the walk."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)


def _settled(changed_ns: int) -> int:
    """The time of a change; 0 if the next change could get the same time and go unseen."""
    # Clocks of file systems can be as coarse as two seconds.
    return 0 if abs(time.time_ns() - changed_ns) < _JUST_NOW_NS else changed_ns


def take_in(content: Content, number: int) -> IndexedFile:
    path = content.found.path
    raw = decode(content.bytes)
    text = redact(raw)
    language = language_of(path)
    secret = secret_lines(raw, text)
    if language == "markdown":
        return _take_note(content, number, text, secret)
    outline = outline_of(text, path, content.bytes if text == raw else text.encode())
    lines = lines_of(text)
    place = terms_of_text(path)
    used: set[str] = set()
    passages: list[Passage] = []
    for chunk in chunks_of(lines, outline.symbols):
        body, remarks = _terms_of(lines, chunk, outline.remarks, used)
        passages.append(_passage(content, number, chunk, body=body, place=place, remarks=remarks))
    passages.append(_card(content, number, lines, outline.symbols, place))
    # Only names that are hardly ever ordinary words: a list of all words would be as long as the
    # text, and would connect files that merely share English.
    names = frozenset(filter(_distinctive.__getitem__, used)) if language else frozenset[str]()
    entry = _entry(content, number, outline=outline, uses=names, secret=secret)
    return IndexedFile(entry=entry, passages=passages)


def _is_distinctive(word: str) -> bool:
    return (len(word) > 3 and "." not in word and "-" not in word) and (
        "_" in word[1:-1] or (not word.islower() and not word.isupper() and not word.isdigit())
    )


_distinctive = WordCache(_is_distinctive)


def distinctive(word: str) -> bool:
    """Whether a word is almost certainly a name in code, such as `get_user` or `HTTPError`."""
    return _distinctive[word]


def _take_note(content: Content, number: int, text: str, secret: list[int] | None) -> IndexedFile:
    note = read_note(text, content.found.path)
    # Used names are stored joined by blanks, so a blank inside a link's title is replaced.
    links = frozenset(link.replace(" ", "\u00a0") for link in note.links)
    outline = Outline(symbols=note.headings)
    place = terms_of_text(f"{content.found.path} {note.title}")
    lines = lines_of(text)
    passages = [
        _passage(content, number, chunk, body=terms_of_text(chunk.text), place=place)
        for chunk in chunks_of(lines, note.headings)
    ]
    passages.append(_card(content, number, lines, note.headings, place))
    entry = _entry(content, number, outline=outline, uses=links, secret=secret, note=note)
    return IndexedFile(entry=entry, passages=passages)


def _entry(
    content: Content,
    number: int,
    *,
    outline: Outline,
    uses: frozenset[str],
    secret: list[int] | None,
    note: Note | None = None,
) -> Entry:
    found = content.found
    return Entry(
        id=number,
        path=found.path,
        kind=content.kind,
        role=role_of(found.path),
        title=note.title if note else None,
        size=found.size,
        changed_ns=found.changed_ns,
        digest=content.digest,
        decides=note.decides if note else 0,
        judged=digest_of_code(),
        secret=secret,
        symbols=outline.symbols,
        uses=uses,
    )


def _passage(
    content: Content, number: int, chunk: Chunk, *, body: str, place: str, remarks: str = ""
) -> Passage:
    return Passage(
        file=number,
        start=chunk.start,
        end=chunk.end,
        kind=content.kind,
        body=body,
        names=terms_of_names(chunk.names),
        place=place,
        remarks=remarks,
    )


def _card(
    content: Content, number: int, lines: Sequence[str], symbols: Sequence[Symbol], place: str
) -> Passage:
    names = terms_of_names(symbol.name for symbol in symbols)
    head = terms_of_text("".join(lines[:_CARD_LINES])[:_CARD_CHARACTERS])
    return Passage(
        file=number,
        start=1,
        end=min(_CARD_LINES, len(lines)),
        kind=content.kind,
        # Three times: on a card the path is what best says what a file is about.
        card=" ".join((place, place, place, names, head)),
    )


def _terms_of(
    lines: Sequence[str], chunk: Chunk, remarks: Sequence[tuple[int, int]], used: set[str]
) -> tuple[str, str]:
    """The terms of a chunk, and those of the comments in it. Its words are added to the `used`."""
    texts: list[str] = []
    of_remarks: list[str] = []
    at = chunk.start
    for start, end in _remarks(chunk, remarks):
        # Each line is split once. Only if two comments share a line, it is split for each.
        if start > at:
            texts.append(_terms_of_lines(lines[at - 1 : start - 1], used))
        found = _terms_of_lines(lines[start - 1 : end], used)
        of_remarks.append(found)
        if start >= at:
            texts.append(found)
        elif end >= at:
            texts.append(_terms_of_lines(lines[at - 1 : end], used))
        at = max(at, end + 1)
    texts.append(_terms_of_lines(lines[at - 1 : chunk.end], used))
    return " ".join(texts), " ".join(of_remarks)


def _terms_of_lines(lines: Sequence[str], used: set[str]) -> str:
    words = words_of("".join(lines))
    used.update(words)
    return terms_of(words)


def _remarks(chunk: Chunk, remarks: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The lines of the comments in a chunk. Those side by side come as one."""
    first, last = 0, -1
    # One may have begun in the chunk before.
    for at in range(max(0, bisect_left(remarks, (chunk.start, 0)) - 1), len(remarks)):
        start, end = remarks[at]
        if start > chunk.end:
            break
        start, end = max(start, chunk.start), min(end, chunk.end)
        if end < start:
            continue
        if start != last + 1:
            if first:
                yield first, last
            first = start
        last = end
    if first:
        yield first, last

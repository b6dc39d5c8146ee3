"""From a file on disk to what the index keeps of it."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oracle.services.index.catalogue import Entry
from oracle.services.index.chunks import Chunk, chunks_of
from oracle.services.index.languages import PARSED, language_of
from oracle.services.index.notes import Note, read_note
from oracle.services.index.outline import Outline, outline_of
from oracle.services.index.passages import Passage
from oracle.services.index.reading import decode, lines_of
from oracle.services.index.roles import kind_of, role_of
from oracle.services.index.skips import LARGEST, skip_by_content
from oracle.services.index.walk import Found
from oracle.services.index.words import terms_of_text

_JUST_NOW_NS: Final = 2_000_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """A file that was read: its bytes and the state on disk that they belong to."""

    found: Found
    bytes: bytes
    digest: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    entry: Entry
    passages: list[Passage]


def read(root: Path, found: Found) -> Content | str:
    """The content, or the reason why it stays out."""
    try:
        with open(root / found.path, "rb", opener=_opener) as file:
            state = os.fstat(file.fileno())
            content = file.read(LARGEST + 1)
    except (OSError, ValueError) as problem:
        return f"it cannot be read: {getattr(problem, 'strerror', None) or problem}"
    if len(content) > LARGEST:
        return f"more than {LARGEST:,} bytes"
    if reason := skip_by_content(content):
        return reason
    return Content(
        found=Found(path=found.path, size=state.st_size, mtime_ns=_settled(state.st_mtime_ns)),
        bytes=content,
        digest=hashlib.blake2b(content, digest_size=16).digest(),
    )


def _opener(path: str, flags: int) -> int:
    """Neither waits for a pipe nor follows a link that took the file's place."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)


def _settled(mtime_ns: int) -> int:
    """A file of this moment may change again without its time telling."""
    return 0 if abs(time.time_ns() - mtime_ns) < _JUST_NOW_NS else mtime_ns


def take_in(content: Content, number: int) -> Taken:
    path = content.found.path
    text = decode(content.bytes)
    language = language_of(path)
    if language == "markdown":
        return _take_note(content, number, text)
    outline = (outline_of(content.bytes, language) if language in PARSED else None) or Outline()
    lines = lines_of(text)
    entry = _entry(content, number, outline=outline)
    chunks = chunks_of(lines, outline.symbols)
    place = terms_of_text(path)
    passages = [
        _passage(entry, chunk, place, _remarks(lines, chunk, outline.remarks)) for chunk in chunks
    ]
    return Taken(entry=entry, passages=passages)


def _take_note(content: Content, number: int, text: str) -> Taken:
    note = read_note(text, content.found.path)
    outline = Outline(symbols=note.headings, references={link: () for link in note.links})
    entry = _entry(content, number, outline=outline, note=note)
    chunks = chunks_of(lines_of(text), note.headings)
    place = terms_of_text(f"{content.found.path} {note.title}")
    about = terms_of_text(" ".join((note.front_matter, *note.dates)))
    passages = [_passage(entry, chunk, place, about) for chunk in chunks]
    return Taken(entry=entry, passages=passages)


def _entry(content: Content, number: int, *, outline: Outline, note: Note | None = None) -> Entry:
    found = content.found
    return Entry(
        id=number,
        path=found.path,
        kind=kind_of(found.path),
        role=role_of(found.path),
        title=note.title if note else None,
        size=found.size,
        mtime_ns=found.mtime_ns,
        digest=content.digest,
        decides=bool(note and note.decides),
        outline=outline,
    )


def _passage(entry: Entry, chunk: Chunk, place: str, remarks: str) -> Passage:
    return Passage(
        file=entry.id,
        start=chunk.start,
        end=chunk.end,
        kind=entry.kind,
        body=terms_of_text(chunk.text),
        names=terms_of_text(" ".join(chunk.names)),
        place=place,
        remarks=remarks,
    )


def _remarks(lines: Sequence[str], chunk: Chunk, remarks: Sequence[tuple[int, int]]) -> str:
    texts = [
        "".join(lines[max(start, chunk.start) - 1 : min(end, chunk.end)])
        for start, end in remarks
        if start <= chunk.end and end >= chunk.start
    ]
    return terms_of_text(" ".join(texts))

"""What an editor sends as a prompt: a question, and files that go with it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import unquote, urlsplit

from acp.schema import (
    EmbeddedResourceContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from oracle.errors import InputError, OracleError, named
from oracle.lazy_dataclass import dataclass
from oracle.models.source import Given, Source
from oracle.services.attachments.gathering import MOST_BYTES, gather
from oracle.services.attachments.reading import text_of_editor
from oracle.services.attachments.references import Reach, references_in

Block: TypeAlias = Any
"""A content block of the protocol, in one of its five forms."""

# `#L10`, `#L10:20` (Zed), `#L10-20` and `#L10-L20`.
_LINES: Final = re.compile(r"L(?P<first>\d{1,9})(?:[:-]L?(?P<last>\d{1,9}))?(?:\D.*)?")
_BEFORE_NAME: Final = (*" \n\t([{`'\"",)
_AFTER_NAME: Final = (*" \n\t)]}`'\".,;:!?",)


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A file that an address names, with lines if it has any."""

    path: Path
    first: int | None = None
    last: int | None = None

    @classmethod
    def of(cls, uri: str) -> Place | None:
        """None for an address that names no file."""
        try:
            parts = urlsplit(uri)
        except ValueError:
            return None
        if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not parts.path:
            return None
        lines = _LINES.fullmatch(parts.fragment)
        path = Path(unquote(parts.path))
        if lines is None:
            return cls(path=path)
        first = max(1, int(lines["first"]))
        return cls(path=path, first=first, last=max(first, int(lines["last"] or first)))

    def shown(self, root: Path) -> str:
        """As a person would write it, from the root of the project."""
        real = os.path.relpath(self.path, root) if self.path.is_relative_to(root) else self.path
        return f"{real}{self.lines}"

    @property
    def lines(self) -> str:
        if self.first is None:
            return ""
        return f":{self.first}" if self.first == self.last else f":{self.first}-{self.last}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """`notes` are for the user: what was not attached, and why."""

    question: str
    given: Given
    notes: Sequence[str] = ()


class _Word(NamedTuple):
    text: str
    is_name: bool = False


@dataclass(kw_only=True, slots=True)
class _Gathered:
    words: list[_Word] = field(default_factory=list["_Word"])
    sources: dict[str, Source] = field(default_factory=dict[str, Source])
    texts: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    size: int = 0

    def add(self, source: Source) -> None:
        size = len(source["text"].encode(errors="replace"))
        if self.size + size > MOST_BYTES:
            raise InputError(
                f"{named(source['where'])} is not attached: all attachments together may have "
                f"{MOST_BYTES:,} bytes"
            )
        if source["where"] not in self.sources:
            self.size += size
            self.sources[source["where"]] = source

    def note_problem(self, work: Callable[[], None]) -> None:
        """Answer although a file cannot be attached: some editors attach the open file by
        themselves.
        """
        try:
            work()
        except OracleError as problem:
            self.notes.append(str(problem))


def prompt_of(blocks: Sequence[Block], reach: Reach) -> Prompt:
    """Read the files that the blocks name. What lies outside of the project is not attached."""
    found = _Gathered()
    for block in blocks:
        match block:
            case TextContentBlock():
                found.words.append(_Word(block.text))
                _read_mentions(block.text, reach, found)
            case ResourceContentBlock():
                _take_link(block, reach, found)
            case EmbeddedResourceContentBlock():
                _take_resource(block, reach, found)
            case _:
                kind = str(getattr(block, "type", "unknown"))
                found.notes.append(f"a part of the type {kind!r} is not attached: only text is")
    return Prompt(
        question=_sentence(found.words),
        given=Given(text="\n\n".join(found.texts), sources=[*found.sources.values()]),
        notes=found.notes,
    )


def _read_mentions(text: str, reach: Reach, found: _Gathered) -> None:
    """Files that the text names with `@`."""
    try:
        mentioned, _ = references_in(text, reach)
    except OracleError as problem:
        found.notes.append(str(problem))
        return
    for each in mentioned:
        place = Place(path=each.path, first=each.first, last=each.last)
        found.note_problem(lambda place=place: _attach(place, reach, found))


def _take_link(block: ResourceContentBlock, reach: Reach, found: _Gathered) -> None:
    place = Place.of(block.uri)
    if place is None:
        found.words.append(_Word(f"[{block.name}]({block.uri})", is_name=True))
        return
    found.words.append(_Word(place.shown(reach.root), is_name=True))
    found.note_problem(lambda: _attach(place, reach, found))


def _take_resource(block: EmbeddedResourceContentBlock, reach: Reach, found: _Gathered) -> None:
    resource = block.resource
    if not isinstance(resource, TextResourceContents):
        found.notes.append(f"{named(resource.uri)} is not attached: only text is")
        return
    place = Place.of(resource.uri)
    if place is None:
        found.texts.append(f"{resource.uri}\n{resource.text}")
        return
    found.words.append(_Word(place.shown(reach.root), is_name=True))
    found.note_problem(
        lambda: found.add(text_of_editor(place.path, resource.text, reach, first=place.first))
    )


def _attach(place: Place, reach: Reach, found: _Gathered) -> None:
    real, root = Path(os.path.realpath(place.path)), Path(os.path.realpath(reach.root))
    if not real.is_relative_to(root):
        raise InputError(f"{named(str(place.path))} is not attached: it is not in the project")
    end = "" if place.first is None else f":{place.first}-{place.last or ''}"
    for source in gather(reach=reach, files=[f"{place.path}{end}"]).sources:
        found.add(source)


def _sentence(words: Sequence[_Word]) -> str:
    """Editors cut a sentence at each file: `Explain `, the file, ` please`."""
    sentence, was_name = "", False
    for word in words:
        is_apart = sentence.endswith(_BEFORE_NAME) or word.text.startswith(_AFTER_NAME)
        if sentence and (word.is_name or was_name) and not is_apart:
            sentence += " "
        sentence += word.text
        was_name = word.is_name
    return sentence.strip()

"""The records of the catalogue: a file's state on disk, its card, and its whole entry."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from oracle.lazy_dataclass import dataclass
from oracle.services.search.records import Kind, Role
from oracle.services.search.symbols import Symbol


class FileState(NamedTuple):
    """`changed_ns` is 0 if the file was written too recently for its time to show a change."""

    id: int
    size: int
    changed_ns: int
    digest: bytes


class FileCard(NamedTuple):
    """What ranking needs to know about a file."""

    id: int
    path: str
    kind: Kind
    role: Role
    decides: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A file as it goes into the catalogue."""

    id: int
    path: str
    kind: Kind
    role: Role
    title: str | None
    size: int
    changed_ns: int
    digest: bytes
    decides: int
    judged: bytes
    """The digest of the rules by which `secret` was found."""
    secret: Sequence[int] | None
    """The lines that hold secrets; None if these are not known line by line."""
    symbols: Sequence[Symbol]
    uses: Collection[str]

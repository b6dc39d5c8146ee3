"""The records that the index returns, and the kinds and roles of files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Literal

from oracle.lazy_dataclass import dataclass

Kind = Literal["code", "vault", "threads"]


class Role(StrEnum):
    """What a file is for. Source comes first unless the question asks for something else."""

    SOURCE = "source"
    TEST = "test"
    DOCUMENT = "document"
    SETTINGS = "settings"
    VENDORED = "vendored"
    THREAD = "thread"


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A passage that matches: lines from 1, both ends included, and its text as it is on disk."""

    path: str
    start: int
    end: int
    score: float
    text: str
    kind: Kind
    symbol: str | None = None


@dataclass(frozen=True, kw_only=True)
class Definition:
    name: str
    kind: str
    parent: str | None
    path: str
    start: int
    end: int

    @property
    def full_name(self) -> str:
        return f"{self.parent}.{self.name}" if self.parent else self.name


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A line on which a name is used."""

    name: str
    path: str
    line: int


@dataclass(frozen=True, kw_only=True)
class Progress:
    done: int
    total: int
    path: str


ProgressListener = Callable[[Progress], None]


@dataclass(frozen=True, kw_only=True)
class RefreshReport:
    """What a refresh did. `unchanged` files have the same state on disk, or the same content.

    `left_out` files did not fit within the bound of an index in memory. `is_cut`: not all folders
    were looked at, so there may be more such files. `is_late`: time ran out, and the next refresh
    continues from there. `rebuilt` is the reason why the index was built again, if it was.
    """

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: int = 0
    left_out: int = 0
    is_cut: bool = False
    is_late: bool = False
    rebuilt: str | None = None

    @property
    def touched(self) -> int:
        return self.added + self.changed + self.removed


@dataclass(frozen=True, kw_only=True)
class FileOnMap:
    """`text` is the file's part of the map, `lines` are the lines of the file that it shows."""

    path: str
    lines: Sequence[int]
    text: str

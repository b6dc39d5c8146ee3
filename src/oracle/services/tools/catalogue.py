"""The seam behind find_definition, read_file and get_repo_map: what is defined and used where."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Symbol:
    """A definition in lines `start` to `end` of a file; `parent` is what it is a member of."""

    name: str
    parent: str | None
    path: str
    start: int
    end: int

    @property
    def full_name(self) -> str:
        return f"{self.parent}.{self.name}" if self.parent else self.name


@dataclass(frozen=True, kw_only=True)
class Usage:
    path: str
    line: int


@dataclass(frozen=True, kw_only=True)
class MappedFile:
    """A file on a map: `text` is how it is drawn, `lines` are the lines of it that are shown."""

    path: str
    lines: Sequence[int]
    text: str


class Catalogue(Protocol):
    """Places may have grown stale: the tools read the lines again before they quote them."""

    async def definitions(self, name: str) -> Sequence[Symbol]:
        """Where a bare name is defined, in code."""
        ...

    async def usages(self, name: str) -> Sequence[Usage]:
        """Lines of code that use a bare name, without those that define it; not without end."""
        ...

    async def symbols(self, path: str) -> Sequence[Symbol]:
        """What one file defines, in the order of its lines."""
        ...

    async def map_for(
        self, question: str, token_budget: int, *, under: str = ""
    ) -> Sequence[MappedFile] | None:
        """The files that matter to a question, with what they define; None if it cannot tell."""
        ...


def name_parts(name: str) -> list[str]:
    """`Class.method`, `module::function` and `Class#method` in parts; never none."""
    return [part for part in re.split(r"[.#]|::|->", name.strip("() ")) if part] or [name]


def best_named(found: Sequence[Symbol], name: str, owners: Sequence[str]) -> list[Symbol]:
    """Spelt just so rather than otherwise, and with that owner rather than with any."""
    exact = [each for each in found if each.name == name] or list(found)
    owned = [each for each in exact if _belongs(each, owners[-1])] if owners else []
    return owned or exact


def _belongs(symbol: Symbol, owner: str) -> bool:
    return owner in (symbol.parent, symbol.path.rpartition("/")[2].partition(".")[0])

"""The interface to the index for tools that find things: words or names in, places out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from oracle.services.search.records import Definition, FileOnMap, Hit, Kind, Reference
from oracle.services.tools.answer import Answer

NOT_ALL_SEARCHED: Final = "Not all files were searched"
"""How the note on files that were left out begins."""


class Lookup(Protocol):
    """Places may be out of date. The tools read the lines again before they quote them, so an old
    place may be missing in a result, but it is never quoted wrongly.
    """

    async def search(self, query: str, kind: Kind, k: int, *, under: str = "") -> Sequence[Hit]:
        """The best `k` places, best first; with `under`, only in that folder or that file."""
        ...

    async def definitions(self, name: str) -> Sequence[Definition]:
        """Where a bare name is defined, in code."""
        ...

    async def usages(self, name: str) -> Sequence[Reference]:
        """Lines of code that use a bare name, without its definitions; a bounded number of them."""
        ...

    async def symbols(self, path: str) -> Sequence[Definition]:
        """What one file defines, in the order of its lines."""
        ...

    async def top_names(self) -> Mapping[str, Sequence[str]]:
        """By path: what each file defines at its top level."""
        ...

    async def map_for(
        self, question: str, token_budget: int, *, under: str = ""
    ) -> Sequence[FileOnMap]:
        """The files that matter to a question, with what they define."""
        ...

    @property
    def left_out(self) -> str:
        """A sentence about files that the last look-up could not search; empty if it saw all."""
        ...


def with_left_out(answer: Answer, lookup: Lookup) -> Answer:
    """Add a sentence to the answer if not all files were searched."""
    if not (note := lookup.left_out):
        return answer
    return replace(answer, summary=f"{answer.summary} {note}")


def name_parts(name: str) -> list[str]:
    """The parts of `Class.method`, `module::function` or `Class#method`; at least one."""
    return [part for part in re.split(r"[.#]|::|->", name.strip("() ")) if part] or [name]


def best_named(found: Sequence[Definition], name: str, owners: Sequence[str]) -> list[Definition]:
    """Those with the exact spelling, if any; of these, those with the right owner, if any."""
    exact = [each for each in found if each.name == name] or list(found)
    owned = [each for each in exact if _belongs(each, owners[-1])] if owners else []
    return owned or exact


def _belongs(found: Definition, owner: str) -> bool:
    return owner in (found.parent, found.path.rpartition("/")[2].partition(".")[0])

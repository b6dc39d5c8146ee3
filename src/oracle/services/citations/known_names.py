"""Names of files that were read and that no pattern finds as a whole, such as `my notes/a b.md`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from oracle.services.citations.finding import Citation

Names = Mapping[str, Sequence[str]]
"""Paths with blanks or the like in them that were read, the longest first.

The key is the end of the path, which is all that a pattern finds of it.
"""

NO_NAMES: Final[Names] = {}


def with_known_names(text: str, citations: Iterable[Citation], names: Names) -> Iterator[Citation]:
    """Files cited by the longest known name that ends where the path found so far ends."""
    last_end = 0
    for citation in citations:
        if citation.kind == "file" and citation.certain:
            citation = _by_known_name(text, citation, names.get(citation.name, ()), last_end)
            last_end = citation.end
        yield citation


def _by_known_name(text: str, citation: Citation, names: Sequence[str], last_end: int) -> Citation:
    ends = citation.start + len(citation.name)
    for name in names:
        start = ends - len(name)
        if start >= last_end and text.endswith(name, start, ends) and not _in_a_path(text, start):
            return replace(
                citation, name=name, start=start, text=text[start : citation.end], certain=True
            )
    return citation


def _in_a_path(text: str, start: int) -> bool:
    """Whether a name would begin in the middle of a longer path or word."""
    before = text[max(0, start - 1) : start]
    return before.isalnum() or before in ("/", "\\", "_", "-", ".")

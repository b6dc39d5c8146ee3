"""Find the citations of an answer, compare them with what was read, and mark those that fail."""

from __future__ import annotations

from oracle.services.citations.checking import (
    Checked,
    are_cited,
    check_answer,
    holds,
    lines_cited,
    places_to_remember,
)
from oracle.services.citations.finding import Citation, find_citations
from oracle.services.citations.marking import without_marks

__all__ = [
    "Checked",
    "Citation",
    "are_cited",
    "check_answer",
    "find_citations",
    "holds",
    "lines_cited",
    "places_to_remember",
    "without_marks",
]

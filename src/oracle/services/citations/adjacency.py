"""Decide whether a quotation is right next to a citation, so that it claims to be found there.

Any other quotation of the sentence may be what the cited place uses, lacks or should become.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from oracle.patterns import lazy_pattern
from oracle.services.citations.finding import Citation, Span

Adjacency = Literal["said", "near"]
"""`said`: a verb claims that the cited lines have these words. `near`: they are side by side."""

# All runs in the patterns below are possessive (`*+`, `++`): they never give characters back, so
# that a long row of brackets or blanks takes linear time.
_LONGEST: Final = 60
# What may open before a citation: brackets, code, bold type, the text of a link.
_OPENING: Final = r"[\s(\[<`*_]*+(?:[^\[\]\n]{0,60}\]\()?"
# From a quotation to a citation after it: "`x = 1` is set in (a.py:3", "`x = 1` – a.py:3".
_BEFORE: Final = lazy_pattern(
    r"[)\]*_]*+\s*+(?:(?:[:–—→]|-{1,2}|->|,\s(?=see\b))\s*+)?[(\[]?\s*+"
    r"(?:(?:is|are|was|stands?|lives?|sits?|appears?|comes?|found)\s++"
    r"(?:(?:defined|set|declared|written|found|located)\s++)?(?=at|in|on|from))?"
    rf"(?:(?:at|in|on|from|see)\b:?)?{_OPENING}",
    re.IGNORECASE,
)
_CLOSING: Final = r"[)\]>`*_]*+"
# From a citation to a quotation after it: "a.py:3, which says: `x = 1`".
_SAYING: Final = lazy_pattern(
    rf"{_CLOSING},?\s++(?:(?:which|that|it|clearly|there)\s++)?"
    r"(?P<verb>says|reads|contains|has|is|states|shows)\s*+:?\s*+[*_]*+",
    re.IGNORECASE,
)
_AFTER: Final = lazy_pattern(rf"{_CLOSING}\s*+(?:[:–—→=(]|-{{1,2}}|->)?\s*+[*_]*+")
# A quotation after a citation counts only if its clause ends there. In "a.py:3 `x` is set by `y`"
# the sentence goes on about it.
_STOP: Final = lazy_pattern(r"[*_]*+(?:[.,;)]|\s*+$|\s++[(–—])", re.MULTILINE)
_SAID_BEFORE: Final = lazy_pattern(
    r"\b(?:says|reads|contains|states)\s*+:?\s*+[*_]*+$", re.IGNORECASE
)
# Words that turn a statement into a condition, a denial or a proposal.
_NO_CLAIM: Final = lazy_pattern(
    r"\b(?:if|once|when|until|unless|so|that|sure|before|after|never|not?|nowhere|nothing|neither"
    r"|should|would|must|instead|change|replace|make|let)\b",
    re.IGNORECASE,
)


def adjacency_of(text: str, citation: Citation, quoted: Span) -> Adjacency | None:
    """How a quotation in the same line is joined to the citation; None if it is not."""
    start, end = quoted
    if end <= citation.start:
        return _adjacency_before(text, citation, quoted)
    if start < citation.end or start - citation.end > _LONGEST:
        return None
    between = text[citation.end : start]
    if (saying := _SAYING.fullmatch(between)) is not None:
        # "a.py:3 is `x`" may give a role instead of the words, so `is` does not claim anything.
        is_claim = saying["verb"].lower() != "is" and _is_claim(text, citation.start)
        return "said" if is_claim else "near"
    if _STOP.match(text, end) is None:
        return None
    return "near" if _AFTER.fullmatch(between) else None


def _adjacency_before(text: str, citation: Citation, quoted: Span) -> Adjacency | None:
    start, end = quoted
    if citation.start - end > _LONGEST or not _BEFORE.fullmatch(text, end, citation.start):
        return None
    is_said = _SAID_BEFORE.search(text[max(0, start - 20) : start]) is not None
    return "said" if is_said and _is_claim(text, start) else "near"


def _is_claim(text: str, place: int) -> bool:
    """Whether the words before it state a fact: no wish, no condition and no denial."""
    before = text[max(0, place - _LONGEST) : place].rpartition("\n")[2]
    return _NO_CLAIM.search(before) is None


def is_introduced(text: str, citation: Citation, line_end: int) -> bool:
    """Whether only punctuation, or "which says", is between the citation and the block below."""
    if line_end - citation.end > _LONGEST:
        return False
    rest = text[citation.end : line_end]
    says = _SAYING.fullmatch(rest) is not None
    return says or re.fullmatch(r"[\s)\]>`*_:.–—-]*+", rest) is not None

"""Whether a quotation stands right at a citation, so that the one is said to be at the other.

Anything else in the sentence may be what the cited place uses, lacks or should become.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from oracle.services.citations.finding import Citation, Span

Adjacency = Literal["said", "near"]

_LONGEST: Final = 60
_OPENING: Final = r"[\s(\[<`*_]*+(?:[^\[\]\n]{0,60}\]\()?"
_BEFORE: Final = re.compile(
    r"[)\]*_]*+\s*+(?:(?:[:–—→]|-{1,2}|->|,\s(?=see\b))\s*+)?[(\[]?\s*+"
    r"(?:(?:is|are|was|stands?|lives?|sits?|appears?|comes?|found)\s++"
    r"(?:(?:defined|set|declared|written|found|located)\s++)?(?=at|in|on|from))?"
    rf"(?:(?:at|in|on|from|see)\b:?)?{_OPENING}",
    re.IGNORECASE,
)
_CLOSING: Final = r"[)\]>`*_]*+"
_SAYING: Final = re.compile(
    rf"{_CLOSING},?\s++(?:(?:which|that|it|clearly|there)\s++)?"
    r"(?P<verb>says|reads|contains|has|is|states|shows)\s*+:?\s*+[*_]*+",
    re.IGNORECASE,
)
_BEHIND: Final = re.compile(rf"{_CLOSING}\s*+(?:[:–—→=(]|-{{1,2}}|->)?\s*+[*_]*+")
_STOP: Final = re.compile(r"[*_]*+(?:[.,;)]|\s*+$|\s++[(–—])", re.MULTILINE)
_SAID_BEFORE: Final = re.compile(
    r"\b(?:says|reads|contains|states)\s*+:?\s*+[*_]*+$", re.IGNORECASE
)
_NO_CLAIM: Final = re.compile(
    r"\b(?:if|once|when|until|unless|so|that|sure|before|after|never|not?|nowhere|nothing|neither"
    r"|should|would|must|instead|change|replace|make|let)\b",
    re.IGNORECASE,
)


def adjacency_of(text: str, citation: Citation, quoted: Span) -> Adjacency | None:
    """How a quotation of the same line is joined to the citation; None where it is not."""
    start, end = quoted
    if end <= citation.start:
        return _adjacency_before(text, citation, quoted)
    behind = text[citation.end : start] if start - citation.end <= _LONGEST else None
    if behind is None or start < citation.end:
        return None
    if (saying := _SAYING.fullmatch(behind)) is not None:
        is_claim = saying["verb"].lower() != "is" and _is_claim(text, citation.start)
        return "said" if is_claim else "near"
    if _STOP.match(text, end) is None:
        return None
    return "near" if _BEHIND.fullmatch(behind) else None


def _adjacency_before(text: str, citation: Citation, quoted: Span) -> Adjacency | None:
    start, end = quoted
    if citation.start - end > _LONGEST or not _BEFORE.fullmatch(text, end, citation.start):
        return None
    is_said = _SAID_BEFORE.search(text[max(0, start - 20) : start]) is not None
    return "said" if is_said and _is_claim(text, start) else "near"


def _is_claim(text: str, place: int) -> bool:
    """Whether the words before do not make a wish, a condition or a denial of it."""
    before = text[max(0, place - _LONGEST) : place].rpartition("\n")[2]
    return _NO_CLAIM.search(before) is None


def is_introduced(text: str, citation: Citation, line_end: int) -> bool:
    """Whether nothing but punctuation stands between the citation and the block below."""
    behind = text[citation.end : line_end] if line_end - citation.end <= _LONGEST else "?"
    says = _SAYING.fullmatch(behind) is not None
    return says or re.fullmatch(r"[\s)\]>`*_:.–—-]*+", behind) is not None

"""Which lines open and close a code fence, as CommonMark has it."""

from __future__ import annotations

import re

from oracle.lazy_dataclass import dataclass
from oracle.patterns import lazy_pattern
from oracle.services.signals.cursor import SIGNAL_OPENING

LINE_LIMIT = 4096
"""A longer line neither opens nor closes a fence, so that the wait for its end is bounded."""

LEAD_LIMIT = 64
LEAD = lazy_pattern(r"[ \t>*+0-9.)-]+")
"""What may precede a fence on its line: indentation, quote marks and list marks."""

_WELL_FORMED_LEAD = lazy_pattern(r"(?:[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]))*[ \t]*", re.A)
_LIST_ITEM = lazy_pattern(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]", re.A)
_OPENING = lazy_pattern(r"(`{3,}+)[^`\n]*+\n|(~{3,}+)[^\n]*+\n")

# Possessive: after as many blanks as may precede it, a quote mark must follow.
_OUTSIDE_QUOTE = rf"[ \t]{{0,{LEAD_LIMIT}}}+[^>]"
_NOWHERE = r"(?!)"


@dataclass(frozen=True, kw_only=True)
class Fence:
    """An open fence. Its closing line has the same character, at least as often, and no more.

    A fence in a quote ends with the quote; one that opens after a list mark ends with the list
    item.
    """

    mark: str
    quoted: bool
    """The opening line has a quote mark, so all its lines must."""
    indentation: int
    """How many blanks a closing line may begin with, before its quote mark if it is `quoted`."""
    may_be_left: bool
    """A line can be outside of the quote or the list item: not closed, but over."""
    closing: re.Pattern[str]
    outside: re.Pattern[str]
    """Matches the start of a line that is outside."""
    end_inside: re.Pattern[str]
    """The line end before the closing line, which is the group, or before a line outside."""

    def is_closed_by(self, line: str) -> bool:
        """`line` without its line end."""
        return self.closing.fullmatch(line) is not None

    def is_left_by(self, line: str) -> bool:
        """`line` with its line end; its start is enough."""
        return self.outside.match(line) is not None


def lead_allows_fence(lead: str, *, in_list: bool) -> bool:
    """Indented by at most three columns, in a list by any; quote and list marks may precede."""
    if len(lead) >= LEAD_LIMIT or not _WELL_FORMED_LEAD.fullmatch(lead):
        return False
    indentation = lead[: len(lead) - len(lead.lstrip(" \t"))]
    return in_list or _columns(indentation) <= 3


def lead_is_list_item(lead: str) -> bool:
    return _LIST_ITEM.match(lead) is not None


def open_fence(line: str, lead: str) -> Fence | None:
    """The fence that `line` opens, if it does: without its lead, with its line end.

    A line with a signal in its info string does not open one.
    """
    opening = _OPENING.match(line)
    if opening is None or SIGNAL_OPENING.search(line):
        return None
    run = opening[1] or opening[2]
    quoted, in_item = ">" in lead, lead_is_list_item(lead)
    indentation = LEAD_LIMIT if quoted else max(3, _columns(lead))
    quotation = rf">[ \t>]{{0,{LEAD_LIMIT}}}" if quoted else ""
    closing = rf"[ \t]{{0,{indentation}}}{quotation}{run[0]}{{{len(run)},}}[ \t\r]*"
    # A line that is outside of a list item may still close the fence, and that is decided first.
    unfinished = rf"[ \t]*+{run[0]}++[ \t\r]*+\Z"
    outside = _OUTSIDE_QUOTE if quoted else _outside_item(lead) if in_item else _NOWHERE
    return Fence(
        mark=run[0],
        quoted=quoted,
        indentation=indentation,
        may_be_left=quoted or in_item,
        closing=re.compile(closing),
        outside=re.compile(outside),
        end_inside=re.compile(rf"\n(?:({closing})(?=\n)|(?!{unfinished})(?={outside}))"),
    )


def _outside_item(lead: str) -> str:
    """A line with ink before the column where the list item's text begins. A tab is enough."""
    return rf" {{0,{_columns(lead) - 1}}}[^ \t\r\n]"


def fence_of_line(line: str) -> Fence | None:
    """The fence that a whole line opens, at any indentation."""
    margin = LEAD.match(line, 0, LEAD_LIMIT)
    lead = margin[0] if margin else ""
    return open_fence(line[len(lead) :], lead) if lead_allows_fence(lead, in_list=True) else None


def _columns(lead: str) -> int:
    return len(lead.expandtabs(4))

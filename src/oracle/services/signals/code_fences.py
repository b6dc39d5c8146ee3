"""Which lines open and close a code fence, as CommonMark has it, in text that arrives in pieces."""

from __future__ import annotations

import re
from dataclasses import dataclass

LINE_LIMIT = 4096
"""A longer line neither opens nor closes a fence, so that nobody has to wait for its end."""

LEAD_LIMIT = 64
LEAD = re.compile(r"[ \t>*+0-9.)-]+")
"""What may stand before a fence on its line: indentation, quote marks and list marks."""

MARGIN_MARKS = frozenset(" \t>*+0123456789.)-`~")
"""A line that begins with anything else opens no fence and is no list item."""

SIGNAL_OPENING = re.compile(r"<signal(?:[\s>]|/>)", re.I | re.A)

_WELL_FORMED_LEAD = re.compile(r"(?:[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]))*[ \t]*", re.A)
_LIST_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]", re.A)
_OPENING = re.compile(r"(`{3,}+)[^`\n]*+\n|(~{3,}+)[^\n]*+\n")
_UNFINISHED_OPENING = re.compile(r"(?:`{1,2}|~{1,2}|`{3,}+[^`\n]*+|~{3,}+[^\n]*+)\Z")
_REST_OF_RUN = {mark: re.compile(rf"{mark}*+[ \t\r]*+") for mark in "`~"}
_REST_OF_RUN_AND_INFO = re.compile(r"`*+[^`]*+")
_WHITE_SPACE = re.compile(r"[ \t\r]*+")
_OUTSIDE_QUOTE = rf"[ \t]{{0,{LEAD_LIMIT}}}(?:[^ \t>]|[ \t]{{{LEAD_LIMIT}}})"
_NOWHERE = r"(?!)"
_WIDEST_LEAD = 4 * LEAD_LIMIT


@dataclass(frozen=True, kw_only=True)
class Fence:
    """An open fence. Its closing line has the same character, at least as often, and no more.

    A fence in a quote ends with the quote, one behind a list mark with the list item. `end_inside`
    finds the line end before the line that does either; its group is the closing line.
    """

    mark: str
    closing: re.Pattern[str]
    unfinished_closing: re.Pattern[str]
    outside: re.Pattern[str]
    end_inside: re.Pattern[str]
    quoted: bool

    def is_closed_by(self, line: str) -> bool:
        """`line` without its line end."""
        return self.closing.fullmatch(line) is not None

    def may_be_closed_by(self, start_of_line: str, looked: int) -> bool:
        """The first `looked` characters were found to allow it before."""
        if looked <= _WIDEST_LEAD:
            return self.unfinished_closing.fullmatch(start_of_line) is not None
        in_run = start_of_line[looked - 1] == self.mark
        rest = _REST_OF_RUN[self.mark] if in_run else _WHITE_SPACE
        return rest.fullmatch(start_of_line, looked) is not None

    def is_left_by(self, line: str) -> bool:
        """Whether `line`, of which the start is enough, stands outside of the quote or the item."""
        return self.outside.match(line) is not None


def lead_allows_fence(lead: str, *, in_list: bool) -> bool:
    """Indented by at most three columns, in a list by any; quote and list marks may precede."""
    if len(lead) >= LEAD_LIMIT or not _WELL_FORMED_LEAD.fullmatch(lead):
        return False
    indentation = lead[: len(lead) - len(lead.lstrip(" \t"))]
    return in_list or _columns(indentation) <= 3


def lead_is_list_item(lead: str) -> bool:
    return _LIST_ITEM.match(lead) is not None


def may_open_fence(start_of_line: str, looked: int) -> bool:
    """The first `looked` characters were found to allow it before."""
    if looked < 3:
        return _UNFINISHED_OPENING.match(start_of_line) is not None
    if start_of_line[0] == "~":
        return True
    if start_of_line[looked - 1] == "`":
        return _REST_OF_RUN_AND_INFO.fullmatch(start_of_line, looked) is not None
    return "`" not in start_of_line[looked:]


def open_fence(line: str, lead: str) -> Fence | None:
    """The fence that `line` opens, with its lead taken off and its line end left on.

    An info string that holds a signal is none.
    """
    opening = _OPENING.match(line)
    if opening is None or SIGNAL_OPENING.search(line):
        return None
    run = opening[1] or opening[2]
    indentation, quotation = rf"[ \t]{{0,{max(3, _columns(lead))}}}", ""
    if quoted := ">" in lead:
        indentation, quotation = rf"[ \t]{{0,{LEAD_LIMIT}}}", rf">[ \t>]{{0,{LEAD_LIMIT}}}"
    closing = rf"{indentation}{quotation}{run[0]}{{{len(run)},}}[ \t\r]*"
    outside = _OUTSIDE_QUOTE if quoted else _outside_item(lead)
    return Fence(
        mark=run[0],
        closing=re.compile(closing),
        unfinished_closing=re.compile(rf"{indentation}(?:{quotation}(?:{run[0]}+[ \t\r]*)?)?"),
        outside=re.compile(outside),
        end_inside=re.compile(rf"\n(?:({closing})(?=\n)|(?={outside}))"),
        quoted=quoted,
    )


def _outside_item(lead: str) -> str:
    """A line with ink before the column where the list item's text begins. A tab is enough."""
    return rf" {{0,{_columns(lead) - 1}}}[^ \t\r\n]" if lead_is_list_item(lead) else _NOWHERE


def fence_of_line(line: str) -> Fence | None:
    """The fence that a whole line opens, at whatever indentation."""
    margin = LEAD.match(line, 0, LEAD_LIMIT)
    lead = margin[0] if margin else ""
    return open_fence(line[len(lead) :], lead) if lead_allows_fence(lead, in_list=True) else None


def _columns(lead: str) -> int:
    return len(lead.expandtabs(4))

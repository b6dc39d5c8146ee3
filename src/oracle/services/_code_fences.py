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

_WELL_FORMED_LEAD = re.compile(r"(?:[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]))*[ \t]*", re.A)
_LIST_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]", re.A)
_OPENING = re.compile(r"(`{3,}+)[^`\n]*+\n|(~{3,}+)[^\n]*+\n")
_UNFINISHED_OPENING = re.compile(r"(?:`{1,2}|~{1,2}|`{3,}+[^`\n]*+|~{3,}+[^\n]*+)\Z")


@dataclass(frozen=True, kw_only=True)
class Fence:
    """An open fence. Its closing line has the same character, at least as often, and no more."""

    closing: re.Pattern[str]
    unfinished_closing: re.Pattern[str]
    closing_inside: re.Pattern[str]

    def is_closed_by(self, line: str) -> bool:
        return self.closing.fullmatch(line) is not None

    def may_be_closed_by(self, start_of_line: str) -> bool:
        return self.unfinished_closing.fullmatch(start_of_line) is not None

    def find_closing(self, text: str) -> int | None:
        """Where the line before a closing line ends, if `text` holds a whole closing line."""
        found = self.closing_inside.search(text)
        return found.start() if found else None


def lead_allows_fence(lead: str, *, in_list: bool) -> bool:
    """Indented by at most three columns, in a list by any; quote and list marks may precede."""
    if len(lead) >= LEAD_LIMIT or not _WELL_FORMED_LEAD.fullmatch(lead):
        return False
    indentation = lead[: len(lead) - len(lead.lstrip(" \t"))]
    return in_list or _columns(indentation) <= 3


def lead_is_list_item(lead: str) -> bool:
    return _LIST_ITEM.match(lead) is not None


def may_open_fence(start_of_line: str) -> bool:
    return _UNFINISHED_OPENING.match(start_of_line) is not None


def open_fence(line: str, lead: str) -> Fence | None:
    """The fence that `line` opens, with its lead taken off and its line end left on."""
    opening = _OPENING.match(line)
    if opening is None:
        return None
    run = opening[1] or opening[2]
    before = r"[ \t>]*" if ">" in lead else rf"[ \t]{{0,{max(3, _columns(lead))}}}"
    closing = rf"{before}{run[0]}{{{len(run)},}}[ \t\r]*"
    return Fence(
        closing=re.compile(closing),
        unfinished_closing=re.compile(rf"{before}{run[0]}*[ \t\r]*"),
        closing_inside=re.compile(rf"\n{closing}\n"),
    )


def _columns(lead: str) -> int:
    return len(lead.expandtabs(4))

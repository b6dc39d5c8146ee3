"""Conversations as editors know them: without branches.

A stored session is a tree of exchanges. For an editor each line of the tree is a session of its
own. A line begins with its head and goes on with the oldest child of each exchange that is not a
fork. All other children are heads of further lines. A line has the id of its head, so it is found
again after a restart.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from oracle.lazy_dataclass import dataclass
from oracle.models.session import Exchange

_VERSION: Final = 12
"""Where the version is in the digits of a UUID."""
_OF_FORKS: Final = "8"


def new_id(*, is_fork: bool = False) -> str:
    """The id of a line, which its first run gets.

    That of a fork says so. Otherwise a fork that asks before its original does would look like the
    continuation of the original. Version 8 of UUID is for such uses; all our others are of 4.
    """
    digits = uuid.uuid4().hex
    return digits[:_VERSION] + _OF_FORKS + digits[_VERSION + 1 :] if is_fork else digits


def is_fork(id_: str) -> bool:
    return len(id_) == 32 and id_[_VERSION] == _OF_FORKS


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """`exchanges` go from the first one of the session to the last one of the line."""

    head: Exchange
    exchanges: Sequence[Exchange]

    @property
    def id(self) -> str:
        return self.head.id

    @property
    def last(self) -> Exchange:
        return self.exchanges[-1]

    @property
    def is_branch(self) -> bool:
        return self.head.parent_id is not None


def lines_of(exchanges: Sequence[Exchange]) -> list[Line]:
    """The lines of a session, whose exchanges are given oldest first."""
    by_id = {each.id: each for each in exchanges}
    children: dict[str | None, list[Exchange]] = defaultdict(list)
    for each in exchanges:
        children[each.parent_id].append(each)
    following = {
        above: next((each for each in below if not is_fork(each.id)), None)
        for above, below in children.items()
        if above is not None
    }
    heads = [each for each in exchanges if following.get(each.parent_id or "") is not each]
    return [_line(head, by_id, following) for head in heads]


def _line(
    head: Exchange, by_id: Mapping[str, Exchange], following: Mapping[str, Exchange | None]
) -> Line:
    before: list[Exchange] = []
    above = by_id.get(head.parent_id or "")
    while above is not None:
        before.append(above)
        above = by_id.get(above.parent_id or "")
    line = [*reversed(before), head]
    while (below := following.get(line[-1].id)) is not None:
        line.append(below)
    return Line(head=head, exchanges=line)


def line_with(exchanges: Sequence[Exchange], exchange_id: str | None) -> Line | None:
    """The line that has this head or else holds this exchange; the first line for None."""
    lines = lines_of(exchanges)
    if exchange_id is None:
        return lines[0] if lines else None
    for line in lines:
        if line.id == exchange_id:
            return line
    return next((line for line in lines if exchange_id in {e.id for e in line.exchanges}), None)

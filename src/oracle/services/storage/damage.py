"""Finds values that oracle did not write: somebody else changed the database, or it is damaged.

A value of a wrong kind is reported where it is read, by its table, row and column. So it never
fails later, in code that trusts its types.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import BigInteger, Double, Integer, Table

from oracle.errors import named
from oracle.services.storage.values import Json

RESTORE: Final = "restore a copy of the database, or move it away, and a new one is made"

FOREIGN: Final = (
    "its tables are not those of oracle, or were changed; set database.url to another database"
)


def refused(reason: str) -> str:
    """For a change that a rule of the database does not allow, which oracle's own rules do."""
    return (
        f"refuses a change ({named(reason, 200)}); a rule or a trigger that is not one of "
        "oracle's is in the way: remove it, or set database.url to another database"
    )


_LATEST: Final = 253_402_300_799.0
"""The last second of the year 9999; later times cannot be shown as a date."""
_STATES: Final = ("running", "done")


class Damaged(ValueError):  # noqa: N818 - the name is a sentence
    """A value that oracle did not write. The message names it."""


class Unreadable:
    """Stands for text in a JSON column that is not JSON."""

    def __init__(self, text: object) -> None:
        self._text = text

    def __repr__(self) -> str:
        return repr(self._text)


def read_json(text: Any) -> Any:
    """The value, or `Unreadable`. Besides broken text, JSON may be too deep or its numbers huge."""
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return Unreadable(text)


def check_row(table: Table, row: Mapping[str, Any]) -> None:
    """Raise `Damaged` for the first value that the table's columns do not allow."""
    for column in table.columns:
        value = row[column.name]
        if value is None and column.nullable:
            continue
        expected = _unmet(column.type, value)
        if expected is None and column.name == "status" and value not in _STATES:
            expected = f"one of {', '.join(_STATES)}"
        if expected is not None:
            key = next(iter(table.primary_key.columns)).name
            where = f"{table.name} {named(row[key], 40)}" if key != column.name else table.name
            raise Damaged(f"{column.name} in {where} is {named(value)}, not {expected}")


class Link(NamedTuple):
    """An exchange, and the one that it continues."""

    id: str
    session_id: str
    parent_id: str | None


def bad_parents(links: Iterable[Link]) -> Iterator[str]:
    """What is wrong with exchanges that are not in the tree of their session.

    Following the parents of such an exchange would miss a part, or never come to an end.
    """
    by_id = {link.id: link for link in links}
    in_tree: set[str | None] = {None}
    for link in by_id.values():
        passed: dict[str, None] = {}
        here = link
        while here.id not in in_tree:
            passed[here.id] = None
            if here.parent_id is None:
                break
            above = by_id.get(here.parent_id)
            flaw = None
            if above is None:
                flaw = "an exchange that is missing"
            elif above.session_id != here.session_id:
                flaw = "an exchange of another session"
            elif above.id in passed:
                flaw = "itself" if above is here else "an exchange that comes after it"
            if above is None or flaw is not None:
                where = f"parent_id in context_nodes {named(here.id, 40)}"
                yield f"{where} is {named(here.parent_id, 40)}, {flaw}"
                break
            here = above
        # Also after a flaw: what leads to the same place is not reported again.
        in_tree.update(passed)


def _unmet(kind: object, value: Any) -> str | None:
    """What the value should be, if it is something else."""
    match kind:
        case Json():
            return None if isinstance(value, dict) else "a JSON object"
        case Double():
            return None if _is_time(value) else "a time"
        case Integer() | BigInteger():
            return None if type(value) is int else "a whole number"
        case _:
            return None if isinstance(value, str) else "text"


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= _LATEST

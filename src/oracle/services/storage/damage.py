"""Finds values that oracle did not write: somebody else changed the database, or it is damaged.

A value of a wrong kind is reported where it is read, by its table, row and column. So it never
fails later, in code that trusts its types.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias, cast

from oracle.errors import named
from oracle.patterns import lazy_pattern
from oracle.services.storage.schema import Table
from oracle.services.storage.transactions import Transaction

RESTORE: Final = "restore a copy of the database, or move it away, and a new one is made"

ELSEWHERE: Final = (
    "keep the database elsewhere: `export ORACLE_DATABASE_URL=sqlite:///$HOME/oracle.db`"
)
"""For a project that cannot be written. The shell makes it an absolute path, with four slashes."""

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
_HUGE: Final = lazy_pattern(r"\d[eE]\+?\d{3}")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and value >= 0


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_list_of(kind: type) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, list)
        and all(isinstance(item, kind) for item in cast("list[object]", value))
    )


def _is_usage(value: Any) -> bool:
    return isinstance(value, dict) and _misfit(_USAGE, cast("dict[str, Any]", value)) is None


def _are_uses(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_number, cast("dict[str, Any]", value).values()))


Shape: TypeAlias = Mapping[str, Callable[[Any], bool]]
_USAGE: Final[Shape] = {
    **dict.fromkeys(("turns", "tokens", "money", "seconds"), _is_number),
    "uses": _are_uses,
}
_SHAPES: Final[Mapping[str, Shape]] = {
    "runs.usage": _USAGE,
    "context_nodes.metadata": {
        "stop_reason": _is_text,
        "usage": _is_usage,
        "failed": lambda value: type(value) is bool,
        "places_found": _is_number,
        "places": _is_list_of(dict),
        "sources_tried": _is_list_of(str),
        "query_type": _is_text,
        "signals": _is_list_of(dict),
    },
}
"""The fields of JSON objects that oracle reads again. There may be others."""


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
        # Python's reader takes words and numbers that JSON does not have: NaN, and 1e999.
        is_odd = isinstance(text, str) and _HUGE.search(text) is not None
        return json.loads(text, parse_constant=_refuse, parse_float=_finite if is_odd else None)
    except (ValueError, TypeError, RecursionError):
        return Unreadable(text)


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if isfinite(number) else _refuse(digits)


def check_row(table: Table, row: Mapping[str, Any]) -> None:
    """Raise `Damaged` for the first value that the table's columns do not allow."""
    for column in table.columns:
        value = row[column.name]
        if value is None and column.is_optional:
            continue
        expected = _unmet(column.kind, value)
        if expected is None and column.name == "status" and value not in _STATES:
            expected = f"one of {', '.join(_STATES)}"
        # Another name may come from a newer version, but a name it is.
        if expected is None and column.name == "severity" and not str(value).isidentifier():
            expected = "the name of a severity"
        if expected is None and (shape := _SHAPES.get(f"{table.name}.{column.name}")):
            expected = _misfit(shape, cast("Mapping[str, Any]", value))
        if expected is not None:
            key = table.columns[0].name
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
        case "json":
            return None if isinstance(value, dict) else "a JSON object"
        case "time":
            return None if is_time(value) else "a time"
        case "integer":
            return None if type(value) is int else "a whole number"
        case _:
            return None if isinstance(value, str) else "text"


def _misfit(shape: Shape, value: Mapping[str, Any]) -> str | None:
    bad = next((name for name, fits in shape.items() if name in value and not fits(value[name])), 0)
    return f"with such a value for {bad}" if bad else None


def check_key(table: Table, value: object) -> None:
    if not isinstance(value, str):
        raise Damaged(f"{table.columns[0].name} in {table.name} is {named(value)}, not text")


def check_times(connection: Transaction, *tables: Table) -> None:
    """Raise `Damaged` for a time that is none: compared with others it would be later than all."""
    if connection.backend.is_typed:
        return
    for table in tables:
        for column in table.columns:
            if column.kind == "time":
                bad = f"NOT ({column.name} BETWEEN 0 AND {_LATEST}) LIMIT 1"
                for row in connection.records(
                    f"SELECT {table.names} FROM {table.name} WHERE {bad}"
                ):
                    check_row(table, decoded_row(table, row))


def decoded_row(table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with its JSON read. Some drivers have read it already."""
    kinds = {column.name: column.kind for column in table.columns}
    return {
        name: read_json(value)
        if kinds.get(name) == "json" and value is not None and not isinstance(value, dict | list)
        else value
        for name, value in row.items()
    }


def is_time(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= _LATEST

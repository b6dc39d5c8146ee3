"""A query for events, and its SQL."""

from __future__ import annotations

from typing import Any, Final

from oracle.lazy_dataclass import dataclass
from oracle.services.storage.users import EVERYBODY, Clause, seen

ALL: Final = seen("events", EVERYBODY)
COLUMNS = "run_id, turn, type, source, severity, payload, at"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    """Selects the oldest `limit` events that meet all given conditions."""

    types: frozenset[str] | None = None
    run_id: str | None = None
    since: float | None = None
    after: int = 0
    """Only events with a larger id. Ids grow in the order of commits, so a reader can continue
    after the last id that it has seen.
    """
    limit: int = 1000


def select(query: EventQuery, source: Clause = ALL) -> tuple[str, list[Any]]:
    """The SQL statement and its values. The `source` has the events that a user may see."""
    where, values = _conditions(query)
    sql = f"SELECT id, {COLUMNS} FROM {source.sql} WHERE {where} ORDER BY id LIMIT ?"
    return sql, [*source.values, *values, query.limit]


def select_newest(query: EventQuery, count: int, source: Clause = ALL) -> tuple[str, list[Any]]:
    """The ids of the newest `count` events, newest first."""
    where, values = _conditions(query)
    sql = f"SELECT id FROM {source.sql} WHERE {where} ORDER BY id DESC LIMIT ?"
    return sql, [*source.values, *values, count]


def _conditions(query: EventQuery) -> tuple[str, list[Any]]:
    conditions, values = ["id > ?"], list[Any]([query.after])
    if query.run_id is not None:
        conditions.append("run_id = ?")
        values.append(query.run_id)
    if query.types is not None:
        conditions.append(f"type IN ({', '.join('?' * len(query.types))})")
        values.extend(sorted(query.types))
    if query.since is not None:
        conditions.append("at >= ?")
        values.append(query.since)
    return " AND ".join(conditions), values

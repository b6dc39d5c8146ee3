"""Which events a reader wants, and how to ask a database for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

COLUMNS = "run_id, turn, type, source, severity, payload, at"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    """Selects the oldest `limit` events that meet every condition given."""

    types: frozenset[str] | None = None
    run_id: str | None = None
    run_begins: str | None = None
    """The first letters of a run's id, as `oracle runs` shows them."""
    since: float | None = None
    after: int = 0
    """An event's id. Ids grow in the order of commits, so this is how to read on."""
    limit: int = 1000


def select(query: EventQuery) -> tuple[str, list[Any]]:
    """SQL and its values."""
    conditions, values = ["id > ?"], list[Any]([query.after])
    if query.run_id is not None:
        conditions.append("run_id = ?")
        values.append(query.run_id)
    if query.run_begins is not None:
        # A range, unlike LIKE, uses the index. `~` sorts after all characters of an id.
        conditions.append("run_id >= ? AND run_id < ?")
        values += [query.run_begins, f"{query.run_begins}~"]
    if query.types is not None:
        conditions.append(f"type IN ({', '.join('?' * len(query.types))})")
        values.extend(sorted(query.types))
    if query.since is not None:
        conditions.append("at >= ?")
        values.append(query.since)
    where = " AND ".join(conditions)
    sql = f"SELECT id, {COLUMNS} FROM events WHERE {where} ORDER BY id LIMIT ?"
    return sql, [*values, query.limit]

"""Which events somebody wants to read, and how to ask a database for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

COLUMNS = "run_id, turn, type, source, severity, payload, at"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    """Everything that is given must hold; the oldest `limit` of what remains are meant."""

    types: frozenset[str] | None = None
    run_id: str | None = None
    run_begins: str | None = None
    """The first letters of a run's id, as `oracle runs` shows them."""
    since: float | None = None
    after: int = 0
    """An event's id. They grow in the order of writing, so this is how to read on."""
    limit: int = 1000


def select(query: EventQuery, mark: str) -> tuple[str, list[Any]]:
    """SQL and its values; `mark` is the driver's sign for a value."""
    conditions, values = [f"id > {mark}"], list[Any]([query.after])
    if query.run_id is not None:
        conditions.append(f"run_id = {mark}")
        values.append(query.run_id)
    if query.run_begins is not None:
        conditions.append(f"run_id >= {mark} AND run_id < {mark}")
        values += [query.run_begins, f"{query.run_begins}~"]
    if query.types is not None:
        conditions.append(f"type IN ({', '.join([mark] * len(query.types))})")
        values.extend(sorted(query.types))
    if query.since is not None:
        conditions.append(f"at >= {mark}")
        values.append(query.since)
    where = " AND ".join(conditions)
    sql = f"SELECT id, {COLUMNS} FROM events WHERE {where} ORDER BY id LIMIT {mark}"
    return sql, [*values, query.limit]

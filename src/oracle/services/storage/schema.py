"""The tables in their newest form, for reading and checking rows. `migrations` creates them.

Ids are made by the caller. Times are seconds since 1970. Deleting a session deletes its exchanges
and runs; deleting a run deletes its journal. Exchanges and runs also name each other, without a
foreign key, since both are deleted with their session.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["text", "json", "time", "integer"]


class Column(NamedTuple):
    name: str
    kind: Kind
    is_optional: bool = False


class Table(NamedTuple):
    """The first column is the key, or the first part of it."""

    name: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> str:
        """All columns, for a SELECT or an INSERT."""
        return ", ".join(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)


def _table(name: str, columns: Mapping[str, str]) -> Table:
    """`?` marks a column that may be empty."""
    made: list[Column] = []
    for own, kind in columns.items():
        plain: Kind = kind.rstrip("?")  # pyright: ignore[reportAssignmentType]
        made.append(Column(own, plain, kind.endswith("?")))
    return Table(name, tuple(made))


sessions = _table(
    "sessions",
    {
        "id": "text",
        "title": "text",
        "created_at": "time",
        "updated_at": "time",
        # Several projects may share a database. It is the name of the root's folder.
        "project": "text?",
        "user_id": "text",
    },
)

context_nodes = _table(
    "context_nodes",
    {
        "id": "text",
        "session_id": "text",
        "parent_id": "text?",
        "run_id": "text?",
        "question": "text",
        "answer": "text",
        "metadata": "json",
        "created_at": "time",
    },
)

runs = _table(
    "runs",
    {
        "id": "text",
        "session_id": "text?",
        "context_node_id": "text?",
        "question": "text",
        "tree": "text",
        "status": "text",
        "stop_reason": "text?",
        "usage": "json",
        "started_at": "time",
        "ended_at": "time?",
        "lease_owner": "text?",
        "lease_until": "time?",
        "project": "text?",
        # The run whose question this one answers again, for a comparison. Users are not shown it.
        "shadow_of": "text?",
        "user_id": "text",
        # "server": a server takes it up again by itself if its process dies.
        "door": "text?",
        # Among the waiting runs of its user: higher ones first.
        "priority": "integer",
    },
)

journal = _table(
    "journal",
    {
        "run_id": "text",
        "seq": "integer",
        "kind": "text",
        "node_path": "text?",
        "turn": "integer?",
        "ordinal": "integer?",
        "body": "text",
        "at": "time",
    },
)

blobs = _table(
    "blobs",
    {
        "hash": "text",
        "body": "text",
        # When a run last named it, to the day.
        "used_at": "time",
    },
)

events = _table(
    "events",
    {
        "id": "integer",
        # No foreign key: there are also events of runs that were never stored.
        "run_id": "text?",
        "turn": "integer?",
        "type": "text",
        "source": "text",
        "severity": "text",
        "payload": "json",
        "at": "time",
    },
)

shadow_reports = _table(
    "shadow_reports",
    {"id": "text", "run_id": "text", "body": "json", "created_at": "time"},
)

api_tokens = _table(
    "api_tokens",
    {
        # The part of a token that may be shown.
        "id": "text",
        "name": "text",
        "user_id": "text",
        "scope": "text",
        # Of the secret part, which is stored nowhere.
        "digest": "text",
        "created_at": "time",
        "expires_at": "time?",
        "revoked_at": "time?",
    },
)

run_queue = _table(
    "run_queue",
    {
        # A run that was asked for in one process and is worked on in another.
        "run_id": "text",
        # What was asked, until the run has begun. Then its record has it.
        "request": "json",
        "failures": "integer",
        # Why the last attempt failed.
        "problem": "json",
        "at": "time",
    },
)

run_chunks = _table(
    "run_chunks",
    {
        "run_id": "text",
        # The number of the first chunk in `body`, a list.
        "seq": "integer",
        "body": "text",
    },
)

run_commands = _table(
    "run_commands",
    {"id": "integer", "run_id": "text", "body": "json", "at": "time"},
)

run_workers = _table(
    "run_workers",
    {
        "id": "text",
        "project": "text?",
        "version": "text",
        # "working" or "draining".
        "state": "text",
        "concurrency": "integer",
        "started_at": "time",
        "seen_at": "time",
    },
)

spend = _table(
    "spend",
    {
        # Without a foreign key: what was spent stays when its run is deleted.
        "run_id": "text",
        # When the money was held, by UTC. It counts for this day and month, also if the run ends
        # later.
        "day": "text",
        "month": "text",
        "user_id": "text",
        "project": "text",
        # "held", "released" or "settled" (`spend.py`).
        "state": "text",
        # Money is in millionths.
        "money_held": "integer",
        "tokens_held": "integer",
        "money_spent": "integer",
        "tokens_spent": "integer",
        "at": "time",
    },
)

spend_totals = _table(
    "spend_totals",
    {
        # "user" or "project", the name of one, and a day or a month.
        "scope": "text",
        "name": "text",
        "period": "text",
        # What is spent and held together, and the part of it that is held.
        "money": "integer",
        "tokens": "integer",
        "money_held": "integer",
        "tokens_held": "integer",
    },
)

TABLES: Final[Mapping[str, Table]] = {
    table.name: table
    for table in (
        sessions,
        context_nodes,
        runs,
        journal,
        blobs,
        events,
        shadow_reports,
        api_tokens,
        run_queue,
        run_chunks,
        run_commands,
        run_workers,
        spend,
        spend_totals,
    )
}

"""The tables in their newest form, for queries. `migrations` creates them.

Ids are made by the caller. Times are seconds since 1970. Deleting a session deletes its exchanges
and runs; deleting a run deletes its journal. Exchanges and runs also name each other, without a
foreign key, since both are deleted with their session.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
)

from oracle.services.storage.values import AnyText, Json

metadata = MetaData()

sessions = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("title", AnyText, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    # Several projects may share a database. It is the name of the root's folder.
    Column("project", AnyText),
    Index("sessions_updated_at", "updated_at"),
)

context_nodes = Table(
    "context_nodes",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", Text, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
    # No cascade here: SQLite follows a chain of cascades only a thousand links deep.
    Column("parent_id", Text, ForeignKey("context_nodes.id")),
    Column("run_id", Text),
    Column("question", AnyText, nullable=False),
    Column("answer", AnyText, nullable=False),
    Column("metadata", Json, nullable=False),
    Column("created_at", Double, nullable=False),
    Index("context_nodes_session_id", "session_id", "created_at"),
    Index("context_nodes_parent_id", "parent_id"),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", Text, ForeignKey("sessions.id", ondelete="CASCADE")),
    Column("context_node_id", Text),
    Column("question", AnyText, nullable=False),
    Column("tree", AnyText, nullable=False),
    Column("status", Text, nullable=False),
    Column("stop_reason", AnyText),
    Column("usage", Json, nullable=False),
    Column("started_at", Double, nullable=False),
    Column("ended_at", Double),
    Column("lease_owner", AnyText),
    Column("lease_until", Double),
    Column("project", AnyText),
    # The run whose question this one answers again, for a comparison. Users are not shown it.
    Column("shadow_of", AnyText),
    Index("runs_session_id", "session_id"),
    Index("runs_started_at", "started_at"),
)

journal = Table(
    "journal",
    metadata,
    Column("run_id", Text, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("node_path", Text),
    Column("turn", Integer),
    Column("ordinal", Integer),
    Column("body", Text, nullable=False),
    Column("at", Double, nullable=False),
)

blobs = Table(
    "blobs",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("body", Text, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("id", BigInteger, primary_key=True),
    # No foreign key: there are also events of runs that were never stored.
    Column("run_id", Text),
    Column("turn", Integer),
    Column("type", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("severity", Text, nullable=False),
    Column("payload", Json, nullable=False),
    Column("at", Double, nullable=False),
    Index("events_run_id", "run_id", "id"),
    Index("events_type", "type", "id"),
    Index("events_at", "at"),
)

shadow_reports = Table(
    "shadow_reports",
    metadata,
    Column("id", Text, primary_key=True),
    Column("run_id", Text, ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("body", Json, nullable=False),
    Column("created_at", Double, nullable=False),
    Index("shadow_reports_run_id", "run_id"),
)

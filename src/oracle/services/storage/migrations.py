"""Brings a database to the newest schema: numbered steps, forward only.

A new database takes all of them. A released step is never edited: the next change is a new function
at the end of `MIGRATIONS`. All missing steps are one transaction, so an interrupted migration has
no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from oracle.errors import StoreError, named
from oracle.services.storage.connections import shown
from oracle.services.storage.damage import Damaged
from oracle.services.storage.transactions import Transaction

NOT_KNOWN: Final = 4102444800.0
"""In the place of a time: the year 2100."""


def conversations_and_runs(connection: Transaction) -> None:
    _run(
        connection,
        """CREATE TABLE sessions (
            id TEXT PRIMARY KEY NOT NULL,
            title TEXT NOT NULL,
            created_at DOUBLE PRECISION NOT NULL,
            updated_at DOUBLE PRECISION NOT NULL
        )""",
        "CREATE INDEX sessions_updated_at ON sessions (updated_at)",
        """CREATE TABLE context_nodes (
            id TEXT PRIMARY KEY NOT NULL,
            session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
            parent_id TEXT REFERENCES context_nodes (id),
            run_id TEXT,
            question TEXT NOT NULL,
            answer TEXT NOT NULL,
            metadata {json} NOT NULL,
            created_at DOUBLE PRECISION NOT NULL
        )""",
        "CREATE INDEX context_nodes_session_id ON context_nodes (session_id, created_at)",
        "CREATE INDEX context_nodes_parent_id ON context_nodes (parent_id)",
        """CREATE TABLE runs (
            id TEXT PRIMARY KEY NOT NULL,
            session_id TEXT REFERENCES sessions (id) ON DELETE CASCADE,
            context_node_id TEXT,
            question TEXT NOT NULL,
            tree TEXT NOT NULL,
            status TEXT NOT NULL CHECK (status IN ('running', 'done')),
            stop_reason TEXT,
            usage {json} NOT NULL,
            started_at DOUBLE PRECISION NOT NULL,
            ended_at DOUBLE PRECISION,
            lease_owner TEXT,
            lease_until DOUBLE PRECISION
        )""",
        "CREATE INDEX runs_session_id ON runs (session_id)",
        "CREATE INDEX runs_started_at ON runs (started_at)",
    )


def journal_and_blobs(connection: Transaction) -> None:
    _run(
        connection,
        """CREATE TABLE journal (
            run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            seq BIGINT NOT NULL,
            kind TEXT NOT NULL,
            node_path TEXT,
            turn INTEGER,
            ordinal INTEGER,
            body TEXT NOT NULL,
            at DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (run_id, seq)
        )""",
        "CREATE TABLE blobs (hash TEXT PRIMARY KEY NOT NULL, body TEXT NOT NULL)",
    )


def events(connection: Transaction) -> None:
    _run(
        connection,
        """CREATE TABLE events (
            id {counted},
            run_id TEXT,
            turn INTEGER,
            type TEXT NOT NULL,
            source TEXT NOT NULL,
            severity TEXT NOT NULL,
            payload {json} NOT NULL,
            at DOUBLE PRECISION NOT NULL
        )""",
        "CREATE INDEX events_run_id ON events (run_id, id)",
        "CREATE INDEX events_type ON events (type, id)",
        "CREATE INDEX events_at ON events (at)",
    )


def shadow_reports(connection: Transaction) -> None:
    _run(
        connection,
        """CREATE TABLE shadow_reports (
            id TEXT PRIMARY KEY NOT NULL,
            run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            body {json} NOT NULL,
            created_at DOUBLE PRECISION NOT NULL
        )""",
        "CREATE INDEX shadow_reports_run_id ON shadow_reports (run_id)",
    )


def projects(connection: Transaction) -> None:
    """Rows from before have no project, and are listed in every one."""
    _run(
        connection,
        "ALTER TABLE sessions ADD COLUMN project TEXT",
        "ALTER TABLE runs ADD COLUMN project TEXT",
    )


def shadows(connection: Transaction) -> None:
    """Runs that answer the question of another run again, for a comparison."""
    _run(connection, "ALTER TABLE runs ADD COLUMN shadow_of TEXT")


def users(connection: Transaction) -> None:
    """Rows from before belong to the local user, and so do those that an older oracle writes."""
    _run(
        connection,
        "ALTER TABLE sessions ADD COLUMN user_id TEXT NOT NULL DEFAULT 'local'",
        "ALTER TABLE runs ADD COLUMN user_id TEXT NOT NULL DEFAULT 'local'",
        # With the id, so that a prefix is looked for in the index, without reading rows.
        "CREATE INDEX sessions_user_id ON sessions (user_id, updated_at, id)",
        "CREATE INDEX runs_user_id ON runs (user_id, started_at, id)",
    )


def api_tokens(connection: Transaction) -> None:
    _run(
        connection,
        """CREATE TABLE api_tokens (
            id TEXT PRIMARY KEY NOT NULL,
            name TEXT NOT NULL,
            user_id TEXT NOT NULL,
            scope TEXT NOT NULL,
            digest TEXT NOT NULL,
            created_at DOUBLE PRECISION NOT NULL,
            expires_at DOUBLE PRECISION,
            revoked_at DOUBLE PRECISION
        )""",
    )


def doors(connection: Transaction) -> None:
    """Runs from before wait for their users, also those of a server."""
    _run(connection, "ALTER TABLE runs ADD COLUMN door TEXT")


def many_workers(connection: Transaction) -> None:
    """A queue of runs, what they say and hear across processes, and who works on them."""
    _run(
        connection,
        """CREATE TABLE run_queue (
            run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            request {json} NOT NULL,
            failures INTEGER NOT NULL,
            problem {json} NOT NULL,
            at DOUBLE PRECISION NOT NULL
        )""",
        """CREATE TABLE run_chunks (
            run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            seq BIGINT NOT NULL,
            body TEXT NOT NULL,
            PRIMARY KEY (run_id, seq)
        )""",
        """CREATE TABLE run_commands (
            id {counted},
            run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            body {json} NOT NULL,
            at DOUBLE PRECISION NOT NULL
        )""",
        "CREATE INDEX run_commands_run_id ON run_commands (run_id, id)",
        """CREATE TABLE run_workers (
            id TEXT PRIMARY KEY NOT NULL,
            project TEXT,
            version TEXT NOT NULL,
            state TEXT NOT NULL,
            concurrency INTEGER NOT NULL,
            started_at DOUBLE PRECISION NOT NULL,
            seen_at DOUBLE PRECISION NOT NULL
        )""",
        # The few that are not done, among all that ever were.
        "CREATE INDEX runs_not_done ON runs (started_at) WHERE status = 'running'",
    )
    connection.install_queue()


def spend_and_tenants(connection: Transaction) -> None:
    """Budgets of users and projects, and fair turns between users."""
    _run(
        connection,
        """CREATE TABLE spend (
            run_id TEXT NOT NULL,
            day TEXT NOT NULL,
            month TEXT NOT NULL,
            user_id TEXT NOT NULL,
            project TEXT NOT NULL,
            state TEXT NOT NULL,
            money_held BIGINT NOT NULL,
            tokens_held BIGINT NOT NULL,
            money_spent BIGINT NOT NULL,
            tokens_spent BIGINT NOT NULL,
            at DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (run_id, day)
        )""",
        # The few of runs under way, among all that ever were.
        "CREATE INDEX spend_held ON spend (at) WHERE state = 'held'",
        """CREATE TABLE spend_totals (
            scope TEXT NOT NULL,
            name TEXT NOT NULL,
            period TEXT NOT NULL,
            money BIGINT NOT NULL,
            tokens BIGINT NOT NULL,
            money_held BIGINT NOT NULL,
            tokens_held BIGINT NOT NULL,
            PRIMARY KEY (scope, name, period)
        )""",
        "ALTER TABLE runs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0",
        # The runs of a user that wait, and those that somebody works on. Without the end of the
        # lease, which changes every few seconds.
        "CREATE INDEX runs_waiting ON runs (project, user_id, priority DESC, started_at, id) "
        "WHERE status = 'running' AND lease_owner IS NULL",
        "CREATE INDEX runs_held ON runs (project, user_id) "
        "WHERE status = 'running' AND lease_owner IS NOT NULL",
    )


def many_rows(connection: Transaction) -> None:
    """Every read finds its rows in an index, and texts know when a run last named them."""
    _run(
        connection,
        # An older oracle stores a text without the time: it is kept until one that knows uses it.
        f"ALTER TABLE blobs ADD COLUMN used_at DOUBLE PRECISION NOT NULL DEFAULT {NOT_KNOWN}",
        "UPDATE blobs SET used_at = {now}",
        "CREATE INDEX blobs_used_at ON blobs (used_at)",
        "CREATE INDEX runs_without_session ON runs (started_at) WHERE session_id IS NULL",
        "CREATE INDEX shadow_reports_created_at ON shadow_reports (created_at)",
    )
    if prefix := connection.backend.prefix_index:
        _run(
            connection,
            *(
                f"CREATE INDEX {table}_id_text ON {table} (id {prefix})"
                for table in ("sessions", "context_nodes", "runs")
            ),
            "DROP INDEX events_run_id",
            f"CREATE INDEX events_run_id ON events (run_id {prefix}, id)",
        )


Migration = Callable[[Transaction], None]

MIGRATIONS: Final[Sequence[Migration]] = (
    conversations_and_runs,
    journal_and_blobs,
    events,
    shadow_reports,
    projects,
    shadows,
    users,
    api_tokens,
    doors,
    many_workers,
    spend_and_tenants,
    many_rows,
)


def version_of(connection: Transaction) -> int:
    """How many steps were applied to the database; 0 for a new one."""
    if "schema_version" not in connection.firsts(connection.backend.tables):
        return 0
    version = connection.first("SELECT max(version) FROM schema_version")
    if version is None:
        # The table and its first row are made in one transaction.
        raise Damaged("the table schema_version has lost its rows")
    if type(version) is not int or version < 1:
        raise Damaged(f"version in schema_version is {named(version)}, not a whole number above 0")
    return version


def migrate(connection: Transaction, migrations: Sequence[Migration]) -> None:
    """Apply the missing steps, within the caller's write transaction.

    Of several processes one applies them. The others wait for it and find the work done.
    """
    if lock := connection.backend.migration_lock:
        connection.execute(lock)
    if unhurried := connection.backend.unhurried:
        connection.execute(unhurried)
    # Read after the lock: another process may have migrated while this one waited.
    done = version_of(connection)
    if done > len(migrations):
        raise StoreError(
            f"{shown(connection.address)} has schema {done}, and this oracle knows "
            f"{len(migrations)}: a newer version made it; upgrade oracle"
        )
    if done == 0:
        _run(connection, "CREATE TABLE schema_version (version INTEGER PRIMARY KEY NOT NULL)")
    for version, step in enumerate(migrations[done:], start=done + 1):
        step(connection)
        connection.execute("INSERT INTO schema_version VALUES (?)", [version])


def _run(connection: Transaction, *statements: str) -> None:
    backend = connection.backend
    words = {"json": backend.json_column, "counted": backend.counting_key, "now": backend.now}
    for statement in statements:
        connection.execute(statement.format(**words))

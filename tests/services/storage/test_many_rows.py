"""A million runs, records and events in PostgreSQL: every read finds what it needs in an index."""

import json
import time
from contextlib import suppress

import psycopg
import pytest

from oracle.errors import OracleError
from oracle.models.session import LOCAL
from oracle.services.ans.query import EventQuery
from oracle.services.ans.table import EventsTable
from oracle.services.dispatch.commands import Commands
from oracle.services.dispatch.opening import open_dispatcher
from oracle.services.dispatch.queue import Queue
from oracle.services.dispatch.streams import Streams
from oracle.services.dispatch.workers import Workers
from oracle.services.storage.connections import connect
from oracle.services.storage.database import Database
from oracle.services.storage.exchanges import Exchanges
from oracle.services.storage.naming import Naming, short_run_ids, short_session_ids
from oracle.services.storage.postgres import Postgres, PostgresConnection
from oracle.services.storage.purge import forget_in_parts
from oracle.services.storage.runs import Runs
from oracle.services.storage.sessions import Sessions
from oracle.services.storage.shadow_reports import ShadowReports
from oracle.services.storage.users import EVERYBODY

ROWS = 1_000_000
DAY = 86_400
SMALL = 5_000
"""Reading the whole of a table that has fewer rows costs less than looking into an index."""

# Runs of a thousand days, five in each session, most of them of one user; one in ten thousand is
# still running, one in ten belongs to no session. Their ids look as ours do.
FILL = (
    # Without looking up each row that another one names.
    "SET session_replication_role = replica",
    "CREATE FUNCTION id_of(text, bigint) RETURNS text LANGUAGE sql IMMUTABLE "
    "AS $$ SELECT md5($1 || $2) $$",
    "INSERT INTO sessions (id, title, created_at, updated_at, project, user_id) "
    "SELECT id_of('s', n), 'title', {now} - n * 432, {now} - n * 432, 'p' || n % 3, "
    "CASE WHEN n % 10 < 8 THEN 'local' ELSE 'user' || n % 1000 END "
    "FROM generate_series(0, {rows} / 5) AS n",
    "INSERT INTO context_nodes (id, session_id, parent_id, run_id, question, answer, metadata, "
    "created_at) SELECT id_of('r', n), id_of('s', n / 5), "
    "CASE WHEN n % 5 > 0 THEN id_of('r', n - 1) END, id_of('r', n), 'q', 'a', '{{}}', "
    "{now} - n * 86.4 FROM generate_series(0, {rows} / 5) AS n",
    "INSERT INTO runs (id, session_id, question, tree, status, stop_reason, usage, started_at, "
    "ended_at, project, user_id, door) SELECT id_of('r', n), "
    "CASE WHEN n % 10 > 0 THEN id_of('s', n / 5) END, 'q', 't', "
    "CASE WHEN n % 10000 > 0 THEN 'done' ELSE 'running' END, "
    "CASE WHEN n % 10000 > 0 THEN 'answered' END, '{{}}', {now} - n * 86.4, {now} - n * 86.4, "
    "'p' || n % 3, CASE WHEN n / 5 % 10 < 8 THEN 'local' ELSE 'user' || n / 5 % 1000 END, 'queue' "
    "FROM generate_series(0, {rows}) AS n",
    "INSERT INTO journal (run_id, seq, kind, body, at) SELECT id_of('r', n), 0, 'start', '[]', "
    "{now} - n * 86.4 FROM generate_series(0, {rows}) AS n",
    "INSERT INTO events (run_id, type, source, severity, payload, at) SELECT id_of('r', n), "
    "CASE WHEN n % 1000 = 0 THEN 'run.failed' ELSE 'run.started' END, 's', 'info', '{{}}', "
    "{now} - n * 86.4 FROM generate_series({rows}, 0, -1) AS n",
    "INSERT INTO shadow_reports (id, run_id, body, created_at) SELECT id_of('h', n), "
    "id_of('r', n), '{{}}', {now} - n * 86.4 FROM generate_series(0, {rows} / 20) AS n",
    "INSERT INTO run_chunks (run_id, seq, body) SELECT id_of('r', n), k, '[]' "
    "FROM generate_series(0, {rows} / 20) AS n, generate_series(0, 1) AS k",
    "INSERT INTO run_commands (run_id, body, at) SELECT id_of('r', n), '{{}}', 1 "
    "FROM generate_series(0, {rows} / 20) AS n",
    "INSERT INTO blobs (hash, body, used_at) SELECT id_of('b', n), 'text', {now} - n "
    "FROM generate_series(0, {rows} / 20) AS n",
)


SECONDARY = (
    "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' "
    "AND indexname NOT LIKE '%_pkey' AND tablename NOT LIKE 'procrastinate%'"
)


@pytest.fixture
async def large(postgresql_url):
    async with await Database.open(postgresql_url) as database:
        with psycopg.connect(postgresql_url.with_password(), autocommit=True) as connection:
            # An index is made in a fraction of the time that it takes to grow row by row.
            indexes = connection.execute(SECONDARY).fetchall()
            fill = [statement.format(rows=ROWS, now=int(time.time())) for statement in FILL]
            drop = [f"DROP INDEX {name}" for name, _ in indexes]
            for sql in (*drop, *fill, *(made for _, made in indexes)):
                connection.execute(sql.encode())
            connection.execute("VACUUM ANALYZE")
        yield database


class Watched:
    """Remembers the statements that reach the database."""

    def __init__(self, monkeypatch):
        self.statements = {}
        execute, rows, write = Postgres.execute, PostgresConnection.rows, PostgresConnection._write
        monkeypatch.setattr(Postgres, "execute", self._noting(execute))
        monkeypatch.setattr(PostgresConnection, "rows", self._noting(rows))
        monkeypatch.setattr(PostgresConnection, "_write", write)

    def _noting(self, function):
        def noting(owner, *arguments):
            sql, values = arguments[-2:] if len(arguments) > 1 else (*arguments, ())
            if sql.split()[0] in ("SELECT", "UPDATE", "DELETE"):
                self.statements.setdefault(sql, list(values))
            return function(owner, *arguments)

        return noting


def nodes_of(plan):
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes_of(below)


def scans(connection, sql, values):
    """The large tables that the statement reads from end to end."""
    translated = f"EXPLAIN (FORMAT JSON) {sql.replace('?', '%s')}".encode()
    found = connection.execute(translated, values).fetchone()[0]
    plan = json.loads(found) if isinstance(found, str) else found
    return [
        node["Relation Name"]
        for node in nodes_of(plan[0]["Plan"])
        if "Seq Scan" in node["Node Type"]
        and connection.execute(
            "SELECT reltuples FROM pg_class WHERE relname = %s", [node["Relation Name"]]
        ).fetchone()[0]
        > SMALL
    ]


async def read_everything(database, run_id, session_id):
    """Once along each path that reads, for a user with many rows and for one with few."""
    for user in (LOCAL, "user8", EVERYBODY):
        seen = database.seen_by(user)
        runs, sessions, exchanges = Runs(seen), Sessions(seen), Exchanges(seen)
        await runs.newest(20)
        await runs.newest(20, project="p1")
        await runs.newest(20, session_id=session_id)
        await runs.unfinished(project="p1", door="queue")
        listed = await sessions.newest(20, project="p1")
        await sessions.endings([each.session.id for each in listed])
        await exchanges.of_session(session_id)
        await exchanges.newest(session_id)
        await exchanges.of_runs([run_id])
        await short_run_ids(seen, [run.id for run in await runs.newest(20)])
        await short_session_ids(seen, [each.session.id for each in listed])
        for typed in (run_id, run_id[:8], "3f", "last", "no such"):
            for find in (Naming(seen, "p1").run, Naming(seen).place, Naming(seen).interrupted_run):
                await tried(find(typed))
            await tried(exchanges.path_to(typed))
        await tried(ShadowReports(seen).newest(20, project="p1"))
        events = EventsTable(connect(database.url, durable=False), "", user)
        for query in (
            EventQuery(after=500_000, limit=50),
            EventQuery(run_id=run_id, limit=50),
            EventQuery(types=frozenset({"run.failed"}), limit=50),
            EventQuery(since=time.time() - DAY, limit=50),
        ):
            events.read(query)
            events.before_newest(query, 20)
        events.run_beginning(run_id[:6])
        events.last_id()
        events.close()


async def tried(reading):
    with suppress(OracleError):
        await reading


async def work_and_forget(database, run_id):
    """What workers and front ends ask again and again."""
    queue, streams = Queue(database, "p1"), Streams(database)
    await queue.entries()
    await queue.request_of(run_id)
    await queue.problem_of(run_id)
    await streams.read(run_id, 5)
    await streams.length(run_id)
    await streams.forget(600)
    await Commands(database).of_run(run_id)
    await Workers(database).all()
    await database.read(lambda c: c.rows("SELECT body FROM journal WHERE run_id = ?", [run_id]))
    async with open_dispatcher(database, "p1") as dispatcher:
        await dispatcher.heartbeat()
    await forget_in_parts(database, before=time.time() - 999 * DAY)


@pytest.mark.extra
async def test_no_read_path_scans_a_large_table(large, postgresql_url, monkeypatch):
    run_id, session_id = (await Runs(large).newest(200, project="p1"))[-1].id, None
    session_id = (await Sessions(large).newest(5))[-1].session.id
    watched = Watched(monkeypatch)
    await read_everything(large, run_id, session_id)
    await work_and_forget(large, run_id)
    assert len(watched.statements) > 60
    with psycopg.connect(postgresql_url.with_password(), autocommit=True) as connection:
        connection.execute("ANALYZE")
        scanned = {
            sql: tables
            for sql, values in watched.statements.items()
            if (tables := scans(connection, sql, values))
        }
    assert scanned == {}

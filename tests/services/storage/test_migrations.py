"""Every earlier schema becomes the newest one, with its data, completely or not at all."""

import asyncio
import sys

import pytest

from oracle.errors import StoreError
from oracle.services.storage import schema
from oracle.services.storage.database import Database
from oracle.services.storage.migrations import MIGRATIONS, version_of
from oracle.services.storage.purge import forget
from oracle.services.storage.runs import Runs
from oracle.services.storage.sessions import Sessions
from tests.default_run import thinned
from tests.processes import run

# What each database says about a table: its columns with whether they may be empty, its key, the
# tables that it refers to, and its indexes with their columns.
LOOKS = {
    "sqlite": {
        "columns": 'SELECT name, "notnull" = 0 AND pk = 0 FROM pragma_table_info(?)',
        "key": "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk",
        "links": 'SELECT "from", "table" FROM pragma_foreign_key_list(?)',
        "indexes": (
            "SELECT i.name, c.name FROM pragma_index_list(?) i, pragma_index_info(i.name) c "
            "WHERE i.origin = 'c' ORDER BY i.name, c.seqno"
        ),
    },
    "postgresql": {
        "columns": (
            "SELECT attname, NOT attnotnull FROM pg_attribute "
            "WHERE attrelid = ?::regclass AND attnum > 0"
        ),
        "key": (
            "SELECT a.attname "
            "FROM pg_index i, unnest(i.indkey) WITH ORDINALITY AS k(number, place) "
            "JOIN pg_attribute a ON a.attnum = k.number "
            "WHERE i.indrelid = ?::regclass AND a.attrelid = i.indrelid AND i.indisprimary "
            "ORDER BY k.place"
        ),
        "links": (
            "SELECT a.attname, c.confrelid::regclass::text FROM pg_constraint c, pg_attribute a "
            "WHERE c.conrelid = ?::regclass AND c.contype = 'f' AND a.attrelid = c.conrelid "
            "AND a.attnum = ANY (c.conkey)"
        ),
        "indexes": (
            "SELECT i.indexrelid::regclass::text, a.attname "
            "FROM pg_index i, unnest(i.indkey) WITH ORDINALITY AS k(number, place), pg_attribute a "
            "WHERE i.indrelid = ?::regclass AND a.attrelid = i.indrelid AND a.attnum = k.number "
            "AND NOT i.indisprimary ORDER BY i.indexrelid, k.place"
        ),
    },
}


def shape_of(connection):
    found = {}
    for table in connection.firsts(connection.backend.tables):
        # The tables of the job queue belong to its engine.
        if table in ("schema_version", "sqlite_sequence") or table.startswith("procrastinate_"):
            continue
        rows = {
            what: connection.rows(sql, [table])
            for what, sql in LOOKS[connection.address.kind].items()
        }
        indexes = {}
        for name, column in rows["indexes"]:
            indexes[name] = [*indexes.get(name, []), column]
        found[table] = {
            "columns": {(name, bool(is_optional)) for name, is_optional in rows["columns"]},
            "key": [name for (name,) in rows["key"]],
            "links": set(rows["links"]),
            "indexes": indexes,
        }
    return found


LINKS = {
    "context_nodes": {("session_id", "sessions"), ("parent_id", "context_nodes")},
    "runs": {("session_id", "sessions")},
    "journal": {("run_id", "runs")},
    "shadow_reports": {("run_id", "runs")},
    "run_queue": {("run_id", "runs")},
    "run_chunks": {("run_id", "runs")},
    "run_commands": {("run_id", "runs")},
}
INDEXES = {
    "sessions": {
        "sessions_updated_at": ["updated_at"],
        "sessions_user_id": ["user_id", "updated_at", "id"],
    },
    "context_nodes": {
        "context_nodes_session_id": ["session_id", "created_at"],
        "context_nodes_parent_id": ["parent_id"],
    },
    "runs": {
        "runs_session_id": ["session_id"],
        "runs_started_at": ["started_at"],
        "runs_not_done": ["started_at"],
        "runs_user_id": ["user_id", "started_at", "id"],
        "runs_waiting": ["project", "user_id", "priority", "started_at", "id"],
        "runs_held": ["project", "user_id"],
        "runs_without_session": ["started_at"],
    },
    "blobs": {"blobs_used_at": ["used_at"]},
    "events": {
        "events_run_id": ["run_id", "id"],
        "events_type": ["type", "id"],
        "events_at": ["at"],
    },
    "shadow_reports": {
        "shadow_reports_run_id": ["run_id"],
        "shadow_reports_created_at": ["created_at"],
    },
    "run_commands": {"run_commands_run_id": ["run_id", "id"]},
    "spend": {"spend_held": ["at"]},
}
KEYS = {
    "journal": ["run_id", "seq"],
    "run_chunks": ["run_id", "seq"],
    "spend": ["run_id", "day"],
    "spend_totals": ["scope", "name", "period"],
}


FOR_PREFIXES = {
    table: {f"{table}_id_text": ["id"]} for table in ("sessions", "context_nodes", "runs")
}
"""Of a database whose other indexes cannot be searched for the beginning of a text."""


def declared_shape(kind):
    more = FOR_PREFIXES if kind == "postgresql" else {}
    return {
        table.name: {
            "columns": {(column.name, column.is_optional) for column in table.columns},
            "key": KEYS.get(table.name, [table.columns[0].name]),
            "links": LINKS.get(table.name, set()),
            "indexes": INDEXES.get(table.name, {}) | more.get(table.name, {}),
        }
        for table in schema.TABLES.values()
    }


async def read(database, function):
    return await database.read(function)


@pytest.mark.parametrize("version", thinned(range(len(MIGRATIONS) + 1), 3))
async def test_every_version_becomes_the_declared_schema(database_url, version):
    async with await Database.open(database_url, migrations=MIGRATIONS[:version]) as old:
        assert await read(old, version_of) == version
    async with await Database.open(database_url) as database:
        assert await read(database, version_of) == len(MIGRATIONS)
        assert await read(database, shape_of) == declared_shape(database_url.kind)


@pytest.mark.parametrize("version", thinned(range(1, len(MIGRATIONS)), 2))
async def test_what_was_stored_in_an_earlier_version_is_still_there(database_url, version):
    async with await Database.open(database_url, migrations=MIGRATIONS[:version]) as old:
        as_then = (
            "INSERT INTO sessions (id, title, created_at, updated_at) VALUES ('s1', 'kept', 1, 1)"
        )
        await old.write(lambda c: c.execute(as_then))
    async with await Database.open(database_url) as database:
        assert (await Sessions(database).get("s1")).title == "kept"


async def test_a_database_of_a_newer_oracle_is_left_alone(database_url):
    async with await Database.open(database_url) as database:
        newer = "INSERT INTO schema_version VALUES (99)"
        await database.write(lambda c: c.execute(newer))
    with pytest.raises(StoreError, match=r"has schema 99, .* upgrade oracle"):
        await Database.open(database_url)


async def test_a_migration_that_fails_has_no_effect(database_url):
    def broken(connection):
        connection.execute("CREATE TABLE half (id INTEGER)")
        raise RuntimeError("in the middle")

    async with await Database.open(database_url, migrations=MIGRATIONS[:2]):
        pass
    with pytest.raises(RuntimeError, match="in the middle"):
        await Database.open(database_url, migrations=[*MIGRATIONS[:2], broken])
    async with await Database.open(database_url) as database:
        assert await read(database, shape_of) == declared_shape(database_url.kind)


KILLED = """
import asyncio, os, signal, sys
from oracle.services.storage.database import Database
from oracle.services.storage.migrations import MIGRATIONS

def killed(connection):
    connection.execute("CREATE TABLE half (id INTEGER)")
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(Database.open(sys.argv[1], migrations=[*MIGRATIONS[:3], killed]))
"""


@pytest.fixture
def killed_in_a_migration(database_url):
    address = database_url.with_password()
    return run([sys.executable, "-c", KILLED, address]).returncode


async def test_a_migration_in_a_process_that_is_killed_is_taken_again(
    database_url, killed_in_a_migration
):
    assert killed_in_a_migration == -9
    async with await Database.open(database_url) as database:
        assert await read(database, shape_of) == declared_shape(database_url.kind)


# Statements of the version before the last migration, as its processes go on to use them.
OLD_STATEMENTS = (
    "INSERT INTO blobs (hash, body) VALUES ('h1', 'x') ON CONFLICT DO NOTHING",
    "SELECT id FROM runs WHERE substr(id, 1, 2) = 'r1' ORDER BY id",
    "UPDATE runs SET lease_owner = 'old', lease_until = 0 WHERE id = 'r1'",
    "INSERT INTO journal (run_id, seq, kind, body, at) VALUES ('r1', 0, 'start', '[]', 1)",
)


async def test_an_older_oracle_works_on_while_a_newer_one_migrates(database_url):
    """As during a deploy: its connections stay open, and find another schema."""
    before = MIGRATIONS[:-1]
    async with await Database.open(database_url, migrations=before) as old:
        await Runs(old).begin(run_id="r1", question="q", tree="t", at=1.0, owner="old")
        under_way = [
            asyncio.create_task(Sessions(old).create(session_id=f"s{n}", title="t", at=1.0))
            for n in range(50)
        ]
        async with await Database.open(database_url) as new:
            await asyncio.gather(*under_way)
            for statement in OLD_STATEMENTS:
                await old.write(lambda c, sql=statement: c.execute(sql))
            assert len(await Sessions(new).newest()) == 50
            # A text of the older one has no time of use, and so is not taken for unused.
            await forget(new, before=0.5)
            assert await read(new, lambda c: c.firsts("SELECT hash FROM blobs")) == ["h1"]
    with pytest.raises(StoreError, match="a newer version made it; upgrade oracle"):
        await Database.open(database_url, migrations=before)

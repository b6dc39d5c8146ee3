"""Every earlier schema becomes the newest one, with its data, completely or not at all."""

import subprocess
import sys

import pytest
from sqlalchemy import inspect, text

from oracle.errors import StoreError
from oracle.services.storage import schema
from oracle.services.storage.database import Database
from oracle.services.storage.migrations import MIGRATIONS, version_of
from oracle.services.storage.sessions import Sessions
from tests.default_run import thinned


def shape_of(tables):
    return {
        table: {
            "columns": {(c["name"], c["nullable"]) for c in tables.get_columns(table)},
            "key": tables.get_pk_constraint(table)["constrained_columns"],
            "links": {
                (*key["constrained_columns"], key["referred_table"])
                for key in tables.get_foreign_keys(table)
            },
            "indexes": {(i["name"], *i["column_names"]) for i in tables.get_indexes(table)},
        }
        for table in tables.get_table_names()
        if table != "schema_version"
    }


def declared_shape():
    return {
        table.name: {
            "columns": {(c.name, bool(c.nullable)) for c in table.columns},
            "key": [c.name for c in table.primary_key],
            "links": {(key.parent.name, key.column.table.name) for key in table.foreign_keys},
            "indexes": {(str(i.name), *(c.name for c in i.columns)) for i in table.indexes},
        }
        for table in schema.metadata.sorted_tables
    }


async def read(database, function):
    return await database.read(function)


@pytest.mark.parametrize("version", thinned(range(len(MIGRATIONS) + 1), 3))
async def test_every_version_becomes_the_declared_schema(database_url, version):
    async with await Database.open(database_url, migrations=MIGRATIONS[:version]) as old:
        assert await read(old, version_of) == version
    async with await Database.open(database_url) as database:
        assert await read(database, version_of) == len(MIGRATIONS)
        assert await read(database, lambda c: shape_of(inspect(c))) == declared_shape()


@pytest.mark.parametrize("version", thinned(range(1, len(MIGRATIONS)), 2))
async def test_what_was_stored_in_an_earlier_version_is_still_there(database_url, version):
    async with await Database.open(database_url, migrations=MIGRATIONS[:version]) as old:
        as_then = text(
            "INSERT INTO sessions (id, title, created_at, updated_at) VALUES ('s1', 'kept', 1, 1)"
        )
        await old.write(lambda c: c.execute(as_then) and None)
    async with await Database.open(database_url) as database:
        assert (await Sessions(database).get("s1")).title == "kept"


async def test_a_database_of_a_newer_oracle_is_left_alone(database_url):
    async with await Database.open(database_url) as database:
        newer = text("INSERT INTO schema_version VALUES (99)")
        await database.write(lambda c: c.execute(newer) and None)
    with pytest.raises(StoreError, match=r"has schema 99, .* upgrade oracle"):
        await Database.open(database_url)


async def test_a_migration_that_fails_has_no_effect(database_url):
    def broken(connection):
        connection.execute(text("CREATE TABLE half (id INTEGER)"))
        raise RuntimeError("in the middle")

    async with await Database.open(database_url, migrations=MIGRATIONS[:2]):
        pass
    with pytest.raises(RuntimeError, match="in the middle"):
        await Database.open(database_url, migrations=[*MIGRATIONS[:2], broken])
    async with await Database.open(database_url) as database:
        assert await read(database, lambda c: shape_of(inspect(c))) == declared_shape()


KILLED = """
import asyncio, os, signal, sys
from sqlalchemy import text
from oracle.services.storage.database import Database
from oracle.services.storage.migrations import MIGRATIONS

def killed(connection):
    connection.execute(text("CREATE TABLE half (id INTEGER)"))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(Database.open(sys.argv[1], migrations=[*MIGRATIONS[:3], killed]))
"""


@pytest.fixture
def killed_in_a_migration(database_url):
    address = database_url.render_as_string(hide_password=False)
    return subprocess.run([sys.executable, "-c", KILLED, address], timeout=300).returncode


async def test_a_migration_in_a_process_that_is_killed_is_taken_again(
    database_url, killed_in_a_migration
):
    assert killed_in_a_migration == -9
    async with await Database.open(database_url) as database:
        assert await read(database, lambda c: shape_of(inspect(c))) == declared_shape()

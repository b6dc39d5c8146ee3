"""The events table of an empty database at the newest schema, of both kinds."""

import asyncio
from functools import partial

import pytest

from oracle.services.ans.table import open_events
from oracle.services.storage.database import Database, as_url


def migrated(where):
    """Its address, in the form for a command line."""

    async def prepare():
        await (await Database.open(where)).close()

    asyncio.run(prepare())
    return as_url(where).with_password()


@pytest.fixture
def url(database_url):
    return migrated(database_url)


@pytest.fixture
def sqlite_file(tmp_path):
    migrated(tmp_path / "oracle.db")
    return tmp_path / "oracle.db"


@pytest.fixture
def open_table(url):
    return partial(open_events, url)


@pytest.fixture
def table(open_table):
    table = open_table()
    yield table
    table.close()

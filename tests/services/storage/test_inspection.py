import sqlite3

import pytest

from oracle.errors import StoreError
from oracle.services.storage.database import Database, as_url
from oracle.services.storage.inspection import schema_of
from oracle.services.storage.migrations import MIGRATIONS


async def test_a_database_tells_its_schema_and_is_left_as_it_is(database_url):
    async with await Database.open(database_url, migrations=MIGRATIONS[:2]):
        pass
    assert schema_of(database_url) == 2
    assert schema_of(database_url) == 2


def test_a_file_that_is_not_there_is_not_made(tmp_path):
    assert schema_of(as_url(tmp_path / "oracle.db")) is None
    assert not (tmp_path / "oracle.db").exists()


def test_an_odd_name_is_no_address(tmp_path):
    path = tmp_path / "a?mode=rwc#b%20.db"
    sqlite3.connect(path).close()
    assert schema_of(as_url(path)) == 0
    assert [entry.name for entry in tmp_path.glob("*.db")] == [path.name]


def test_what_is_no_database_is_told(tmp_path):
    (tmp_path / "oracle.db").write_text("not a database, but long enough to be looked into" * 50)
    with pytest.raises(StoreError, match="is not an SQLite database"):
        schema_of(as_url(tmp_path / "oracle.db"))


def test_a_server_that_does_not_answer_is_told_without_the_password():
    with pytest.raises(StoreError, match="cannot be used") as told:
        schema_of(as_url("postgresql://me:hush@127.0.0.1:1/db"))
    assert "hush" not in str(told.value)

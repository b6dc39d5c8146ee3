"""Plain connections: the same promises on every kind of database."""

import sqlite3
from contextlib import closing

import psycopg
import pytest

from oracle.errors import StoreError
from oracle.services.storage.connections import connect
from oracle.services.storage.database import Database, as_url

INSERT = "INSERT INTO blobs (hash, body) VALUES (?, ?)"
COUNT = "SELECT count(*) FROM blobs"
FAULTS_OF_VALUES = (sqlite3.IntegrityError, psycopg.IntegrityError)


@pytest.fixture
def connection(database):
    connection = connect(database.url, durable=True)
    yield connection
    connection.close()


def test_what_is_written_is_counted_and_read_back(connection):
    with connection.transaction() as write:
        assert write(INSERT, [("a", "1"), ("b", "2")]) == 2
    assert connection.rows("SELECT hash FROM blobs WHERE body = ?", ["2"]) == [("b",)]


def test_a_transaction_that_fails_writes_nothing_and_the_connection_stays_usable(connection):
    with pytest.raises(ZeroDivisionError), connection.transaction() as write:
        _ = write(INSERT, [("a", "1")]) / 0
    with connection.transaction() as write:
        write(INSERT, [("b", "2")])
    assert connection.rows("SELECT hash FROM blobs") == [("b",)]


def test_a_value_at_fault_is_not_taken_for_an_outage(connection):
    with pytest.raises(FAULTS_OF_VALUES), connection.transaction("topic") as write:
        write(INSERT, [("a", "1"), ("a", "1")])
    assert connection.rows(COUNT) == [(0,)]


def test_any_other_fault_names_the_database(connection, database):
    with pytest.raises(StoreError, match=database.backend.shown(database.url)):
        connection.rows("SELECT * FROM nowhere")


def test_who_waits_for_a_topic_is_woken_by_the_end_of_a_transaction(connection, database):
    other = connect(database.url, durable=False)
    assert other.wait("topic", 10)  # begins to listen, so there may be news
    with connection.transaction("topic") as write:
        write(INSERT, [("a", "1")])
    assert other.wait("topic", 10)
    assert other.rows(COUNT) == [(1,)]
    other.close()


@pytest.mark.parametrize("where", ["sqlite:////nowhere/x.db", "postgresql://u:hush@127.0.0.1:1/x"])
def test_a_database_that_is_not_there_is_reported_without_its_password(where):
    with pytest.raises(StoreError) as raised:
        connect(as_url(where), durable=True)
    assert "hush" not in str(raised.value)


def test_a_plain_connection_never_makes_a_file(tmp_path):
    with pytest.raises(StoreError, match="cannot be opened"):
        connect(as_url(tmp_path / "x.db"), durable=True)
    assert not (tmp_path / "x.db").exists()


@pytest.mark.parametrize(("durable", "synchronous"), [(True, 2), (False, 1)])
async def test_on_sqlite_only_durable_commits_wait_for_the_disk(tmp_path, durable, synchronous):
    path = tmp_path / "x.db"
    sqlite3.connect(path).close()
    connection = connect(as_url(path), durable=durable)
    assert connection.rows("PRAGMA synchronous") == [(synchronous,)]
    connection.close()


async def test_a_commit_is_in_the_log_of_a_server_that_does_not_wait_for_its_log(postgresql_url):
    """So what was shown is on record after a crash of that server too."""
    sql = "SHOW synchronous_commit"
    with psycopg.connect(postgresql_url.with_password()) as plain:
        assert plain.execute(sql).fetchall() == [("off",)], "the test server waits"
    with closing(connect(postgresql_url, durable=True)) as ours:
        assert ours.rows(sql) == [("local",)]
    async with await Database.open(postgresql_url) as database:
        assert await database.write(lambda connection: connection.first(sql)) == "local"

import sqlite3
import sys
from pathlib import Path

import pytest

from oracle.errors import InputError, StoreError
from oracle.services.storage.database import (
    Database,
    as_url,
    default_url,
    schema_of,
    url_for_writing,
)
from oracle.services.storage.migrations import MIGRATIONS
from oracle.services.storage.records import insert
from oracle.services.storage.schema import blobs
from oracle.services.storage.sessions import Sessions
from oracle.settings import load_settings
from tests.processes import PIPE, Process
from tests.tables import each_row


@each_row(
    ("given", "kind", "name"),
    [
        ("some/file.db", "sqlite", "some/file.db"),
        (Path("/a folder?/100%.db"), "sqlite", "/a folder?/100%.db"),
        ("sqlite:////srv/oracle.db", "sqlite", "/srv/oracle.db"),
        ("postgres://team@host/oracle", "postgresql", "oracle"),
        ("postgresql+asyncpg://team@host/oracle", "postgresql", "oracle"),
    ],
)
def test_a_path_or_an_address_names_a_kind_and_a_database(given, kind, name):
    url = as_url(given)
    assert (url.kind, url.database) == (kind, name)


@pytest.mark.parametrize(
    "given",
    [
        "postgresql://team@host/oracle",
        "postgresql://te%40m:p%3Aw%2F@host:5433/oracle?sslmode=require&options=-c%20a%3Db",
        "postgresql://team:@/oracle?host=%2Ftmp%2Fsocket",
        "postgresql://[::1]:5432/oracle",
        "postgresql:///oracle",
        "sqlite:////srv/oracle.db",
    ],
)
def test_an_address_is_rendered_as_it_was_given(given):
    assert as_url(given).with_password() == given


def test_the_parts_of_an_address_are_decoded():
    url = as_url("postgresql://te%40m:p%3Aw@[::1]:5433/oracle?sslmode=require&a=b%20c")
    assert (url.user, url.password, url.host, url.port) == ("te@m", "p:w", "::1", 5433)
    assert url.option("a") == "b c"
    assert url.option("b") is None


def test_an_address_is_shown_without_its_password():
    assert "hush" not in repr(as_url("postgresql://me:hush@host/db"))


@each_row(
    "given", ["mysql://u:secret@h/db", "sqlite://", "sqlite:///:memory:", "://secret", "x://:b:c@"]
)
def test_other_addresses_are_refused_without_showing_their_password(given):
    with pytest.raises(InputError, match="write sqlite:///") as refusal:
        as_url(given)
    assert "secret" not in str(refusal.value)


def test_the_default_lies_in_the_project(tmp_path, monkeypatch):
    monkeypatch.delenv("ORACLE_DATABASE_URL", raising=False)
    (tmp_path / "oracle.toml").touch()
    monkeypatch.chdir(tmp_path)
    assert default_url(load_settings()).database == str(tmp_path / ".oracle" / "oracle.db")


def test_outside_of_a_project_it_is_the_users_own_once_something_was_asked(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="is not in a project"):
        default_url(load_settings())
    url = url_for_writing(load_settings())
    assert url.database == str(tmp_path / "state" / "oracle" / "oracle.db")
    Path(url.database).touch()
    assert default_url(load_settings()) == url


def test_the_environment_wins_and_needs_no_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ORACLE_DATABASE_URL", "postgresql://team@host/oracle")
    assert default_url(load_settings()).host == "host"


def test_a_path_in_the_settings_file_counts_from_the_root(tmp_path, monkeypatch):
    (tmp_path / "oracle.toml").write_text("[database]\nurl = 'sqlite:///data/team.db'\n")
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    monkeypatch.setenv("ORACLE_TRUST", str(tmp_path))
    assert default_url(load_settings()).database == str(tmp_path / "data" / "team.db")
    monkeypatch.setenv("ORACLE_DATABASE_URL", "sqlite:///mine.db")
    assert default_url(load_settings()).database == "mine.db"


def test_an_address_that_cannot_be_used_is_reported_with_its_place(tmp_path, monkeypatch):
    (tmp_path / "oracle.toml").write_text("[database]\nurl = 'mysql://me@host/db'\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"oracle\.toml:2: database\.url is not a database"):
        default_url(load_settings())


async def test_sqlite_is_set_up_to_lose_nothing(tmp_path):
    pragmas = ["journal_mode", "synchronous", "foreign_keys", "busy_timeout", "secure_delete"]
    async with await Database.open(tmp_path / "o.db") as database:
        found = await database.read(lambda c: [c.first(f"PRAGMA {name}") for name in pragmas])
    assert found == ["wal", 2, 1, 10_000, 1]


async def write_blobs(database, *hashes):
    rows = [{"hash": name, "body": "x"} for name in hashes]
    await database.write(lambda c: [insert(c, blobs, row) for row in rows])


async def count_blobs(database):
    return await database.read(lambda c: c.first("SELECT count(*) FROM blobs"))


async def test_a_transaction_that_fails_writes_nothing(database):
    with pytest.raises(StoreError, match="refuses a change"):
        await write_blobs(database, "h1", "h2", "h1")
    assert await count_blobs(database) == 0


OPENER = """
import asyncio, sys
from oracle.services.storage.database import Database

async def open_one(url):
    async with await Database.open(url):
        print("open", flush=True)

for line in sys.stdin:
    asyncio.run(open_one(line.strip()))
"""


def open_at_once(urls):
    """Have three processes open each database at the same moment. Returns what they print."""
    command = [sys.executable, "-c", OPENER]
    pipes = {"stdin": PIPE, "stdout": PIPE, "text": True}
    processes = [Process(command, **pipes) for _ in range(3)]
    answers = []
    for url in urls:
        for process in processes:
            process.stdin.write(f"{url}\n")
            process.stdin.flush()
        answers += [process.stdout.readline() for process in processes]
    for process in processes:
        process.communicate()
    return answers


def test_many_processes_may_open_a_new_file_at_once(tmp_path):
    answers = open_at_once([tmp_path / f"{number}.db" for number in range(5)])
    assert answers == ["open\n"] * 15


def test_many_processes_may_open_a_new_postgresql_database_at_once(postgresql_url):
    assert open_at_once([postgresql_url.with_password()]) == ["open\n"] * 3


WRITER = """
import asyncio, sys
from oracle.services.storage.database import Database
from oracle.services.storage.sessions import Sessions
from oracle.settings import load_settings

async def main(url, name):
    async with await Database.open(url) as database:
        for number in range(25):
            await Sessions(database).create(session_id=f"{name}-{number}", title="t", at=number)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def three_writers(database_url):
    """The exit codes of three processes that wrote at once."""
    address = database_url.with_password()
    commands = [[sys.executable, "-c", WRITER, address, name] for name in "abc"]
    return [process.wait(300) for process in [Process(command) for command in commands]]


async def test_processes_that_write_at_once_lose_nothing(three_writers, database):
    assert three_writers == [0, 0, 0]
    assert len(await Sessions(database).newest()) == 75


async def test_a_file_that_is_not_a_database_is_named_with_the_next_step(tmp_path):
    (tmp_path / "o.db").write_bytes(b"something else entirely " * 100)
    with pytest.raises(StoreError, match=r"o\.db is not an SQLite database; move the file away"):
        await Database.open(tmp_path / "o.db")


async def test_a_damaged_file_is_named_with_the_next_step(tmp_path):
    file = tmp_path / "o.db"
    async with await Database.open(file) as database:
        await Sessions(database).create(session_id="s", title="t", at=1.0)
    whole = file.read_bytes()
    file.write_bytes(whole[:4096] + b"\xa5" * (len(whole) - 4096))
    with pytest.raises(StoreError, match=r"o\.db is damaged; restore a copy"):
        async with await Database.open(file) as database:
            await Sessions(database).newest()


async def test_a_missing_folder_is_reported(tmp_path):
    with pytest.raises(StoreError, match=r"o\.db cannot be opened; check that its folder exists"):
        await Database.open(tmp_path / "nowhere" / "o.db")


async def test_a_read_only_file_is_reported(tmp_path):
    file = tmp_path / "o.db"
    async with await Database.open(file):
        pass
    async with await Database.open(f"sqlite:///file:{file}?mode=ro&uri=true") as database:
        with pytest.raises(StoreError, match="is read-only; make the file and its folder writable"):
            await Sessions(database).create(session_id="s", title="t", at=1.0)


async def test_a_full_disk_is_reported_and_nothing_is_half_written(tmp_path):
    async with await Database.open(tmp_path / "o.db") as database:

        def write_without_room(connection):
            connection.execute("PRAGMA max_page_count = 1")
            for name in ("h1", "h2", "h3"):
                insert(connection, blobs, {"hash": name, "body": "x" * 3_000})

        with pytest.raises(StoreError, match=r"o\.db cannot grow, the disk is full; free some"):
            await database.write(write_without_room)
        assert await count_blobs(database) == 0


async def test_a_server_that_does_not_answer_is_named_without_the_password():
    with pytest.raises(StoreError) as refusal:
        await Database.open("postgresql://team:secret@127.0.0.1:1/oracle?password=secret")
    message = str(refusal.value)
    assert message.startswith("postgresql://127.0.0.1:1/oracle cannot be used (")
    assert message.endswith("check that the server runs and the address is right")
    assert "secret" not in message


async def test_a_database_that_the_server_does_not_have_is_reported(postgresql_url):
    with pytest.raises(StoreError, match=r'cannot be used .*"nowhere" does not exist'):
        await Database.open(postgresql_url.set(database="nowhere"))


async def test_the_schema_of_a_database_is_read_without_changing_it(database_url):
    async with await Database.open(database_url, migrations=MIGRATIONS[:2]):
        pass
    assert schema_of(database_url) == 2
    assert schema_of(database_url) == 2


def test_a_file_that_is_not_there_is_not_made(tmp_path):
    assert schema_of(as_url(tmp_path / "oracle.db")) is None
    assert not (tmp_path / "oracle.db").exists()


def test_a_file_with_an_odd_name_is_not_taken_for_an_address(tmp_path):
    path = tmp_path / "a?mode=rwc#b%20.db"
    sqlite3.connect(path).close()
    assert schema_of(as_url(path)) == 0
    assert [entry.name for entry in tmp_path.glob("*.db")] == [path.name]


def test_a_file_that_is_not_a_database_is_reported(tmp_path):
    (tmp_path / "oracle.db").write_text("not a database, but long enough to be looked into" * 50)
    with pytest.raises(StoreError, match="is not an SQLite database"):
        schema_of(as_url(tmp_path / "oracle.db"))


def test_a_server_that_does_not_answer_is_reported_without_the_password():
    with pytest.raises(StoreError, match="cannot be used") as raised:
        schema_of(as_url("postgresql://me:hush@127.0.0.1:1/db"))
    assert "hush" not in str(raised.value)

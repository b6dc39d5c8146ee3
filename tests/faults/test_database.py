"""Databases that oracle did not leave like this: every command ends with one clear line.

A command may end well, or with an error of ours: its line names what is wrong and the next step.
Anything else is a traceback for the user.
"""

import asyncio
import os
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oracle import Oracle
from oracle.cli.main import app
from oracle.errors import DeveloperError, OracleError
from oracle.services.storage import schema, sqlite
from oracle.services.storage.database import Database
from oracle.services.storage.migrations import MIGRATIONS
from oracle.testing import ScriptedModel, ScriptedTools
from tests.asking import enough
from tests.scenarios import CODE, TOOLS, search

TABLES = {table.name: table for table in schema.metadata.sorted_tables}
COLUMNS = [
    (table.name, column.name)
    for table in schema.metadata.sorted_tables
    if table.name != "shadow_reports"  # nothing reads or writes it
    for column in table.columns
]
VALUES = {
    "null": None,
    "text": "not what it was",
    "empty": "",
    "bytes": b"\xff\xfe\x00",
    "no utf-8": "CAST(X'ff41' AS TEXT)",
    "nul": "a\0b\x1b]52;c;x\x07",
    "huge": "9" * 100_000,
    "far": 1e300,
    "endless": float("inf"),
    "negative": -1,
    "cut json": '{"request": {"a":',
    "json list": "[]",
    "json number": "17",
    "nested": "[" * 50_000,
    "wrong body": '[{"a": 1}, [], ""]',
    "wrong clock": '[{"request": 1}, ["x"], "r"]',
}
READING = {
    "sessions": (["sessions", "list"], ["sessions", "show", "SESSION"]),
    "context_nodes": (["sessions", "show", "SESSION"], ["sessions", "export", "SESSION"]),
    "runs": (["runs"], ["run", "show", "RUN"], ["replay", "RUN"]),
    "journal": (["run", "show", "RUN"], ["replay", "RUN"]),
    "blobs": (["replay", "RUN"],),
    "events": (["audit"], ["audit", "--json"]),
}
EVERY = (
    ["runs"],
    ["runs", "--json"],
    ["run", "show", "RUN"],
    ["run", "show", "RUN", "--json"],
    ["replay", "RUN"],
    ["run", "resume", "RUN", "--quiet"],
    ["sessions", "list"],
    ["sessions", "show", "SESSION"],
    ["sessions", "export", "SESSION", "--format", "json"],
    ["sessions", "export", "SESSION"],
    ["sessions", "rename", "SESSION", "another"],
    ["audit"],
    ["audit", "--run", "RUN", "--json"],
    ["doctor"],
    ["ask", "--session", "last", "--quiet", "where is login?"],
    ["chat", "--quiet"],
    ["purge", "--older-than", "1h", "--yes"],
    ["sessions", "delete", "SESSION", "--yes"],
)


class World:
    """A project with a conversation of two exchanges, and a copy of its database to change."""

    def __init__(self, folder: Path, whole: Path, ids: dict[str, str]) -> None:
        self.file = folder / ".oracle" / "oracle.db"
        self._whole = whole
        self._ids = ids
        self.reset()

    def reset(self) -> None:
        shutil.rmtree(self.file.parent, ignore_errors=True)
        self.file.parent.mkdir()
        shutil.copy(self._whole, self.file)

    def sql(self, *statements, values=()):
        with closing(sqlite3.connect(self.file, isolation_level=None)) as connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            for statement in statements:
                connection.execute(statement, values)

    def put(self, table, column, value, where="1"):
        """Also where the schema would refuse it: somebody may have changed that too."""
        literal = value if value == VALUES["no utf-8"] else "?"
        values = () if literal != "?" else (value,)
        nullable = "UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE name = ?"
        with closing(sqlite3.connect(self.file, isolation_level=None)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(nullable, [table])
        with closing(sqlite3.connect(self.file, isolation_level=None)) as connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            # One row only: keys must differ.
            row = f"SELECT rowid FROM {table} WHERE {where} ORDER BY rowid LIMIT 1"
            change = f"UPDATE OR REPLACE {table} SET {column} = {literal} WHERE rowid = ({row})"
            try:
                connection.execute(change, values)
            except sqlite3.IntegrityError:
                pytest.skip("a row id is always a number")

    def run(self, command, stdin=""):
        words = [self._ids.get(word, word) for word in command]
        # Standard input is a file: `ask` would wait for a pipe to end.
        result = CliRunner().invoke(app, words, input=stdin or None)
        return check_end(command, result)


def check_end(command, result):
    """The exit code and the line of an error, as `oracle.cli.main.run` prints it."""
    problem = result.exception
    assert "Traceback" not in result.output, (command, result.output[-3000:])
    if problem is None or isinstance(problem, SystemExit):
        return result.exit_code, result.output
    assert isinstance(problem, OracleError), (command, repr(problem))
    assert not isinstance(problem, DeveloperError), (command, repr(problem))
    line = str(problem)
    assert "\n" not in line
    assert len(line) < 1000, line[:300]
    assert line.isprintable(), (command, line)
    return problem.exit_code, line


def reply(request):
    has_looked = any(message["role"] == "tool" for message in request.messages)
    return enough("It is in auth.py:3.") if has_looked else search(1)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A database with two exchanges, made once, and the ids in it."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "oracle.toml").touch()
    model = ScriptedModel(reply, repeats_last=True)
    oracle = Oracle(project=folder, model=model, tools=ScriptedTools(TOOLS))
    first = oracle.ask_sync(CODE)
    second = oracle.ask_sync("And who calls it?", first.context_id)
    file = folder / ".oracle" / "oracle.db"
    with closing(sqlite3.connect(file)) as connection:
        ((session,),) = connection.execute("SELECT id FROM sessions").fetchall()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    return file, {"RUN": first.run_id, "SECOND": second.run_id, "SESSION": session}


@pytest.fixture
def world(tmp_path, whole, monkeypatch):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "oracle.toml").touch()
    (folder / "auth.py").write_text("def login(user):\n    return user\n")
    monkeypatch.chdir(folder)
    return World(folder, *whole)


# -- rows ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_changed_value_is_named_where_it_is_read(world, table, column):
    for number, name in enumerate(VALUES):
        # One value for each column; `extra` tries them all.
        if (number + sum(map(ord, table + column))) % 16:
            continue
        world.reset()
        world.put(table, column, VALUES[name])
        for command in READING[table]:
            world.run(command)


@pytest.mark.parametrize(
    ("table", "column", "value", "told"),
    [
        ("runs", "started_at", "yesterday", "started_at in runs"),
        ("runs", "usage", "{", "usage in runs"),
        ("sessions", "updated_at", 1e300, "updated_at in sessions"),
        ("context_nodes", "metadata", "[]", "metadata in context_nodes"),
        ("journal", "body", '{"request"', "record 0 of run"),
        ("journal", "kind", "finish", "its kind is 'finish'"),
        ("blobs", "body", "changed", "the text of blob"),
        ("events", "payload", "nothing", "payload in events"),
    ],
)
def test_doctor_finds_it_too(world, table, column, value, told):
    assert "problem" not in world.run(["doctor"])[1].partition("database")[2].splitlines()[0]
    world.put(table, column, value)
    code, output = world.run(["doctor"])
    assert (code, told in output) == (1, True), output


def test_a_missing_text_is_named(world):
    world.sql("DELETE FROM blobs WHERE rowid = 1")
    code, line = world.run(["replay", "RUN"])
    assert code == 74
    assert "is missing or was changed (blob" in line
    assert "needs a text that is missing" in world.run(["doctor"])[1]


def test_a_missing_record_is_named(world):
    world.sql("DELETE FROM journal WHERE seq = 1")
    code, line = world.run(["replay", "RUN"])
    assert (code, "record 1 of run" in line) == (74, True)


CIRCLES = {
    "of one": ("UPDATE context_nodes SET parent_id = id", "itself"),
    "of two": (
        "UPDATE context_nodes SET parent_id = (SELECT id FROM context_nodes AS o WHERE o.id <> "
        "context_nodes.id)",
        "an exchange that comes after it",
    ),
    "above": (
        "UPDATE context_nodes SET parent_id = id WHERE parent_id IS NULL",
        "itself",
    ),
    "missing": (
        "UPDATE context_nodes SET parent_id = 'gone' WHERE parent_id IS NULL",
        "an exchange that is missing",
    ),
}


@pytest.mark.parametrize("kind", CIRCLES)
def test_exchanges_that_lead_to_no_first_one_are_named(world, kind):
    change, told = CIRCLES[kind]
    world.sql(change)
    for command in (
        ["ask", "--session", "SESSION", "--quiet", "x"],
        ["sessions", "show", "SESSION"],
        ["sessions", "export", "SESSION"],
    ):
        code, line = world.run(command)
        assert (code, told in line, str(world.file) in line) == (74, True, True), line
        assert "parent_id in context_nodes" in line
    code, output = world.run(["doctor"])
    assert code == 1, output
    assert "parent_id in context_nodes" in output or "is missing" in output


@pytest.mark.parametrize("which", ["seq = (SELECT max(seq) FROM journal)", "1", "kind = 'end'"])
def test_missing_records_of_a_run_that_is_done_are_named(world, which):
    world.sql(f"DELETE FROM journal WHERE {which}")
    for command in (["run", "show", "SECOND"], ["replay", "SECOND"]):
        code, line = world.run(command)
        assert (code, "of run" in line, "is missing" in line) == (74, True, True), line
    code, output = world.run(["doctor"])
    assert (code, "the record of its end is missing" in output) == (1, True), output


@pytest.mark.parametrize("table", ["runs", "sessions", "context_nodes", "journal", "blobs"])
@pytest.mark.parametrize("change", ["INSERT", "UPDATE"])
def test_a_trigger_that_refuses_a_change_is_reported_in_one_line(world, table, change):
    body = "BEGIN SELECT raise(abort, 'not today'); END"
    world.sql(f"CREATE TRIGGER mine BEFORE {change} ON {table} {body}")
    code, line = world.run(["ask", "--quiet", "where is login?"])
    if (table, change) in [("runs", "UPDATE"), *((name, "INSERT") for name in TABLES)]:
        assert (code, "not today" in line) == (74, True), line
    code, output = world.run(["doctor"])
    assert (code, f"the trigger 'mine' on the table {table}" in output) == (1, True), output
    assert "restore a copy" not in output


@pytest.mark.extra
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_every_command_survives_every_value(world, table, column, value):
    world.put(table, column, VALUES[value])
    for command in EVERY:
        world.run(command, stdin="what is login?\n" if command[0] == "chat" else "")


@pytest.mark.extra
@pytest.mark.parametrize("seed", range(150))
def test_every_command_survives_random_damage(world, seed):
    """Values from one place in another, cut, joined and deleted, several at once."""
    chance = random.Random(seed)
    with closing(sqlite3.connect(world.file)) as connection:
        found = [
            value
            for table, column in COLUMNS
            for (value,) in connection.execute(f"SELECT {column} FROM {table} LIMIT 5")
        ]
    for _ in range(chance.randint(1, 4)):
        table, column = chance.choice(COLUMNS)
        value = chance.choice([*found, *VALUES.values()])
        if isinstance(value, str) and chance.random() < 0.5:
            value = value[: chance.randint(0, len(value))]
        if chance.random() < 0.2:
            world.sql(f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} LIMIT 1)")
        else:
            world.put(table, column, value)
    for command in chance.sample(EVERY, len(EVERY)):
        world.run(command, stdin="what is login?\n" if command[0] == "chat" else "")


# -- files -----------------------------------------------------------------------------------------


def foreign(*statements):
    def make(file):
        with closing(sqlite3.connect(file)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()

    return make


RUNS = "CREATE TABLE runs (distance REAL)"
EVENTS = "CREATE TABLE events (id INTEGER, name TEXT)"
VERSIONS = "CREATE TABLE schema_version (version INTEGER PRIMARY KEY NOT NULL)"
OTHER_FILES = {
    "a table named runs": (foreign(RUNS), "another database"),
    "a table named events": (foreign(EVENTS), "another database"),
    "our version, another table": (
        foreign(RUNS, VERSIONS, f"INSERT INTO schema_version VALUES ({len(MIGRATIONS)})"),
        "another database",
    ),
    "a newer schema": (foreign(VERSIONS, "INSERT INTO schema_version VALUES (99)"), "upgrade"),
    "a strange version": (
        foreign(
            "CREATE TABLE schema_version (version TEXT)", "INSERT INTO schema_version VALUES ('x')"
        ),
        "version in schema_version is 'x'",
    ),
    "text": (lambda file: file.write_text("not a database " * 100), "is not an SQLite database"),
    "a folder": (lambda file: file.mkdir(), "is not a file"),
    "a pipe": (os.mkfifo, "is not a file"),
}


@pytest.mark.parametrize("kind", OTHER_FILES)
def test_a_file_that_is_not_ours_is_reported_by_every_command(world, kind):
    make, told = OTHER_FILES[kind]
    world.file.unlink()
    make(world.file)
    for command in EVERY if kind == "a table named runs" else EVERY[::4]:
        code, output = world.run(command)
        if command[0] == "doctor":
            assert code == 1, output
        elif command[0] != "chat":  # it reports each question, and none was asked
            assert (code, told in output) == (74, True), (command, output)


async def make_older(file):
    async with await Database.open(file, migrations=MIGRATIONS[:2]):
        pass


@pytest.mark.parametrize("content", [b"", "older"])
def test_an_empty_or_older_file_is_brought_up_to_date(world, content):
    world.file.unlink()
    if content == "older":
        asyncio.run(make_older(world.file))
    else:
        world.file.write_bytes(content)
    assert world.run(["runs"]) == (0, "no runs yet\n")
    assert world.run(["doctor"])[0] == 0


def test_a_database_that_another_process_keeps_locked_is_named(world, monkeypatch):
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
    world.run(["runs"])
    with closing(sqlite3.connect(world.file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        code, output = world.run(["sessions", "rename", "SESSION", "x"])
        assert (code, "is being written by another process" in output) == (74, True)
        assert world.run(["runs"])[0] == 0


def test_the_start_of_an_id_that_fits_two_runs_is_refused_with_both(world):
    for table, column in [("runs", "id"), ("events", "run_id"), ("journal", "run_id")]:
        world.sql(f"UPDATE {table} SET {column} = 'ab' || {column} WHERE {column} IS NOT NULL")
    for command in (["audit", "--run", "ab"], ["run", "show", "ab"], ["replay", "ab"]):
        code, line = world.run(command)
        assert (code, line.startswith("run 'ab' is ambiguous: ab")) == (2, True), line
        assert line.endswith("; type more of it")


def test_projects_that_share_a_database_are_listed_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("ORACLE_DATABASE_URL", f"sqlite:///{tmp_path}/shared.db")
    asked = {}
    for name in ("tea", "coffee"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "oracle.toml").touch()
        model = ScriptedModel(reply, repeats_last=True)
        oracle = Oracle(project=folder, model=model, tools=ScriptedTools(TOOLS))
        asked[name] = oracle.ask_sync(f"How is {name} made in auth.py?").run_id
        monkeypatch.chdir(folder)
        for listing in (["runs"], ["sessions", "list"]):
            told = CliRunner().invoke(app, listing).output
            assert [other for other in asked if f"How is {other}" in told] == [name]
    told = CliRunner().invoke(app, ["runs", "--all"]).output
    assert all(f"How is {name}" in told for name in asked)
    resumed = CliRunner().invoke(app, ["run", "resume", asked["tea"]])
    assert "belongs to the project 'tea'" in resumed.output + str(resumed.exception)

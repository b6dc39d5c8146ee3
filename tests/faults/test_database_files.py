"""Files in the place of the database, or beside it, that oracle did not make."""

import asyncio
import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oracle import Oracle
from oracle.cli.main import app
from oracle.services.storage import sqlite
from oracle.services.storage.database import Database
from oracle.services.storage.migrations import MIGRATIONS
from oracle.testing import ScriptedModel, ScriptedTools
from tests.default_run import thinned
from tests.faults.damaged_database import EVERY, reply, whole, world
from tests.scenarios import TOOLS

__all__ = ["whole", "world"]


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
    "a negative version": (
        foreign(VERSIONS, "INSERT INTO schema_version VALUES (-5)"),
        "version in schema_version is -5",
    ),
    "no version": (foreign(VERSIONS, RUNS), "schema_version has lost its rows"),
    "a link": (lambda file: file.symlink_to("elsewhere.db"), "is a symbolic link"),
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


@pytest.mark.parametrize("kind", thinned(OTHER_FILES, 3))
def test_a_file_that_is_not_ours_is_reported_by_every_command(world, kind):
    make, told = OTHER_FILES[kind]
    world.file.unlink()
    make(world.file)
    for command in EVERY if kind == "a table named runs" else EVERY[1::6]:
        code, output = world.run(command)
        if command[0] == "doctor":
            assert code == 1, output
        elif command[0] != "chat":  # it reports each question, and none was asked
            assert (code, told in output) == (74, True), (command, output)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_what_is_in_the_way_of_a_file_beside_the_database_is_named_itself(world, suffix, make):
    make(f"{world.file}{suffix}")
    for command in (["runs"], ["doctor"]):
        output = world.run(command)[1]
        assert f"{world.file}{suffix} is not a file that can be read" in output, output


def test_a_table_that_is_missing_is_named(world):
    world.sql("DROP TABLE runs")
    for command in (["runs"], ["doctor"]):
        assert "the table runs is missing" in world.run(command)[1]


def test_a_damaged_event_is_reported_with_the_path_of_the_database(world):
    world.put("events", "payload", "nothing")
    code, line = world.run(["audit"])
    assert (code, line.startswith(f"{world.file} is damaged: payload in events")) == (74, True)


def test_the_advice_for_a_link_is_given_once(world):
    world.file.unlink()
    world.file.symlink_to("elsewhere.db")
    assert world.run(["runs"])[1].count("ORACLE_DATABASE_URL") == 1


@pytest.mark.parametrize(
    "make", [os.mkfifo, lambda path: path.touch(), lambda p: p.symlink_to("x")]
)
def test_what_is_in_the_way_of_the_index_is_named(world, make):
    path = world.file.parent / "index"
    make(path)
    code, line = world.run(["index"])
    assert (code, str(path) in line) == (74, True), line
    assert "move the file away" in line or line.endswith("remove it")
    assert world.run(["doctor"])[0] == 1
    assert world.run(["runs"])[0] == 0


def test_a_full_disk_before_the_first_use_is_named_as_such(world, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", full)
    code, line = world.run(["runs"])
    assert (code, "free some space" in line, "writable" in line) == (74, True, False), line


@pytest.mark.parametrize("target", ["oracle.toml", "nowhere.toml"])
def test_settings_that_are_a_link_to_nowhere_are_reported(world, target):
    settings = world.file.parent.parent / "oracle.toml"
    settings.unlink()
    settings.symlink_to(target)
    for command in (["runs"], ["config"]):
        code, line = world.run(command)
        assert (code, "oracle.toml: " in line) == (78, True), line
    assert world.run(["doctor"])[0] == 1


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
    code, printed = world.run(["runs"])
    assert (code, printed[:19]) == (0, "oracle: no runs yet")
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

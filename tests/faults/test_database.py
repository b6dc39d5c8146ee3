"""Databases that oracle did not leave like this: every command ends with one clear line.

A command may end well, or with an error of ours: its line names what is wrong and the next step.
Anything else is a traceback for the user.
"""

import random
import sqlite3
from contextlib import closing

import pytest

from tests.default_run import thinned
from tests.faults.damaged_database import COLUMNS, EVERY, READING, TABLES, VALUES, whole, world

__all__ = ["whole", "world"]


@pytest.mark.parametrize(("table", "column"), thinned(COLUMNS, 3))
def test_a_changed_value_is_named_where_it_is_read(world, table, column):
    for number, name in enumerate(VALUES):
        # One value for each column; `extra` tries them all.
        if (number + sum(map(ord, table + column))) % 16:
            continue
        world.reset()
        if table.startswith("run_"):
            world.queue()
        world.put(table, column, VALUES[name])
        for command in READING[table]:
            world.run(command)


def test_doctor_finds_nothing_in_a_whole_database(world):
    assert "problem" not in world.run(["doctor"])[1].partition("database")[2].splitlines()[0]


@pytest.mark.parametrize(
    ("table", "column", "value", "told"),
    thinned(
        [
            ("runs", "started_at", "yesterday", "started_at in runs"),
            ("runs", "usage", "{", "usage in runs"),
            ("sessions", "updated_at", 1e300, "updated_at in sessions"),
            ("context_nodes", "metadata", "[]", "metadata in context_nodes"),
            ("journal", "body", '{"request"', "record 0 of run"),
            ("journal", "kind", "finish", "its kind is 'finish'"),
            ("blobs", "body", "changed", "the text of blob"),
            ("events", "payload", "nothing", "payload in events"),
            ("journal", "at", "x", "record 0 of run"),
            ("runs", "usage", '{"turns": "x"}', "usage in runs"),
            ("runs", "usage", '{"uses": {"a": NaN}}', "usage in runs"),
            ("runs", "usage", '{"money": 1e999}', "usage in runs"),
            ("runs", "usage", '{"uses": 7}', "usage in runs"),
            ("runs", "lease_until", "soon", "lease_until in runs"),
            ("context_nodes", "metadata", '{"signals": 3}', "metadata in context_nodes"),
            ("context_nodes", "metadata", '{"usage": {"tokens": []}}', "metadata in context_nodes"),
            ("runs", "question", VALUES["no utf-8"], "question in runs"),
            ("context_nodes", "answer", VALUES["no utf-8"], "answer in context_nodes"),
        ],
        3,
    ),
)
def test_doctor_finds_it_too(world, table, column, value, told):
    world.put(table, column, value)
    code, output = world.run(["doctor"])
    assert (code, told in output) == (1, True), output
    assert output.count("restore a copy") == output.count(f"{world.file}: "), output
    code, line = world.run(READING[table][-1])
    assert (code, told in line or table == "blobs") == (74, True), line


@pytest.mark.parametrize(
    ("table", "column"),
    [("sessions", "updated_at"), ("runs", "lease_until"), ("runs", "ended_at"), ("events", "at")],
)
def test_a_time_that_is_none_is_not_kept_in_silence(world, table, column):
    world.put(table, column, "soon")
    code, line = world.run(["purge", "--older-than", "1h", "--yes"])
    assert (code, f"{column} in {table}" in line) == (74, True), line


def test_a_missing_text_is_named(world):
    world.sql("DELETE FROM blobs WHERE rowid = 1")
    code, line = world.run(["replay", "RUN"])
    assert code == 74
    assert "is missing or was changed (blob" in line
    assert "needs a text that is missing" in world.run(["doctor"])[1]


def test_a_run_is_told_as_far_as_its_record_is_whole_and_the_damage_has_its_exit_code(world):
    world.sql("UPDATE blobs SET body = 'changed'")
    code, story = world.run(["run", "show", "RUN"])
    assert code == 74
    assert "is missing or was changed (blob" in story
    assert "search_code" in story


def test_the_digest_of_an_attached_file_is_not_the_name_of_a_text(world):
    file = world.file.parent.parent / "attached.py"
    file.write_text("def login():\n    return True\n")
    code, output = world.run(["ask", "--quiet", "-f", str(file), "what does login return?"])
    assert code == 0, output
    assert "needs a text" not in world.run(["doctor"])[1]


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


@pytest.mark.parametrize(
    "table", thinned(["runs", "sessions", "context_nodes", "journal", "blobs"], 2)
)
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
@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_every_command_survives_a_value_of_another_kind(world, table, column):
    """Another value than the quick test above, and half of the commands. The next column has the
    others, so each command meets some damage of each table. All would take half an hour.
    """
    names = list(VALUES)
    value = names[sum(map(ord, column + table)) * 7 % len(names)]
    world.put(table, column, VALUES[value])
    for command in EVERY[COLUMNS.index((table, column)) % 2 :: 2]:
        world.run(command, stdin="what is login?\n" if command[0] == "chat" else "")


@pytest.mark.extra
@pytest.mark.parametrize("seed", range(10))
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

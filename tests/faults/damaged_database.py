"""A project with a conversation, whose database a test may damage."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oracle import Oracle
from oracle.cli.main import app
from oracle.errors import DeveloperError, OracleError
from oracle.services.storage import schema
from oracle.testing import ScriptedModel, ScriptedTools
from tests.asking import enough
from tests.scenarios import CODE, TOOLS, search

TABLES = schema.TABLES
COLUMNS = [
    (table.name, column.name)
    for table in TABLES.values()
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
    "api_tokens": (["token", "list"], ["token", "list", "--json"]),
    "run_queue": (["queue"], ["queue", "--json"], ["queue", "retry", "RUN"]),
    "run_chunks": (["queue"],),
    "run_commands": (["queue", "cancel", "RUN"],),
    "run_workers": (["workers"], ["workers", "--json"]),
    "spend": (["spend"], ["spend", "--json"], ["run", "show", "RUN"]),
    "spend_totals": (["spend"], ["spend", "--json"]),
}
QUEUED = (
    """UPDATE runs SET door = 'queue', status = 'running', stop_reason = NULL WHERE id = ?1""",
    """INSERT INTO run_queue VALUES (?1, '{}', 3, '{"detail": "no model"}', 1.0)""",
    """INSERT INTO run_chunks VALUES (?1, 0, '[]')""",
    """INSERT INTO run_commands VALUES (1, ?1, '{"cancel": true}', 1.0)""",
    """INSERT INTO run_workers VALUES (?1, NULL, '1', 'working', 4, 1.0, 4e9)""",
)
"""A run that is stuck in the queue, and a worker that is alive."""
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

    def queue(self):
        with closing(sqlite3.connect(self.file, isolation_level=None)) as connection:
            for statement in QUEUED:
                connection.execute(statement, [self._ids["RUN"]])

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

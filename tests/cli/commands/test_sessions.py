"""`oracle sessions`, as a user calls it; and how sessions are drawn."""

import asyncio
import json
import os

import pytest
from rich.cells import cell_len

from oracle.cli.commands.sessions import session_lines
from oracle.cli.terminal.output import printable
from oracle.models.session import Exchange, Session
from oracle.services.storage.database import Database
from oracle.services.storage.exchanges import Exchanges
from oracle.services.storage.sessions import Sessions
from tests.cli.processes import Terminal
from tests.processes import DEVNULL, ORACLE, run


async def fill(file):
    async with await Database.open(file) as database:
        await Sessions(database).create(session_id="a1b2c3", title="On \x1b[31mtea", at=1e9)
        await Sessions(database).create(session_id="d4e5f6", title="On salt", at=1e9 + 60)
        for name, parent in [("e1", None), ("e2", "e1"), ("e3", "e2"), ("e4", "e2"), ("e5", "e4")]:
            await Exchanges(database).append(
                Exchange(
                    id=name,
                    session_id="a1b2c3",
                    parent_id=parent,
                    question=f"{name}?",
                    answer=f"{name}!\nIndeed.",
                    created_at=1e9 + 120,
                )
            )


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.delenv("ORACLE_DATABASE_URL", raising=False)
    (tmp_path / "oracle.toml").touch()
    (tmp_path / ".oracle").mkdir()
    asyncio.run(fill(tmp_path / ".oracle" / "oracle.db"))
    return tmp_path


def oracle(*arguments, cwd, **environment):
    return run(
        [*ORACLE, *arguments],
        capture_output=True,
        stdin=DEVNULL,
        text=True,
        cwd=cwd,
        env={**os.environ, "TZ": "UTC", **environment},
        timeout=300,
    )


def test_list_is_a_plain_table_in_a_pipe(project):
    result = oracle("sessions", "list", cwd=project)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == (
        "SESSION  LAST USED         EXCHANGES  ENDED  COST  TITLE\n"
        "a1b2c3   2001-09-09 01:48          5               On [31mtea\n"
        "d4e5f6   2001-09-09 01:47          0               On salt\n"
    )


def test_list_speaks_json_to_programs(project):
    listed = json.loads(oracle("sessions", "list", "--json", "--limit", "1", cwd=project).stdout)
    assert [(item["id"], item["exchanges"]) for item in listed] == [("a1b2c3", 5)]


def test_an_empty_list_says_so_on_stderr(tmp_path):
    (tmp_path / "oracle.toml").touch()
    result = oracle("sessions", "list", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "")
    assert (
        result.stderr == 'oracle: no sessions yet; ask something first: oracle ask "where is …?"\n'
    )


def test_show_draws_branches_and_keeps_a_conversation_in_one_column(project):
    result = oracle("sessions", "show", "a1", cwd=project)
    assert result.stdout == (
        "a1b2c3  On [31mtea\n"
        "e1  e1?\n"
        "    e1! Indeed.\n"
        "e2  e2?\n"
        "    e2! Indeed.\n"
        "├── e3  e3?\n"
        "│       e3! Indeed.\n"
        "└── e4  e4?\n"
        "        e4! Indeed.\n"
        "    e5  e5?\n"
        "        e5! Indeed.\n"
    )


def test_show_works_where_only_ascii_can_be_printed(project):
    result = oracle("sessions", "show", "a1", cwd=project, PYTHONIOENCODING="ascii")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("command", [("show", "--json"), ("export", "--format", "json")])
def test_a_session_can_be_had_as_json(project, command):
    name, *options = command
    document = json.loads(oracle("sessions", name, "a1b2c3", *options, cwd=project).stdout)
    assert [exchange["parent_id"] for exchange in document["exchanges"]] == [
        None,
        "e1",
        "e2",
        "e2",
        "e4",
    ]


def test_export_writes_markdown(project):
    result = oracle("sessions", "export", "d4", cwd=project)
    assert result.stdout == "# On salt\n"


def test_rename_tells_the_new_title(project):
    result = oracle("sessions", "rename", "d4", "On pepper", cwd=project)
    assert result.stdout == "d4e5f6 is now: On pepper\n"


def test_an_unknown_session_gets_a_suggestion(project):
    result = oracle("sessions", "show", "a1b2c4", cwd=project)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "oracle: no session 'a1b2c4'; did you mean 'a1b2c3'?\n"


def test_delete_refuses_where_nobody_can_say_yes(project):
    result = oracle("sessions", "delete", "a1", cwd=project)
    assert (result.returncode, result.stdout) == (2, "")
    assert "give --yes" in result.stderr
    assert "a1b2c3" in oracle("sessions", "list", cwd=project).stdout


def test_delete_with_a_yes_deletes(project):
    result = oracle("sessions", "delete", "a1", "--yes", cwd=project)
    assert (result.returncode, result.stdout, result.stderr) == (0, "deleted a1b2c3\n", "")
    assert "a1b2c3" not in oracle("sessions", "list", cwd=project).stdout


@pytest.mark.parametrize(
    ("answer", "code", "left"), [("y\n", 0, 1), ("n\n", 1, 2), ("\n", 1, 2), ("\x03", 1, 2)]
)
def test_delete_asks_at_a_terminal(project, answer, code, left):
    terminal = Terminal("sessions", "delete", "a1", cwd=project)
    terminal.until("with 5 exchanges for good? [y/N] ").type(answer)
    assert terminal.end() == code
    assert len(json.loads(oracle("sessions", "list", "--json", cwd=project).stdout)) == left


def test_outside_of_a_project_the_next_step_is_told(tmp_path):
    result = oracle("sessions", "list", cwd=tmp_path)
    assert result.returncode == 2
    assert "`oracle init`" in result.stderr


def test_a_database_that_cannot_be_opened_is_told_without_a_traceback(tmp_path):
    address = f"sqlite:///{tmp_path}/nowhere/o.db"
    result = oracle("sessions", "list", cwd=tmp_path, ORACLE_DATABASE_URL=address)
    assert result.returncode == 74
    assert result.stderr.startswith(f"oracle: {tmp_path}/nowhere/o.db cannot be opened; check that")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [("two\nlines", "two lines"), ("\x1b[2J\x07", "[2J"), ("\u202etxt", "txt"), ("🍵 ü", "🍵 ü")],
)
def test_no_text_can_steer_the_terminal(text, shown):
    assert printable(text) == shown


def test_on_a_terminal_ids_are_short_texts_are_cut_and_attachments_are_named():
    session = Session(id="a" * 32, title="On tea", created_at=1.0, updated_at=1.0)
    exchange = Exchange(
        id="b" * 32,
        session_id=session.id,
        question="Is 漢字 🍵 safe to drink every day?",
        answer="Yes. " * 20,
        metadata={"attached": ["tea.py:1-9", "git diff"]},
        created_at=1.0,
    )
    lines = [line.text for line in session_lines(session, [exchange], 40)]
    assert lines[:3] == [
        "aaaaaaaa  On tea",
        "bbbbbbbb  Is 漢字 🍵 safe to drink ever…",
        "    attached: tea.py:1-9, git diff",
    ]
    assert all(cell_len(line) <= 40 for line in lines)


def test_the_name_of_the_group_alone_lists(project):
    listed = oracle("sessions", "list", cwd=project).stdout
    assert oracle("sessions", cwd=project).stdout == listed
    assert oracle("sessions", "-n", "1", "--json", cwd=project).stdout.startswith("[")
    assert "Usage: oracle sessions" in oracle("sessions", "--help", cwd=project).stdout


def test_an_unknown_session_is_json_too(project):
    result = oracle("sessions", "export", "zz", "--format", "json", cwd=project)
    assert json.loads(result.stdout)["content"].startswith("no session 'zz'")

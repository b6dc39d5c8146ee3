"""`oracle chat` at a pseudo-terminal: keys, signals, history."""

import os
import signal
import sqlite3
import termios
from contextlib import closing

import pytest

from oracle.testing.servers import Reply, Stall, openai
from tests.cli.commands.test_chat import sent_to
from tests.cli.processes import Terminal, make_project, model_serving, oracle, says

pytestmark = pytest.mark.extra

STALLING = Reply(body=[*openai.beginning(), *openai.events(openai.text("It is so. ")), Stall()])


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(make_project(tmp_path))
    return tmp_path


def at_prompt(chat):
    return chat.until("\n? ")


def test_a_chat_at_a_terminal_from_the_header_to_ctrl_d(project):
    with model_serving(says("First."), says("Second.")) as (env, server):
        chat = Terminal("chat", env=env).until("oracle: model openai:test; /help")
        # A paste of several lines is one question. A line that was typed ahead ends with "\n".
        at_prompt(chat).type("\x1b[200~hello\nthere\x1b[201~\r").until("First.")
        at_prompt(chat).type("/nwe\n").until("did you mean '/new'?")
        at_prompt(chat).type("thanks!\r").until("Second.")
        at_prompt(chat).type("/session\r").until("oracle: session ")
        assert at_prompt(chat).leave() == 0
    first, second = sent_to(server)
    assert "hello\\nthere" in first
    assert "First." in second
    assert "did you mean" not in second
    history = project / ".oracle" / "chat_history"
    assert history.read_text() == "hello\\nthere\nthanks!\n/session\n"
    assert history.stat().st_mode & 0o077 == 0


def test_a_command_that_failed_is_not_the_exit_code_of_a_chat(project):
    chat = Terminal("chat", env={"ORACLE_MODEL_NAME": "embedded"}).until("/help")
    at_prompt(chat).type("/model sonnet\r").until("the chat goes on with")
    assert at_prompt(chat).leave() == 0


def test_the_history_comes_back_and_the_last_question_can_be_edited(project):
    (project / ".oracle").mkdir()
    (project / ".oracle" / "chat_history").write_text("hello\nthanks!\n")
    with model_serving(says("First."), says("Second.")) as (env, server):
        chat = at_prompt(Terminal("chat", env=env)).type("\x12HEL").until("hello").type("\r\r")
        at_prompt(chat.until("First.")).type("/edit\r").until("/edit").until("hello")
        at_prompt(chat.type(" again\r").until("Second.")).type("exit\r")
        assert chat.end() == 0
    assert "hello again" in sent_to(server)[1]
    assert "First." not in sent_to(server)[1]


def test_the_first_ctrl_c_stops_the_answer_and_the_second_leaves(project):
    with model_serving(STALLING) as (env, _):
        chat = at_prompt(Terminal("chat", env=env)).type("hello\r").until("It is so.")
        chat.type("\x03").until("press Ctrl-C again")
        assert at_prompt(chat).type("\x03").end() == 130
        assert chat.raw.endswith("\x1b[?2004l\x1b[?25h")


def test_a_chat_goes_on_after_an_answer_that_was_stopped(project):
    with model_serving(STALLING, says("Better.")) as (env, _):
        chat = at_prompt(Terminal("chat", env=env)).type("hello\r").until("It is so.")
        at_prompt(chat.type("\x03").until("press Ctrl-C again")).type("again\r").until("Better.")
        assert at_prompt(chat).leave() == 0


def test_ctrl_c_stops_a_command_that_waits_for_the_database(project):
    oracle("ask", "-q", "hello")
    with closing(sqlite3.connect(project / ".oracle" / "oracle.db")) as other:
        other.execute("PRAGMA journal_mode=DELETE")
        other.execute("BEGIN EXCLUSIVE")
        chat = at_prompt(Terminal("chat")).type("/session last\r")
        chat.until("/session last\n").until_keys_are_signals().type("\x03")
        chat.until("oracle: cancelled; press Ctrl-C again")
        assert at_prompt(chat).type("\x03").end() == 130


def test_ctrl_c_at_an_approval_stops_the_answer(project):
    wanting = says(type_="need_capability", capability="write_note", reason="keep it")
    with model_serving(wanting, says("Fine.")) as (env, _):
        chat = at_prompt(Terminal("chat", env=env)).type("hello\r").until("[y/N] ").type("\x03")
        at_prompt(chat.until("press Ctrl-C again")).type("hello again\r").until("Fine.")
        assert at_prompt(chat).leave() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_the_prompt_leaves_the_terminal_as_it_was(project, number):
    chat = Terminal("chat")
    before = termios.tcgetattr(chat.descriptor)
    at_prompt(chat)
    assert termios.tcgetattr(chat.descriptor) != before
    os.kill(chat.pid, number)
    chat.read_all()
    assert termios.tcgetattr(chat.descriptor) == before
    assert chat.raw.endswith("\x1b[?2004l\x1b[?25h")
    assert chat.end() in (128 + number, -number)


def test_ctrl_c_right_after_enter_stops_the_answer_and_a_second_one_leaves(project):
    with model_serving() as (env, _):
        chat = at_prompt(Terminal("chat", env=env)).type("hello\r\x03").until("press Ctrl-C again")
        assert at_prompt(chat).type("hello\r\x03\x03").end() == 130
        assert chat.raw.endswith("\x1b[?2004l\x1b[?25h")


def test_what_is_typed_during_an_answer_is_kept_and_not_shown_in_it(project):
    with model_serving(STALLING, says("Better.")) as (env, _):
        chat = at_prompt(Terminal("chat", env=env)).type("hello\r").until("It is so.")
        chat.type("ag\nain").type("\x03").until("press Ctrl-C again")
        during = chat.shown.partition("It is so.")[2].partition("press Ctrl-C")[0]
        assert "ag" not in during
        assert "^C" not in during
        chat.until("? ag").until(". ain").type("\r").until("Better.")
        assert at_prompt(chat).type("\x04").end() == 0


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_cannot_edit_has_plain_lines(project, term):
    chat = at_prompt(Terminal("chat", env={"TERM": term})).type("/model\n").until("model embedded")
    assert "\x1b" not in chat.raw
    assert at_prompt(chat).leave() == 0


def test_a_file_is_overwritten_only_after_a_yes(project):
    (project / "talk.md").write_text("mine")
    chat = at_prompt(Terminal("chat")).type("hello\r").until("Hello.")
    at_prompt(chat).type("/save talk.md\r").until("overwrite it? [y/N]").type("\x03")
    at_prompt(chat.until("not saved"))
    assert (project / "talk.md").read_text() == "mine"
    chat.type("/save talk.md\r").until("[y/N]").type("y\n").until("saved as talk.md")
    assert at_prompt(chat).leave() == 0
    assert "> hello" in (project / "talk.md").read_text()

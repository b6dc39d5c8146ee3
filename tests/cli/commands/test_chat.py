"""`oracle chat`, at a pseudo-terminal and from a pipe."""

import json
import os
import signal
import sqlite3
import termios
from contextlib import closing
from types import SimpleNamespace

import pytest

from oracle.cli.terminal import chat as chat_module
from oracle.cli.terminal.chat_commands import COMMANDS
from oracle.testing.servers import Reply, Stall, openai
from tests.cli.processes import Terminal, make_project, model_serving, oracle, says

STALLING = Reply(body=[*openai.beginning(), *openai.events(openai.text("It is so. ")), Stall()])


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(make_project(tmp_path))
    return tmp_path


def at_prompt(chat):
    return chat.until("\n? ")


def piped(*lines, options=("-q",), **given):
    return oracle("chat", *options, stdin="".join(f"{line}\n" for line in lines).encode(), **given)


def sent_to(server):
    return [json.dumps(request.body) for request in server.requests]


# -- at a terminal ---------------------------------------------------------------------------------


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


# -- from a pipe -----------------------------------------------------------------------------------


def test_from_a_pipe_each_line_is_a_question(project):
    with model_serving(says("One."), says("Two.")) as (env, server):
        result = piped("hello", "", "thanks!", "quit", "never asked", env=env)
    assert (result.returncode, result.stdout) == (0, b"One.\nTwo.\n")
    assert "One." in sent_to(server)[1]


def test_no_command_is_a_bug_with_the_embedded_model(project):
    lines = [command.name for command in COMMANDS if command.name != "/exit"]
    result = piped(*lines, "hello", *lines, options=())
    assert b"internal error" not in result.stderr
    assert b"no cost (embedded model)" in result.stderr


def test_a_bug_in_a_chat_has_a_traceback_for_developers(monkeypatch, capsys):
    monkeypatch.setattr(chat_module, "parse", lambda line: 1 / 0)
    for wanted, count in (("0", 0), ("1", 1)):
        monkeypatch.setenv("PYTHONDEVMODE", wanted)
        chat = object.__new__(chat_module.Chat)
        chat._prefill, chat._code = "", 0
        chat._editor = SimpleNamespace(is_interactive=False)
        assert chat._handle("hello")
        shown = capsys.readouterr().err
        assert shown.count("Traceback") == count
        assert "internal error: ZeroDivisionError" in shown
        assert chat._code == 70


def test_a_new_conversation_knows_nothing_of_the_one_before(project):
    with model_serving(says("One."), says("Two.")) as (env, server):
        piped("hello", "/new", "thanks!", env=env)
    assert "One." not in sent_to(server)[1]
    sessions = json.loads(oracle("sessions", "list", "--json").stdout)
    assert [session["exchanges"] for session in sessions] == [1, 1]


def test_questions_that_are_asked_again_are_branches_of_one_session(project):
    replies = [says(f"Answer {number}.") for number in range(5)]
    with model_serving(*replies) as (env, server):
        lines = ("hello", "/retry", "/edit hi", "thanks!", "/undo", "bye!", "/tokens")
        result = piped(*lines, env=env)
    assert result.returncode == 0
    _, again, edited, after, undone = sent_to(server)
    assert "Answer 0." not in again
    assert "hi" in edited
    assert "Answer 1." not in edited
    assert "Answer 2." in after
    assert "Answer 2." in undone
    assert "Answer 3." not in undone
    assert b"5 questions" in result.stderr
    (session,) = json.loads(oracle("sessions", "list", "--json").stdout)
    assert session["exchanges"] == 5


def test_a_question_that_was_undone_can_be_edited(project):
    with model_serving(says("One."), says("Two."), says("Three.")) as (env, server):
        piped("hello", "thanks!", "/undo", "/retry", env=env)
    *_, third = sent_to(server)
    assert "thanks!" in third
    assert ("One." in third, "Two." in third) == (True, False)


def test_what_was_attached_can_be_detached(project):
    result = piped("/attach session.py", "/detach", "/attach", options=())
    lines = result.stderr.decode().splitlines()
    assert lines[-3].startswith("oracle: attached to the next question: session.py")
    assert lines[-2:] == ["oracle: nothing is attached"] * 2


def test_a_conversation_is_saved_where_no_question_finds_it(project):
    piped("hello", "/save", "/save")
    (saved,) = (project / ".oracle" / "saved").iterdir()
    assert "> hello" in saved.read_text()


def test_a_chat_goes_on_with_a_session(project):
    with model_serving(says("First."), says("Second.")) as (env, server):
        oracle("ask", "hello", env=env)
        result = piped("thanks!", options=("--session", "last"), env=env)
    assert b": hello\n" in result.stderr
    assert "First." in sent_to(server)[1]


def test_the_model_is_switched_only_to_one_that_can_be_used(project):
    result = piped("/model", "/model opnai:x", "/model", "/model openai:test", options=(), env={
        "ORACLE_MODEL_BASE_URL": "http://127.0.0.1:9/v1"
    })  # fmt: skip
    first, problem, second, switched = result.stderr.decode().splitlines()
    assert (first, second) == ("oracle: model embedded",) * 2
    assert "opnai" in problem
    assert switched == "oracle: model openai:test"
    assert result.returncode != 0


def test_files_are_attached_to_the_next_question_and_to_the_same_one_again(project):
    with model_serving(*[says(f"Answer {number}.") for number in range(4)]) as (env, server):
        lines = ("/attach session.py:1", "hello", "/retry", "hello again", "hi @session.py")
        result = piped(*lines, "/attach gone.py", options=(), env=env)
    attached = ["expires after this" in request for request in sent_to(server)]
    assert attached == [True, True, False, True]
    assert b"attached to the next question: session.py:1" in result.stderr
    assert b"there is no file 'gone.py'" in result.stderr


@pytest.mark.parametrize("command", ["/undo", "/retry", "/edit x", "/save", "/sources"])
def test_a_command_about_the_last_answer_needs_one(project, command):
    result = piped(command)
    assert (result.returncode, result.stdout, result.stderr.count(b"\n")) == (2, b"", 1)


def test_the_first_error_is_the_exit_code_of_a_pipe(project):
    (project / ".oracle").mkdir()
    (project / ".oracle" / "oracle.db").write_text("not a database " * 100)
    result = piped("hello", "/help")
    assert result.returncode == 74
    assert b"oracle.db" in result.stderr


def test_an_empty_pipe_is_reported(project):
    result = oracle("chat")
    assert (result.returncode, result.stderr) == (
        0,
        b"oracle: stdin is empty, so nothing was asked\n",
    )

"""`oracle chat`, at a pseudo-terminal and from a pipe."""

import json

import pytest

from oracle.testing.servers import Reply, Stall, openai
from tests.cli.processes import Terminal, make_project, model_serving, oracle, says

STALLING = Reply(body=[*openai.beginning(), *openai.events(openai.text("It is so. ")), Stall()])


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(make_project(tmp_path))
    return tmp_path


def at_prompt(chat):
    return chat.until("\n? ")


def test_each_question_knows_what_was_said_before_until_a_new_one_begins(project):
    with model_serving(says("First."), says("Second."), says("Third.")) as (env, server):
        chat = at_prompt(Terminal("chat", env=env)).type("hello\r").until("First.")
        at_prompt(chat).type("thanks!\r").until("Second.")
        at_prompt(chat).type("/session\r").until("oracle: session ")
        at_prompt(chat).type("/new\r").until("a new conversation")
        at_prompt(chat).type("hello again\r").until("Third.")
        assert at_prompt(chat).type("/quit\r").end() == 0
    sent = [json.dumps(request.body) for request in server.requests]
    assert "First." in sent[1]
    assert "First." not in sent[2]
    sessions = json.loads(oracle("sessions", "list", "--json").stdout)
    assert sorted(session["exchanges"] for session in sessions) == [1, 2]


def test_a_file_that_is_saved_between_two_questions_is_found(project):
    chat = at_prompt(Terminal("chat")).type("where is MAX_IDLE defined?\r").until("session.py:1")
    at_prompt(chat.until("sources: "))
    (project / "moon.py").write_text("def moonrise_hour():\n    return 5\n")
    chat.type("where is moonrise_hour defined?\r").until("sources: moon.py:1")
    assert at_prompt(chat).type("\x04").end() == 0


def test_ctrl_c_cancels_the_answer_and_keeps_the_chat(project):
    with model_serving(STALLING, says("Better.")) as (env, _):
        chat = Terminal("chat", env=env).until("? ").type("hello\r").until("It is so.")
        at_prompt(chat.type("\x03").until("not complete: cancelled (Ctrl-C)"))
        at_prompt(chat.type("again\r").until("Better.").until(" tokens"))
        assert chat.type("\x04").end() == 0


def test_ctrl_c_at_the_prompt_leaves_when_pressed_twice(project):
    chat = at_prompt(Terminal("chat")).type("half a quest").until("half a quest")
    chat.insist("\x03").until("Ctrl-C again")
    assert at_prompt(chat).insist("\x03").end() == 130


def test_a_paste_of_many_lines_is_one_question(project):
    with model_serving(says("I see.")) as (env, server):
        chat = at_prompt(Terminal("chat", env=env))
        chat.type("\x1b[200~hello\nthere\x1b[201~\r").until("I see.")
        at_prompt(chat).type("\x04").end()
    assert "hello\\nthere" in json.dumps(server.requests[0].body)


def test_a_backslash_goes_on_with_the_next_line(project):
    with model_serving(says("I see.")) as (env, server):
        chat = at_prompt(Terminal("chat", env=env)).type("hello\\\r").until("… ")
        chat.type("there\r").until("I see.")
        at_prompt(chat).type("\x04").end()
    assert "hello\\nthere" in json.dumps(server.requests[0].body)


def test_the_history_comes_back_with_the_next_chat(project):
    chat = at_prompt(Terminal("chat")).type("hello\r").until("oracle: no language model")
    at_prompt(chat).type("\x04").end()
    history = project / ".oracle" / "chat_history"
    assert history.read_text() == "hello\n"
    assert history.stat().st_mode & 0o077 == 0
    again = at_prompt(Terminal("chat")).type("\x1b[A").until("hello").insist("\x03")
    assert at_prompt(again.until("Ctrl-C again")).type("\x04").end() == 0


def test_commands_that_are_none_are_told_and_nothing_is_sent(project):
    chat = at_prompt(Terminal("chat")).type("/nwe\r").until("did you mean '/new'?")
    at_prompt(chat).type("/session\r").until("no conversation yet")
    at_prompt(chat).type("/session x\r").until("no session 'x'")
    at_prompt(chat).type("/help\r").until("/quit")
    assert at_prompt(chat).type("\x04").end() == 0
    assert json.loads(oracle("runs", "--json").stdout) == []


def test_from_a_pipe_each_line_is_a_question(project):
    with model_serving(says("One."), says("Two.")) as (env, server):
        result = oracle("chat", "-q", stdin=b"hello\n\nthanks!\n", env=env)
    assert (result.returncode, result.stdout) == (0, b"One.\nTwo.\n")
    assert "One." in json.dumps(server.requests[1].body)


def test_it_goes_on_with_a_session(project):
    with model_serving(says("First."), says("Second.")) as (env, server):
        oracle("ask", "hello", env=env)
        result = oracle("chat", "--session", "last", stdin=b"thanks!\n", env=env)
    assert b": hello\n" in result.stderr
    assert "First." in json.dumps(server.requests[1].body)

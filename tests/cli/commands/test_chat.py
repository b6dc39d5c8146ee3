"""`oracle chat` from a pipe. A terminal: `tests/cli/terminal/test_chat_terminal.py`."""

import json
from types import SimpleNamespace

import pytest

from oracle.cli.terminal import chat as chat_module
from oracle.cli.terminal.chat_commands import COMMANDS
from tests.cli.processes import QUESTION, make_project, model_serving, oracle, says, searches


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(make_project(tmp_path))
    return tmp_path


def piped(*lines, options=("-q",), **given):
    return oracle("chat", *options, stdin="".join(f"{line}\n" for line in lines).encode(), **given)


def sent_to(server):
    return [json.dumps(request.body) for request in server.requests]


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
    assert problem.endswith("; the chat goes on with embedded")
    assert switched == "oracle: model openai:test"
    assert result.returncode != 0


def test_advice_in_a_chat_can_be_followed_there(project):
    result = piped("/model sonnet", options=())
    assert result.stderr.decode().splitlines()[-1] == (
        "oracle: there is no key for anthropic: `oracle keys set anthropic` in another terminal "
        "adds one; `/model embedded` needs no key; the chat goes on with embedded"
    )


def test_a_limit_in_a_chat_is_raised_by_starting_again(project):
    with model_serving(searches("Looking.")) as (env, _):
        result = piped(QUESTION, options=("--max-turns", "1"), env=env)
    assert b"; `oracle chat --session last --max-turns N` allows more\n" in result.stderr


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

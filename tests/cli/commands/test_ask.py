"""`oracle ask` on pipes: what scripts get."""

import json
import os
import re
import signal as signals

import pytest

from oracle.models.stream_chunk import OracleStreamChunk
from oracle.testing.servers import Reply, Stall, openai
from tests.cli.processes import (
    QUESTION,
    make_project,
    model_serving,
    oracle,
    says,
    searches,
)
from tests.processes import DEVNULL, ORACLE, PIPE, Process

ANSWER = "After **30 minutes**:\n\n```python\nMAX_IDLE = 1800\n```\n\nSee `session.py:1`."


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(make_project(tmp_path))
    return tmp_path


def test_a_pipe_gets_the_answer_and_a_newline_and_no_draft(project):
    with model_serving(searches("I look for it."), says(ANSWER)) as (env, _):
        result = oracle("ask", QUESTION, env=env)
    assert result.stdout.decode() == f"{ANSWER}\n"
    line = r"sources: session\.py:1 · \d+\.\d s · 36 tokens\n"
    assert result.returncode == 0
    assert re.fullmatch(line, result.stderr.decode())


def test_quiet_says_nothing_but_the_answer(project):
    result = oracle("ask", "--quiet", QUESTION)
    assert result.stdout.startswith(b"The best match is `session.py:1`")
    assert (result.returncode, result.stderr) == (0, b"")


def test_verbose_tells_tools_signals_drafts_and_the_ledger(project):
    with model_serving(searches("I look for it."), says(ANSWER)) as (env, _):
        result = oracle("ask", "-v", QUESTION, env=env)
    kinds = [line.split()[0] for line in result.stderr.decode().splitlines()]
    assert [kind for kind in kinds if kind != "question"] == [
        *("note", "model", "signal", "draft", "tool", "→", "model", "signal"),
        *("sources:", "answered"),
    ]
    assert "waiting for the model" in result.stderr.decode()
    assert "2 turns · 1 tool call · 36 tokens" in result.stderr.decode()
    assert b"\x1b" not in result.stderr


def test_json_is_a_chunk_a_line_and_nothing_else(project):
    with model_serving(searches("I look for it."), says(ANSWER)) as (env, _):
        result = oracle("ask", "--json", QUESTION, env=env)
    chunks = [OracleStreamChunk.from_dict(json.loads(line)) for line in result.stdout.splitlines()]
    assert (chunks[-1].type, chunks[-1]["answer"]) == ("done", ANSWER)
    assert {chunk.type.value for chunk in chunks} >= {"content", "tool_call", "signal", "turn_end"}


def test_trace_prints_the_statuses_of_the_tree(project):
    result = oracle("ask", "--quiet", "--trace", QUESTION)
    lines = result.stderr.decode().splitlines()
    assert any(line.startswith("success") and "/turns/" in line for line in lines)


def test_trace_puts_the_statuses_into_json_as_well(project):
    result = oracle("ask", "--quiet", "--json", "--trace", QUESTION)
    chunks = [json.loads(line) for line in result.stdout.splitlines()]
    assert "node" in {chunk["type"] for chunk in chunks}
    assert chunks[-1]["type"] == "done"


def test_words_need_no_quotes(project):
    result = oracle("ask", "--json", "where", "is", "MAX_IDLE")
    run = json.loads(oracle("runs", "--json").stdout)[0]
    assert (result.returncode, run["question"]) == (0, "where is MAX_IDLE")


# -- how it ends -----------------------------------------------------------------------------------

ENDINGS = {
    "partial": (says("Half of it.", type_="partial_answer", missing="the rest"), 3, "the rest"),
    "key": (openai.bad_key(), 78, "export ORACLE_MODEL_KEY_VARIABLE=NAME"),
    "unknown": (openai.unknown_model("test"), 78, "has no model 'test'"),
    "broken": (Reply(status=400, body=[b"{}"]), 78, "rejected"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_an_ending_has_its_exit_code_and_says_why(project, name):
    reply, code, why = ENDINGS[name]
    with model_serving(reply) as (env, _):
        result = oracle("ask", "hello", env=env)
    assert result.returncode == code
    assert why in result.stderr.decode()
    assert (result.stdout != b"") == (code == 3)


def test_a_server_that_is_away_ends_with_69(project):
    env = {"ORACLE_MODEL_NAME": "openai:test", "ORACLE_MODEL_BASE_URL": "http://127.0.0.1:9/v1"}
    result = oracle("ask", QUESTION, env=env)
    assert (result.returncode, result.stdout) == (69, b"")
    assert b"oracle: cannot reach openai:test at http://127.0.0.1:9/v1" in result.stderr


def test_turns_that_are_used_up_end_with_3_and_what_was_found(project):
    with model_serving(searches("Looking."), searches("Looking.")) as (env, _):
        result = oracle("ask", "--max-turns", "2", QUESTION, env=env)
    assert result.returncode == 3
    assert b"not complete, because the limit of turns was reached" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["ask"], 2, "the question is empty"),
        (["ask", "  "], 2, "the question is empty"),
        (["ask", "-q", "-v", "x"], 2, "contradict"),
        (["ask", "--max-turns", "many", "x"], 2, "--max-turns"),
        (["ask", "--timeout", "inf", "x"], 2, "--timeout is inf; write a number from 0 to 1,000"),
        (["ask", "--max-cost", "-1", "x"], 2, "--max-cost"),
        (["ask", "--model", "gpt", "x"], 78, "could be openai:gpt-"),
        (["ask", "--model", "anthropic:x", "x"], 78, "set ANTHROPIC_API_KEY"),
        (["ask", "--session", "nope", "x"], 2, "no session 'nope'"),
        (["ask", "--session", "last", "x"], 2, "there are no sessions yet"),
    ],
)
def test_what_cannot_be_used_is_told_in_a_line(project, arguments, code, why):
    result = oracle(*arguments)
    assert (result.returncode, result.stdout) == (code, b"")
    assert why in result.stderr.decode()
    assert result.stderr.startswith(b"oracle: ")
    assert result.stderr.count(b"\n") == 1


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_reader_that_is_gone_ends_it_with_141(project, flags):
    with Process(
        [*ORACLE, "ask", "-q", *flags, QUESTION],
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_ctrl_c_keeps_what_there_is_and_exits_130(project):
    stalling = Reply(body=[*openai.beginning(), *openai.events(openai.text("So far. ")), Stall()])
    with model_serving(stalling) as (env, server):
        process = Process(
            [*ORACLE, "ask", "--json", QUESTION],
            env={**os.environ, **env},
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
        )
        with process:
            while b"So far" not in process.stdout.readline():
                pass
            process.send_signal(signals.SIGINT)
            *_, done = process.stdout
    assert process.returncode == 130
    assert json.loads(done)["answer"].startswith("So far. […]")
    assert json.loads(done)["stop_reason"] == "cancelled"
    assert server.left.is_set()


# -- what goes with it -----------------------------------------------------------------------------


def test_what_is_piped_in_goes_with_the_question(project):
    with model_serving(says("It is safe.")) as (env, server):
        result = oracle("ask", "is this safe?", stdin=b"- old = 1\n+ new = 2\n", env=env)
    assert result.stdout == b"It is safe.\n"
    assert "+ new = 2" in json.dumps(server.requests[0].body)


def test_a_session_goes_on_by_its_name_or_as_the_last(project):
    with model_serving(says("First."), says("Second."), says("Third.")) as (env, server):
        first = oracle("ask", "hello", env=env)
        second = oracle("ask", "--session", "last", "thanks!", env=env)
        (session,) = json.loads(oracle("sessions", "list", "--json").stdout)
        third = oracle("ask", "--session", session["id"][:6], "hello again", env=env)
    answers = [result.stdout for result in (first, second, third)]
    assert answers == [b"First.\n", b"Second.\n", b"Third.\n"]
    sent = json.dumps(server.requests[2].body)
    assert all(text in sent for text in ("hello", "First.", "thanks!", "Second."))
    (session,) = json.loads(oracle("sessions", "list", "--json").stdout)
    assert session["exchanges"] == 3


def test_dry_run_writes_nothing(project):
    note = ("write_note", '{"title": "Tea", "content": "Tea is green."}')
    writing = says(type_="need_turn", reason="write it", calls=[note])
    order = "Write a note named Tea that says that tea is green"
    for flags, is_written in ((["--dry-run"], False), ([], True)):
        with model_serving(writing, says("There.")) as (env, _):
            oracle("ask", *flags, order, env=env)
        assert (project / "notes").exists() == is_written


WANTS_TO_WRITE = says(type_="need_capability", capability="write_note", reason="keep it")


@pytest.mark.parametrize(("flags", "is_granted"), [([], False), (["--yes"], True)])
def test_where_nobody_can_answer_it_is_no_unless_yes_was_given(project, flags, is_granted):
    with model_serving(WANTS_TO_WRITE, says("Then not.")) as (env, server):
        oracle("ask", *flags, "hello there", env=env)
    offered = [tool["function"]["name"] for tool in server.requests[1].body.get("tools", [])]
    assert ("write_note" in offered) == is_granted


# -- where it is kept ------------------------------------------------------------------------------


def test_outside_of_a_project_it_is_kept_in_the_state_of_the_user(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    early = oracle("runs", env=env)
    assert (early.returncode, early.stdout) == (2, b"")
    assert b"nothing was asked outside of projects yet; go to a project, make" in early.stderr
    result = oracle("ask", "-v", "hello", env=env)
    assert f"is kept in {tmp_path}/state/oracle\n" in result.stderr.decode()
    assert (tmp_path / "state" / "oracle" / "oracle.db").exists()
    (run,) = json.loads(oracle("runs", "--json", env=env).stdout)
    assert (run["question"], run["stop_reason"]) == ("hello", "answered")
    for command in (["audit"], ["purge", "--older-than", "1d", "--yes"], ["sessions", "list"]):
        assert oracle(*command, env=env).returncode == 0
    for command in (["index"], ["search", "hello"]):
        needy = oracle(*command, env=env)
        assert (needy.returncode, b"is not in a project" in needy.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_outside_of_projects_each_folder_has_its_own_conversations(tmp_path, monkeypatch):
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    for name in ("private", "other"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "private")
    oracle("ask", "hello", env=env)
    monkeypatch.chdir(tmp_path / "other")
    continued = oracle("ask", "--session", "last", "thanks", env=env)
    assert (continued.returncode, continued.stdout) == (2, b"")
    assert b"there are no sessions of this folder yet" in continued.stderr
    for command in (["runs"], ["sessions", "list"]):
        assert json.loads(oracle(*command, "--json", env=env).stdout) == []
        (listed,) = json.loads(oracle(*command, "--json", "--all", env=env).stdout)
        assert listed["project"] == str(tmp_path / "private")
    monkeypatch.chdir(tmp_path / "private")
    (own,) = json.loads(oracle("sessions", "--json", env=env).stdout)
    assert (own["title"], own["ended"], own["money"]) == ("hello", "answered", 0)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_letters_that_the_output_has_not_are_escaped(project, encoding):
    with model_serving(says("Tee – 茶")) as (env, _):
        result = oracle("ask", "-q", "hello", env={**env, "PYTHONIOENCODING": encoding})
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.endswith(b"\\u8336\n")


def test_a_question_needs_no_command_and_an_attached_file_is_a_source(project):
    """Through the whole command: the model gets the lines, and the sources name them."""
    with model_serving(says("After 30 minutes: session.py:1.")) as (env, server):
        result = oracle("-f", "session.py", "When", "does", "it", "expire?", env=env)
    assert result.stdout.decode() == "After 30 minutes: session.py:1.\n"
    assert result.returncode == 0
    assert result.stderr.decode().startswith("sources: session.py:1 · ")
    assert "1  MAX_IDLE = 1800" in str(server.requests[0].body)


def test_an_attached_file_that_does_not_fit_is_not_cut_in_silence(project):
    """An answer about a part of a file must not look like one about all of it."""
    (project / "long.py").write_text("".join(f"line_{n} = {n}\n" for n in range(9_000)))
    with model_serving(says("It counts.")) as (env, server):
        env["ORACLE_MODEL_CONTEXT_WINDOW"] = "32000"
        result = oracle("ask", "-f", "long.py", "what is this?", env=env)
    assert "4500  line_4499" not in str(server.requests[0].body)
    assert "does not fit, so a part of it was left out" in result.stderr.decode()


def test_a_mistyped_command_and_a_refused_file_are_one_line_each(project):
    (project / "x.png").write_bytes(b"x")
    for arguments, words in (
        (["sesions", "list"], "did you mean 'sessions'"),
        (["login"], 'oracle "what is login?"'),
        (["what is in @x.png?"], "'x.png' is an image"),
    ):
        result = oracle(*arguments)
        assert (result.returncode, result.stdout) == (2, b"")
        assert words in result.stderr.decode()
        assert result.stderr.decode().count("\n") == 1

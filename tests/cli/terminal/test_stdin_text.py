"""What is piped in: read to its end, and nothing that is no text."""

import json
import os
import pty
import subprocess
import sys

import pytest

from oracle.cli.terminal.stdin_text import MOST_BYTES, as_text, is_piped, piped_text
from oracle.errors import InputError
from tests.cli.processes import make_project, model_serving, oracle, says
from tests.tables import each_row


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(make_project(tmp_path))
    return tmp_path


@each_row(
    ("data", "text"),
    [
        (b"", ""),
        (b" \n\n", ""),
        (b"- a\n+ b\n", "- a\n+ b\n"),
        ("\ufeffTee – 茶\n".encode(), "Tee – 茶\n"),
        (b"+ one line of latin-1: caf\xe9\n", "+ one line of latin-1: caf\ufffd\n"),
    ],
)
def test_text_is_taken_as_it_is(data, text):
    assert as_text(data) == text


def test_up_to_a_tenth_of_the_text_may_be_unreadable():
    assert as_text(b"nine byte\xff") == "nine byte\ufffd"
    with pytest.raises(InputError, match="iconv"):
        as_text(b"eight by\xff")


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"\x89PNG\r\n\0\0", "binary"), ("Grüße".encode("utf-16"), "binary"), (b"\xff" * 9, "iconv")],
)
def test_what_is_no_text_is_refused_with_a_way_out(data, why):
    with pytest.raises(InputError, match=why):
        as_text(data)


@pytest.mark.parametrize(
    ("data", "why"), [(b"\0", b"binary"), (b"a" * (MOST_BYTES + 1), b"more than 500,000 bytes")]
)
def test_the_command_refuses_it_with_2(project, data, why):
    result = oracle("ask", "hello", stdin=data)
    assert (result.returncode, result.stdout) == (2, b"")
    assert why in result.stderr


NOTHING = b"oracle: nothing was piped in"


def test_an_empty_pipe_is_noticed_and_the_model_is_informed(project):
    with model_serving(says("There is nothing to judge.")) as (env, server):
        result = oracle("ask", "is this safe?", stdin=b"", env=env)
    assert result.stderr.startswith(NOTHING)
    assert result.stdout == b"There is nothing to judge.\n"
    asked = server.requests[0].body["messages"][-1]["content"]
    assert "is this safe?" in asked
    assert "the pipe was empty" in asked


def test_a_run_with_an_empty_pipe_is_replayed_exactly(project):
    oracle("ask", "is this safe?", stdin=b" \n")
    (run,) = json.loads(oracle("runs", "--json").stdout)
    assert oracle("replay", run["id"]).returncode == 0


@pytest.mark.parametrize("kind", ["file", "null", "terminal"])
def test_only_a_pipe_or_a_file_can_be_empty(kind, tmp_path, monkeypatch):
    (tmp_path / "empty").touch()
    ours, theirs = pty.openpty()
    opened = {"file": tmp_path / "empty", "null": os.devnull, "terminal": theirs}
    with open(opened[kind], closefd=kind != "terminal") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert piped_text(1.0) == ""
        assert is_piped() is (kind == "file")
    os.close(theirs)
    os.close(ours)


def test_a_pipe_that_nobody_ends_is_told_and_given_up_in_time(project):
    reading, writing = os.pipe()
    result = oracle("ask", "--timeout", "0.5", "hello", stdin=reading)
    os.close(reading)
    os.close(writing)
    assert result.returncode == 2
    assert b"reading stdin until it ends" in result.stderr
    assert b"did not end within 1 s; close the pipe, raise --timeout" in result.stderr


@pytest.mark.parametrize("how", ["exec 0<&-; ", "exec 0</dev/null; "])
def test_a_stdin_that_holds_nothing_is_nothing(project, how):
    command = (
        f'{how}exec "{sys.executable}" -c "from oracle.cli.main import run; run()" ask -q hello'
    )
    result = subprocess.run(["sh", "-c", command], capture_output=True, timeout=300)
    assert (result.returncode, result.stderr) == (0, b"")

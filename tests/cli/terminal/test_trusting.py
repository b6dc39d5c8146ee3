"""A project's own code is asked about once on a terminal, and never run without a yes."""

import pytest

from oracle.cli.terminal.trusting import trust_notice
from oracle.services.own_code.files import find_code
from tests.cli.processes import Terminal, make_project, model_serving, oracle, says
from tests.services.own_code.projects import TOOL, project_with

pytestmark = pytest.mark.extra

QUESTION = "When does the login time out?"
FOUND = "The login times out after 30 minutes."


@pytest.fixture
def project(tmp_path, monkeypatch):
    root = project_with(make_project(tmp_path), tools__tickets=TOOL)
    monkeypatch.chdir(root)
    return root


def test_the_question_names_each_file_with_its_size_and_digest(tmp_path):
    root = project_with(tmp_path / "p", tools__a="x = 1\n", leaves__b="")
    code = find_code(root)
    assert trust_notice(code, code.files).splitlines() == [
        f"{root} has code of its own that would run on this machine, as you:",
        f"- .oracle/tools/a.py: 1 line, 6 bytes, sha256 {code.files[0].digest[:12]}",
        "- .oracle/leaves/b.py: 0 lines, 0 bytes, sha256 e3b0c44298fc",
    ]


def test_a_yes_is_remembered_until_the_file_changes(project):
    terminal = Terminal("ask", QUESTION).until("Trust it? [y/N] ").type("y\n")
    terminal.end()
    assert FOUND in terminal.shown
    again = Terminal("ask", QUESTION)
    again.end()
    assert "Trust it?" not in again.shown
    assert FOUND in again.shown
    (project / ".oracle/tools/tickets.py").write_text(TOOL + "\n")
    changed = Terminal("ask", QUESTION).until("Trust it? [y/N] ").type("n\n")
    changed.end()
    assert "not trusted, so it is not used; `oracle tools trust` changes that" in changed.shown
    assert FOUND not in changed.shown
    refused = oracle("ask", QUESTION)
    assert b"Trust" not in refused.stderr
    assert b"trusted" not in refused.stderr


def test_a_yes_typed_while_it_starts_is_no_answer_and_leaves_no_trace(project):
    terminal = Terminal("ask", QUESTION).until("starting").type("y\n")
    terminal.until("Trust it? [y/N] ").type("\n").end()
    assert "starting…y" not in terminal.shown
    assert "not used now; you will be asked again" in terminal.shown
    assert FOUND not in terminal.shown


def test_enter_and_ctrl_d_decide_nothing_for_good(project):
    for key in ("\n", "\x04"):
        terminal = Terminal("ask", QUESTION).until("Trust it? [y/N] ").type(key)
        terminal.end()
        assert "not used now; you will be asked again" in terminal.shown
        assert FOUND not in terminal.shown


def test_ctrl_c_at_the_question_ends_the_command_and_decides_nothing(project):
    terminal = Terminal("ask", QUESTION).until("Trust it? [y/N] ").type("\x03")
    assert terminal.end() == 130
    assert "Traceback" not in terminal.shown
    Terminal("ask", QUESTION).until("Trust it? [y/N] ").type("y\n").end()


def test_a_file_that_changes_during_a_chat_is_asked_about(project):
    answers = [says("One."), says("Two.")]
    with model_serving(*answers) as (env, _):
        terminal = Terminal("chat", env=env).type("hello\n")
        terminal.until("Trust it? [y/N] ").type("y\n").until("One.")
        (project / ".oracle/tools/tickets.py").write_text(TOOL + "\n")
        terminal.type("hello again\n").until("Trust it? [y/N] ").type("n\n")
        terminal.until("Two.").leave()


def test_in_a_pipe_the_code_is_not_run_and_one_line_says_how_to_trust(project):
    done = oracle("ask", QUESTION)
    lines = done.stderr.decode().splitlines()
    told = [line for line in lines if "trust" in line]
    assert len(told) == 1
    assert "oracle tools trust" in told[0]
    assert FOUND.encode() not in done.stdout

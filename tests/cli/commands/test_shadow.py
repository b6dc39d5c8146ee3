"""`oracle shadow` as a user calls it, and questions that are compared behind the answer."""

import json
import sqlite3
import time

import pytest

from tests.cli.processes import QUESTION, SECONDS, make_project, oracle

EMBEDDED = {"ORACLE_MODEL_NAME": "embedded"}


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path)


def call(project, *arguments, **env):
    result = oracle(*arguments, cwd=project, env=EMBEDDED | env)
    return result.returncode, result.stdout.decode(), result.stderr.decode()


def reports_in(project):
    with sqlite3.connect(project / ".oracle/oracle.db") as database:
        return database.execute("SELECT count(*) FROM shadow_reports").fetchone()[0]


def test_a_run_is_compared_and_the_gate_decides(project):
    assert call(project, "ask", QUESTION)[0] == 0
    code, output, errors = call(project, "shadow", "run")
    assert (code, errors) == (0, "")
    assert "1 question, model embedded" in output
    assert "needless tool calls" in output
    code, output, _ = call(project, "shadow", "gate", "--runs", "1", "--json")
    gate = json.loads(output)
    assert code == (0 if gate["passed"] else 1)
    assert {row["measure"] for row in gate["measures"]} >= {"tool calls", "seconds, median"}
    assert len(call(project, "runs")[1].splitlines()) == 2


def test_a_run_and_a_question_count_once(project):
    for _ in range(2):
        call(project, "ask", QUESTION)
        call(project, "shadow", "run")
    call(project, "shadow", "run")
    output = call(project, "shadow", "report")[1]
    assert output.startswith("2 runs of 1 question, model embedded, older comparisons of the same")
    code, output, errors = call(project, "shadow", "gate", "--runs", "3")
    assert (code, output) == (5, "")
    assert errors.startswith("oracle: 2 comparisons of the 3 that are needed")


def test_a_shadow_that_broke_down_is_named_and_not_counted(project):
    call(project, "ask", QUESTION)
    call(project, "shadow", "run")
    with sqlite3.connect(project / ".oracle/oracle.db") as database:
        database.execute(
            "UPDATE shadow_reports SET body = "
            "json_set(body, '$.baseline.stop_reason', 'model_unavailable')"
        )
    code, output, errors = call(project, "shadow", "gate", "--runs", "1")
    assert (code, output) == (5, "")
    assert "a loop broke down (tree: answered, plain loop: model unavailable)" in errors
    (report,) = json.loads(call(project, "shadow", "report", "--json")[1])
    assert report["is_counted"] is False


def test_another_model_than_that_of_the_run_is_refused(project):
    call(project, "ask", QUESTION)
    other = {"ORACLE_MODEL_NAME": "openai:x", "ORACLE_MODEL_BASE_URL": "http://127.0.0.1:9/v1"}
    code, output, errors = call(project, "shadow", "run", OPENAI_API_KEY="k", **other)
    assert (code, output) == (2, "")
    assert "was answered by embedded, and the model here is openai:x" in errors
    step = errors.split("`")[1].split()
    assert call(project, *step[1:], OPENAI_API_KEY="k", **other)[0] == 0


def test_too_few_comparisons_have_an_exit_code_of_their_own(project):
    call(project, "ask", QUESTION)
    code, output, errors = call(project, "shadow", "gate", "--runs", "2")
    assert (code, output) == (5, "")
    assert errors.startswith("oracle: 0 comparisons of the 2 that are needed; ask more with ")


def test_without_comparisons_the_report_says_how_to_get_some(project):
    call(project, "ask", QUESTION)
    code, output, errors = call(project, "shadow", "report")
    assert (code, output) == (0, "")
    assert errors.startswith("oracle: no comparisons yet; `oracle shadow run` compares a run")
    assert call(project, "shadow", "report", "--html", "x.html")[0] == 2


def test_the_page_needs_nothing_from_outside(project):
    call(project, "ask", f"{QUESTION} <script>alert(1)</script>")
    call(project, "shadow", "run")
    assert call(project, "shadow", "report", "--html", "report.html")[0] == 0
    page = (project / "report.html").read_text()
    assert "<svg" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert call(project, "shadow", "report", "--html", "no/such/folder.html")[0] == 2


def test_in_shadow_mode_a_question_is_compared_by_a_process_of_its_own(project):
    code, output, errors = call(project, "ask", QUESTION, ORACLE_USE_BT="shadow")
    assert code == 0
    assert "session.py:1" in output
    assert "shadow" not in errors
    deadline = time.monotonic() + SECONDS
    while reports_in(project) == 0:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert call(project, "shadow", "report")[1].startswith("1 question")


def test_the_plain_loop_can_serve(project):
    assert call(project, "ask", QUESTION, ORACLE_USE_BT="false")[0] == 0
    _, shown, _ = call(project, "run", "show", "--json")
    assert json.loads(shown)["run"]["tree"] == "baseline"
    assert call(project, "replay")[0] == 0


@pytest.mark.parametrize("value", ["maybe", "2"])
def test_another_loop_is_an_error(project, value):
    code, _, errors = call(project, "ask", QUESTION, ORACLE_USE_BT=value)
    assert code == 78
    assert "ORACLE_USE_BT: loop.use_bt is" in errors
    assert "use true or false or shadow" in errors


def test_a_projects_file_cannot_choose_another_loop_unless_it_is_trusted(project):
    (project / "oracle.toml").write_text("[loop]\nuse_bt = 'shadow'\n")
    _, _, errors = call(project, "ask", QUESTION)
    assert "loop.use_bt = " in errors
    assert reports_in(project) == 0

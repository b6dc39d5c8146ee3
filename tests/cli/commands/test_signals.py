"""`oracle signals report` as a user calls it."""

import json

import pytest

from oracle.evaluation.adherence import Adherence
from oracle.evaluation.agent_report import append_outcome
from oracle.evaluation.agent_runs import Outcome
from oracle.evaluation.calibration import calibrations_of
from oracle.evaluation.signals_page import signals_page
from oracle.services.comparison.facts import LoopFacts
from tests.cli.processes import QUESTION, make_project, oracle

EMBEDDED = {"ORACLE_MODEL_NAME": "embedded"}


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path)


def report(project, *arguments):
    result = oracle("signals", "report", *arguments, cwd=project, env=EMBEDDED)
    return result.returncode, result.stdout.decode(), result.stderr.decode()


def answer(question, confidence, *, right):
    facts = LoopFacts(stop_reason="answered", answer="x")
    known = {"question": question, "loop": "tree", "model": "m", "repeat": 0, "complete": 1.0}
    return Outcome(facts=facts, is_right=right, confidence=confidence, **known)


def test_before_the_first_question_it_says_what_to_do(project):
    code, output, errors = report(project)
    assert (code, output) == (0, "")
    assert errors.startswith(
        "oracle: no signals yet; ask a question with a language model (`oracle ask`)"
    )
    assert report(project, "--html", "x.html")[0] == 2
    assert json.loads(report(project, "--json")[1]) == {"models": [], "calibration": []}


def test_each_model_that_was_asked_is_listed(project):
    oracle("ask", QUESTION, cwd=project, env=EMBEDDED)
    code, output, errors = report(project, "--since", "1h", "--last", "5")
    assert code == 0
    assert "embedded     1" in output
    assert "took it as the answer" in output
    assert "oracle eval agent --results FILE" in errors
    (model,) = json.loads(report(project, "--json")[1])["models"]
    assert (model["model"], model["malformed"], model["missing"]) == ("embedded", 0, 0)
    assert model["valid"] == model["responses"] > 0
    assert report(project, "--model", "other")[2].startswith("oracle: no runs match")


def test_calibration_comes_from_results(project):
    append_outcome(project / "r.jsonl", answer("a", 0.9, right=True))
    append_outcome(project / "r.jsonl", answer("b", 0.9, right=False))
    code, output, errors = report(project, "--results", "r.jsonl")
    assert (code, errors) == (0, "")
    assert "0.9 to 1.0        2             0.90  0.50 (0.09 to 0.91)" in output
    assert "0.40" in output
    code, _, errors = report(project, "--results", "none.jsonl")
    assert code == 2
    assert "there is no file none.jsonl; `oracle eval agent --results` writes one" in errors


def test_calibration_needs_no_project(tmp_path):
    append_outcome(tmp_path / "r.jsonl", answer("a", 0.9, right=True))
    result = oracle("signals", "report", "--results", "r.jsonl", cwd=tmp_path, env=EMBEDDED)
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"0.9 to 1.0" in result.stdout


def test_the_page_needs_nothing_from_outside_and_names_are_only_text():
    counts = dict.fromkeys(("runs", "responses", "valid", "malformed", "missing"), 1)
    faults = dict.fromkeys(("second", "misplaced", "not_believed"), 0)
    named = {"types": {}, "problems": {"<b>": 1}, "reactions": {("stuck", "gave up"): 1}}
    model = Adherence(model="<script>", **counts, **faults, **named)
    page = signals_page([model], [*calibrations_of([answer("a", 0.8, right=True)])])
    assert page.count("<svg") == 2
    assert "<script" not in page
    assert "<b>" not in page
    assert "http" not in page

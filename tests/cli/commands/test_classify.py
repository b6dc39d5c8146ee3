import json

from typer import Typer
from typer.testing import CliRunner

from oracle.cli.commands.classify import classify
from oracle.cli.commands.evaluate import app as evaluate_app


def run(*arguments, app=None):
    if app is None:
        app = Typer()
        app.command()(classify)
    return CliRunner().invoke(app, arguments)


def test_the_text_shows_type_needs_and_evidence():
    result = run("what did we decide about caching?")
    assert result.exit_code == 0
    assert result.stdout.startswith("documentation  (confidence ")
    assert "needs    vault" in result.stdout
    assert "what did we decide" in result.stdout


def test_json_is_one_document_with_the_fields_of_a_classification():
    found = json.loads(run("what did we decide about caching?", "--json").stdout)
    assert found["query_type"] == "documentation"
    assert (found["needs_code"], found["needs_vault"], found["needs_web"]) == (False, True, False)
    assert sum(found["probabilities"].values()) > 0.99


def test_eval_prints_every_measure_for_both_kinds():
    said = run("classify", app=evaluate_app).stdout
    for heading in ("single questions, test part", "conversations, test part"):
        assert heading in said
    for measure in (
        "accuracy",
        "macro-F1",
        "precision",
        "labelled / given",
        "confidence",
        "breadth",
    ):
        assert said.count(measure) >= 2


def test_eval_lists_mistakes_on_demand():
    assert " taken for " in run("classify", "--mistakes", app=evaluate_app).stdout


def test_an_unknown_part_is_refused():
    result = run("classify", "--part", "other", app=evaluate_app)
    assert result.exit_code == 2

import json

from typer import Typer
from typer.testing import CliRunner

from oracle.cli.commands.classify import classify


def run(*arguments):
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

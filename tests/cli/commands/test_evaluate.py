"""`oracle eval`: what is measured, and how the reports look."""

import pytest
from typer.testing import CliRunner

from oracle.cli.commands.evaluate import app, render_retrieval
from oracle.errors import InputError
from oracle.evaluation import labelled
from oracle.evaluation.retrieval import LabelledQuestion, evaluate
from oracle.services.bert.bert import open_readers
from oracle.services.installing import install_command
from oracle.testing import WordEncoder


def run(*arguments):
    return CliRunner().invoke(app, arguments)


@pytest.mark.extra
def test_eval_prints_every_measure_for_both_kinds():
    said = run("classify").stdout
    for heading in ("single questions, test part", "conversations, test part"):
        assert heading in said
    for measure in (
        "accuracy",
        "macro-F1",
        "PRECISION",
        "LABELLED / GIVEN",
        "CONFIDENCE",
        "breadth",
    ):
        assert said.count(measure) >= 2


@pytest.mark.extra
def test_eval_lists_mistakes_on_demand():
    assert " taken for " in run("classify", "--mistakes").stdout


def test_eval_of_the_fallback_shows_what_each_state_was_taken_for():
    said = run("fallback", "--mistakes").stdout
    assert "heuristic" in said
    assert "BERT" not in said
    assert " taken for " in said


@pytest.mark.extra
@pytest.mark.parametrize("command", ["classify", "fallback"])
def test_eval_with_bert_compares_three_ways(monkeypatch, command):
    readers = open_readers(WordEncoder)
    monkeypatch.setattr("oracle.services.bert.bert.open_readers", lambda: readers)
    # The table is what counts here, and a part of the questions makes the same one.
    for name in ("singles", "conversations", "broad_and_narrow"):
        every = getattr(labelled, name)
        monkeypatch.setattr(labelled, name, lambda part, every=every: every(part)[::8])
    said = run(command, "--bert", "--part", "test").stdout
    assert all(way in said for way in ("BERT", "both", "RIGHT", "95 % MS"))


def test_eval_without_bert_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr("oracle.services.bert.minilm.is_installed", lambda: False)
    problem = run("fallback", "--bert").exception
    assert isinstance(problem, InputError)
    assert str(problem) == f"BERT is not installed ({install_command('bert')})"


def test_an_unknown_part_is_refused():
    result = run("classify", "--part", "other")
    assert result.exit_code == 2


def question(text, *files, writer="K", kind="vault"):
    return LabelledQuestion(
        source="notebook", question=text, files=frozenset(files), writer=writer, kind=kind
    )


@pytest.mark.extra
def test_the_report_has_a_line_for_each_way_by_source_by_writer_and_in_all():
    report = evaluate(
        [
            question("what does amber mean", "words-we-use.md"),
            question("why cookies and not JWT", "adr/0006-cookies-not-jwt.md", writer="J"),
            question("dark theme", "threads/web-app.md", kind="threads"),
        ]
    )
    lines = render_retrieval("questions", report).splitlines()
    assert lines[0] == "questions: 3"
    ratios = [line for line in lines if "index to BM25" in line]
    # Where the baseline finds nothing there is no ratio.
    rated = [line.partition(", index")[0] for line in ratios]
    assert rated == ["vault, writer J", "threads, writer K"]
    table = [line for line in lines[2:] if line not in ratios]
    named = [line[:19].strip() for line in table if line[:19].strip()]
    sources = ["notebook, vault", "notebook, threads"]
    groups = ["vault, writer K", "vault, writer J", "threads, writer K"]
    assert named == [*sources, *groups, "all"]
    assert sum("BM25, files" in line for line in lines) == len(named)


def test_misses_are_listed_with_the_question_and_what_was_found_instead():
    report = evaluate([question("dark theme", "labels-and-printers.md")])
    assert "notebook, vault: 'dark theme' is answered by labels-and-printers.md" in (
        render_retrieval("questions", report, misses=True)
    )


@pytest.mark.extra
def test_the_criteria_are_printed_for_the_models_that_were_asked():
    said = run("agent", "--simulated", "competent", "--every", "81", "--criteria").stdout
    for number in range(1, 11):
        assert said.count(f"SC-{number:03}") == 1
    assert "simulated: competent" in said
    assert "not measured" in said

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from oracle.cli.commands.prompt import prompt
from oracle.models.query_classification import QueryClassification, QueryType
from oracle.services.prompting.composer import compose_prompt

APP = typer.Typer()
APP.command()(prompt)


@pytest.fixture(autouse=True)
def _in_an_empty_project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_prompt_goes_to_stdout_and_its_tokens_to_stderr() -> None:
    result = CliRunner().invoke(APP, ["What did we decide?", "--type", "documentation"])
    composed = compose_prompt(QueryClassification.of_type(QueryType.DOCUMENTATION))
    assert result.stdout == composed.text
    heading, *rows = [line.split() for line in result.stderr.splitlines()]
    assert heading == ["SEGMENT", "TOKENS"]
    assert rows[:4] == [[id_, f"{n:,}"] for id_, n in composed.token_estimates.items()]
    assert rows[4] == ["prompt", f"{composed.total_tokens:,}"]
    assert rows[5][0] == "question"


def test_an_empty_question_is_refused() -> None:
    result = CliRunner().invoke(APP, [" "])
    assert str(result.exception).startswith("the question is empty; write one: oracle prompt")


def test_json_has_prompt_and_tokens_on_stdout() -> None:
    result = CliRunner().invoke(APP, ["Why?", "--json", "--large-context", "--previous-errors"])
    document = json.loads(result.stdout)
    assert [segment["id"] for segment in document["segments"]][-2:] == [
        "summarization",
        "error-recovery",
    ]
    assert document["prompt_tokens"] == sum(part["tokens"] for part in document["segments"])
    assert document["query"] == "Why?"
    assert result.stderr == ""


def test_the_segments_of_the_project_are_used() -> None:
    folder = Path(".oracle/prompts")
    folder.mkdir(parents=True)
    (folder / "tone.md").write_text("---\nid: tone\n---\nAnswer in rhymes.\n")
    result = CliRunner().invoke(APP, ["Why?"])
    assert result.stdout.endswith("\n\nAnswer in rhymes.\n")


def test_they_are_found_from_a_folder_below_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(".oracle/prompts")
    folder.mkdir(parents=True)
    (folder / "tone.md").write_text("---\nid: tone\n---\nAnswer in rhymes.\n")
    Path("oracle.toml").touch()
    Path("src/deep").mkdir(parents=True)
    monkeypatch.chdir("src/deep")
    result = CliRunner().invoke(APP, ["Why?"])
    assert result.stdout.endswith("\n\nAnswer in rhymes.\n")


def test_a_setting_names_another_folder_and_the_flag_wins_over_it() -> None:
    for folder, words in (("words", "Answer in rhymes."), ("other", "Answer in prose.")):
        Path(folder).mkdir()
        (Path(folder) / "tone.md").write_text(f"---\nid: tone\n---\n{words}\n")
    Path("oracle.toml").write_text("[prompts]\nfolder = 'words'\n")
    assert CliRunner().invoke(APP, ["Why?"]).stdout.endswith("Answer in rhymes.\n")
    flagged = CliRunner().invoke(APP, ["Why?", "--prompts", "other"])
    assert flagged.stdout.endswith("Answer in prose.\n")

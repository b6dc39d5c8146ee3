"""`oracle spend`, and a question that a budget refuses: one clear line."""

import json

import pytest
from typer.testing import CliRunner

from oracle.cli.main import app
from oracle.services.dispatch.commands import Commands
from oracle.services.storage.runs import Runs
from tests.cli import processes
from tests.cli.commands.test_queue import in_database
from tests.cli.processes import model_serving, says


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    (tmp_path / "oracle.toml").touch()
    (tmp_path / "auth.py").write_text("def login():\n    return True\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def oracle(*arguments):
    return CliRunner().invoke(app, arguments)


def rows():
    return json.loads(oracle("spend", "--json").stdout)


def test_a_question_of_the_terminal_counts(monkeypatch):
    monkeypatch.setenv("ORACLE_SPEND_USER_TOKENS_PER_DAY", "1000000")
    calls = [("read_file", '{"path": "auth.py"}')]
    looks = says("Looking.", type_="need_turn", reason="read it", calls=calls)
    with model_serving(looks, says("In `auth.py:1`.")) as (environment, _):
        asked = processes.oracle("ask", "where is the login?", env=environment)
    assert asked.returncode in (0, 3)
    (row,) = [row for row in rows() if row["limit"] is not None]
    assert (row["scope"], row["unit"], row["held"]) == ("user", "tokens", 0)
    assert row["left"] == 1_000_000 - row["spent"]
    (used,) = {row["spent"] for row in rows() if row["unit"] == "tokens"}
    assert used == row["spent"] > 0


def test_an_answer_without_a_language_model_costs_nothing():
    assert oracle("ask", "where is the login?").exit_code in (0, 3)
    assert {row["spent"] for row in rows()} == {0}


def test_a_question_beyond_the_budget_is_refused_in_one_line(monkeypatch):
    monkeypatch.setenv("ORACLE_SPEND_PROJECT_TOKENS_PER_MONTH", "0")
    refused = oracle("ask", "where is the login?")
    assert refused.exit_code == 75
    (line,) = [line for line in refused.stderr.splitlines() if "is used up" in line]
    assert "tokens budget of project" in line
    assert "0 left; it renews at" in line
    assert {row["spent"] for row in rows()} == {0}


def test_a_negative_budget_is_a_mistake_in_the_settings(project):
    (project / "oracle.toml").write_text("[spend]\nuser_money_per_day = -1\n")
    assert oracle("spend").exception.exit_code == 78


def test_a_project_cannot_give_itself_more_than_the_user_allows(project, monkeypatch):
    from oracle.services.settings.resolve import user_settings_file

    file = user_settings_file()
    file.parent.mkdir(parents=True)
    file.write_text("[spend]\nuser_money_per_day = 5\n")
    (project / "oracle.toml").write_text('[spend]\nuser_money_per_day = "off"\n')
    shown = oracle("spend", "--json")
    (row,) = [row for row in json.loads(shown.stdout) if row["limit"] is not None]
    assert row["limit"] == 5
    assert "could cost you more than you allow" in shown.stderr


def test_the_table_shows_what_is_left(monkeypatch):
    monkeypatch.setenv("ORACLE_SPEND_USER_MONEY_PER_DAY", "5")
    table = oracle("spend", "--user", "ann").stdout.splitlines()
    headings = "WHOSE PERIOD COST COST LEFT TOKENS TOKENS LEFT RENEWS (UTC)"
    assert table[0].split() == headings.split()
    assert table[1].split()[:2] == ["user", "ann"]
    assert table[1].split()[3:6] == ["0", "5.0000", "0"]
    assert len(table) == 1 + 2 * 2, "a line for each period of the user and of the project"
    assert "there are no budgets" not in oracle("spend").stderr


def test_the_limits_of_a_run_are_raised_from_the_terminal():
    begun = {"run_id": "r1", "owner": "a", "question": "?", "tree": "t", "at": 1.0}
    in_database(lambda database: Runs(database).begin(**begun))
    said = oracle("queue", "raise", "r1", "--money", "2", "--turns", "50")
    assert said.stderr.strip() == "oracle: run r1 may use 50 turns, 2.0 money"
    (told,) = in_database(lambda database: Commands(database).of_run("r1"))
    assert told[1] == {"raise": {"turns": 50, "money": 2.0}}


@pytest.mark.parametrize("given", [[], ["--turns", "-1"], ["--money", "nan"]])
def test_limits_that_make_no_sense_are_refused(given):
    assert oracle("queue", "raise", "r1", *given).exception.exit_code == 2

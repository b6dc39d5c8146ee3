"""What happens if the journal cannot be written is a setting of the project in question."""

import sqlite3

import pytest

from oracle import Oracle
from oracle.errors import InputError
from oracle.testing import ScriptedModel
from tests.asking import TALK

GOES_ON = "GOING ON WITHOUT A RECORD"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project other than that of the working directory, whose journal cannot be written."""
    folder, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    for each in (folder, elsewhere):
        each.mkdir()
        (each / "oracle.toml").touch()
    monkeypatch.chdir(elsewhere)
    Oracle(project=folder, model=ScriptedModel("It is in auth.py.")).ask_sync(TALK)
    database = sqlite3.connect(folder / ".oracle" / "oracle.db")
    database.execute("DROP TABLE journal")
    database.close()
    return folder


def ask(project):
    return Oracle(project=project, model=ScriptedModel("It is in auth.py.")).ask_sync(TALK)


def test_a_run_stops_before_it_asks_the_model(project, caplog):
    answer = ask(project)
    assert "the journal cannot be written" in answer.text
    assert answer.usage == {}
    assert GOES_ON not in caplog.text


def test_the_project_decides_and_not_the_working_directory(project, caplog, monkeypatch):
    monkeypatch.setenv("ORACLE_TRUST", str(project))
    (project / "oracle.toml").write_text("[journal]\nfailure = 'memory'\n")
    assert ask(project).text == "It is in auth.py."
    assert GOES_ON in caplog.text


def test_the_settings_of_the_working_directory_do_not_count(project, caplog):
    (project.parent / "elsewhere" / "oracle.toml").write_text("[journal]\nfailure = 'memory'\n")
    ask(project)
    assert GOES_ON not in caplog.text


def test_the_environment_wins(project, caplog, monkeypatch):
    monkeypatch.setenv("ORACLE_JOURNAL_FAILURE", "memory")
    assert ask(project).text == "It is in auth.py."
    assert GOES_ON in caplog.text


def test_a_misspelt_value_is_reported(project, monkeypatch):
    monkeypatch.setenv("ORACLE_JOURNAL_FAILURE", "memroy")
    with pytest.raises(InputError, match="'memroy'; use stop or memory"):
        ask(project)

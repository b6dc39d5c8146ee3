"""A notice is shown at most once a day."""

from pathlib import Path

import pytest

from oracle.cli.terminal.notices import NO_MODEL, is_wide, notice_about_model
from oracle.services.project.root import user_folder
from oracle.settings import load_settings
from tests.cli.processes import make_project, oracle


def settings(tmp_path, **flags):
    return load_settings(tmp_path, environment={}, flags={"model.name": flags.get("model")})


def test_that_no_model_is_configured_is_said_once_a_day(tmp_path, monkeypatch):
    chosen = settings(tmp_path)
    monkeypatch.setattr("time.strftime", lambda _: "2026-03-02")
    assert [notice_about_model(chosen) for _ in range(3)] == [NO_MODEL, None, None]
    monkeypatch.setattr("time.strftime", lambda _: "2026-03-03")
    assert notice_about_model(chosen) == NO_MODEL


@pytest.mark.parametrize("model", ["embedded", "openai:gpt-5"])
def test_who_has_chosen_a_model_is_not_told(tmp_path, model):
    assert notice_about_model(settings(tmp_path, model=model)) is None


def test_a_folder_that_holds_everything_is_named_before_the_long_wait(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder, expected in ((tmp_path, True), (Path("/"), True), (Path("/usr"), False)):
        monkeypatch.chdir(folder)
        assert is_wide(None) is expected
    assert not is_wide(tmp_path)
    monkeypatch.chdir(tmp_path)
    result = oracle("ask", "hello")
    told = f"oracle: {tmp_path} is not a project, so all files below it are read"
    assert told in result.stderr.decode()
    monkeypatch.chdir(make_project(tmp_path))
    assert b"is not a project" not in oracle("ask", "hello").stderr


def test_where_nothing_can_be_kept_it_is_said_all_the_same(tmp_path):
    user_folder().parent.mkdir(parents=True)
    user_folder().write_text("a file in the way")
    assert notice_about_model(settings(tmp_path)) == NO_MODEL


def test_the_answer_on_stdout_says_nothing_about_models(tmp_path, monkeypatch):
    monkeypatch.chdir(make_project(tmp_path))
    first, second = (oracle("ask", "hello") for _ in range(2))
    assert f"oracle: {NO_MODEL}\n" in first.stderr.decode()
    assert b"model" not in second.stderr + first.stdout + second.stdout
    assert oracle("ask", "-q", "hello").stderr == b""

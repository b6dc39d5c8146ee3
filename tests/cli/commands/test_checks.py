"""What the doctor looks at, in projects made for it. Nothing here may change what it examines."""

import asyncio
import os
from types import SimpleNamespace

import pytest

from oracle.cli.commands import checks
from oracle.cli.commands.checks import CHECKS, NEED_SETTINGS, examine
from oracle.errors import StoreError
from oracle.services.settings.editing import set_value
from oracle.services.settings.keys import store_key
from oracle.services.settings.resolve import user_settings_file
from oracle.services.storage.database import Database
from oracle.services.storage.migrations import MIGRATIONS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "project").mkdir()
    (tmp_path / "project/oracle.toml").touch()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def found(name, folder, **environment):
    """What one check says: its levels, and its words."""
    findings = [finding for finding in examine(folder, environment) if finding.check == name]
    told = " | ".join(f"{finding.told} -> {finding.next_step}" for finding in findings)
    return [finding.level for finding in findings], told


def test_a_sound_project_has_no_problem_and_nothing_is_made_in_it(folder):
    findings = examine(folder, {})
    assert [finding.check for finding in findings] == list(CHECKS)
    assert not [finding for finding in findings if finding.level == "problem"]
    assert [path.name for path in folder.iterdir()] == ["oracle.toml"]


def test_whatever_is_no_ok_comes_with_a_next_step(folder):
    for finding in examine(folder, {}):
        assert finding.level == "ok" or finding.next_step, finding


def test_outside_of_a_project_the_way_into_one_is_told(tmp_path):
    levels, told = found("project", tmp_path)
    assert levels == ["warning"]
    assert "are kept in" in told
    assert "`oracle init`" in told


def test_with_a_database_elsewhere_no_project_is_needed(tmp_path):
    url = f"sqlite:///{tmp_path}/team.db"
    assert found("project", tmp_path, ORACLE_DATABASE_URL=url)[0] == ["warning"]
    assert found("database", tmp_path, ORACLE_DATABASE_URL=url)[0] == ["ok"]


def test_mistakes_in_settings_are_listed_and_the_rest_is_still_looked_at(folder):
    (folder / "oracle.toml").write_text("[limits]\nturns = 0\ntruns = 1\n")
    findings = examine(folder, {})
    levels, told = found("settings", folder)
    assert levels == ["problem", "problem", "warning"]
    assert "oracle.toml:2:" in told
    assert "oracle.toml:3:" in told
    assert {finding.check for finding in findings} == CHECKS.keys() - NEED_SETTINGS


def test_variables_that_are_not_read_are_named(folder):
    levels, told = found("settings", folder, ORACLE_HOME="/opt", ORACLE_MODEL="x")
    assert levels == ["ok", "warning", "ok"]
    assert "did you mean 'ORACLE_MODEL_NAME'?" in told
    assert "does not read: ORACLE_HOME" in told


def test_a_file_in_the_place_of_the_folder_is_a_problem(folder):
    (folder / ".oracle").touch()
    assert found("folder", folder)[0] == ["problem"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_a_problem_if_the_database_is_in_it(folder):
    (folder / ".oracle").mkdir(mode=0o500)
    assert found("folder", folder)[0] == ["problem"]
    elsewhere = {"ORACLE_DATABASE_URL": f"sqlite:///{folder.parent}/x.db"}
    assert found("folder", folder, **elsewhere)[0] == ["warning"]


def make_database(folder, steps):
    async def make():
        (folder / ".oracle").mkdir()
        async with await Database.open(folder / ".oracle/oracle.db", migrations=steps):
            pass

    asyncio.run(make())


NEWER = [*MIGRATIONS, lambda connection: None]


@pytest.mark.parametrize(
    ("steps", "level", "told"),
    [
        (MIGRATIONS, "ok", "the newest"),
        (MIGRATIONS[:2], "ok", f"from schema 2 to {len(MIGRATIONS)}"),
        (NEWER, "problem", "upgrade oracle"),
    ],
)
def test_the_schema_of_the_database_is_told(folder, steps, level, told):
    make_database(folder, steps)
    levels, words = found("database", folder)
    assert levels == [level]
    assert told in words


def test_a_damaged_database_is_a_problem(folder):
    (folder / ".oracle").mkdir()
    (folder / ".oracle/oracle.db").write_text("no database, but long enough to be read" * 100)
    levels, told = found("database", folder)
    assert levels == ["problem"]
    assert "move the file away" in told


@pytest.mark.parametrize(
    ("environment", "level", "told"),
    [
        ({}, "warning", "no language model is selected"),
        ({"OPENAI_API_KEY": "hush"}, "warning", "`oracle models use sol` selects one"),
        ({"ORACLE_MODEL_BASE_URL": "http://127.0.0.1:1/v1"}, "warning", "use openai:NAME`"),
        ({"ORACLE_MODEL_NAME": "embedded"}, "ok", "embedded, from ORACLE_MODEL_NAME"),
        ({"ORACLE_MODEL_NAME": "claude"}, "problem", "'claude' could be anthropic:claude-"),
        ({"ORACLE_MODEL_NAME": "sonet"}, "problem", "did you mean 'sonnet'?"),
        ({"ORACLE_MODEL_NAME": "anthropic:x"}, "problem", "`oracle keys set anthropic`"),
        ({"ORACLE_MODEL_NAME": "opus-4.1"}, "problem", "anthropic:claude-opus-4-1"),
        (
            {"ORACLE_MODEL_NAME": "anthropic:x", "ANTHROPIC_API_KEY": "hush"},
            "ok",
            "key in ANTHROPIC_API_KEY",
        ),
        ({"ORACLE_MODEL_NAME": "openai:x", "ORACLE_MODEL_KEY_VARIABLE": "MINE"}, "problem", "MINE"),
        (
            {"ORACLE_MODEL_NAME": "openai:x", "ORACLE_MODEL_BASE_URL": "http://127.0.0.1:1/v1"},
            "problem",
            "openai:x at http://127.0.0.1:1/v1: nothing answers there",
        ),
        (
            {"ORACLE_MODEL_NAME": "openai:x", "ORACLE_MODEL_BASE_URL": "https://h.test/v1"},
            "ok",
            "without a key of yours; not contacted",
        ),
        (
            {"ORACLE_MODEL_NAME": "ollama:x", "OLLAMA_BASE_URL": "http://127.0.0.1:1"},
            "problem",
            "ollama does not answer at http://127.0.0.1:1",
        ),
    ],
)
def test_a_model_and_its_key_are_looked_for_and_the_key_is_not_shown(
    folder, environment, level, told
):
    levels, words = found("model", folder, **environment)
    assert levels == [level]
    assert told in words
    assert "hush" not in words


@pytest.mark.parametrize(
    ("environment", "level", "told"),
    [
        ({}, "warning", "set web.provider"),
        ({"ORACLE_WEB_PROVIDER": "searxng"}, "problem", "set web.url"),
        (
            {"ORACLE_WEB_PROVIDER": "searxng", "ORACLE_WEB_URL": "http://127.0.0.1:1"},
            "ok",
            "searxng at http://127.0.0.1:1",
        ),
        ({"ORACLE_WEB_PROVIDER": "tavily"}, "problem", "set TAVILY_API_KEY"),
        ({"ORACLE_WEB_PROVIDER": "brave", "BRAVE_API_KEY": "hush"}, "ok", "brave"),
    ],
)
def test_a_provider_of_the_web_is_told_with_what_it_lacks(folder, environment, level, told):
    levels, words = found("web", folder, **environment)
    assert levels == [level]
    assert told in words
    assert "hush" not in words


def test_broken_prompts_and_trees_are_problems_with_their_place(folder):
    (folder / "oracle.toml").write_text("[prompts]\nfolder='p'\n[trees]\nfolder='t'\n")
    for name, text in (("p/x.md", "---\nid\n---\n"), ("t/x.lua", "BT.tree(")):
        (folder / name).parent.mkdir()
        (folder / name).write_text(text)
    for check, place in (("prompts", "x.md:2"), ("trees", "x.lua:1")):
        levels, told = found(check, folder)
        assert levels == ["problem"]
        assert place in told


def failing(error):
    def check(around):
        yield "ok", "so far", ""
        raise error

    return check


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (StoreError("it is full; free some"), "it is full; free some"),
        (ZeroDivisionError("oops"), "the check failed: ZeroDivisionError: oops"),
    ],
)
def test_a_check_that_fails_is_a_problem_and_the_others_go_on(folder, monkeypatch, error, told):
    monkeypatch.setattr(checks, "CHECKS", {"bad": failing(error), "disk": checks.disk})
    findings = examine(folder, {})
    assert [(finding.check, finding.told) for finding in findings[:2]] == [
        ("bad", "so far"),
        ("bad", told),
    ]
    assert (findings[1].level, findings[2].check) == ("problem", "disk")


@pytest.mark.parametrize(
    ("url", "told"), [("sqlite:///{}/deep/oracle.db", "2.0 GB free"), ("", "12 MB free -> free")]
)
def test_the_disk_is_that_of_the_database(folder, tmp_path_factory, monkeypatch, url, told):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    free = {folder: 12_345_678, elsewhere: 2_000_000_000}
    monkeypatch.setattr(
        checks.shutil, "disk_usage", lambda place: SimpleNamespace(free=free[place])
    )
    environment = {"ORACLE_DATABASE_URL": url.format(elsewhere)} if url else {}
    assert found("disk", folder, **environment)[1].startswith(told)


@pytest.mark.extra
def test_the_users_file_and_stored_keys_are_named(folder):
    set_value(user_settings_file(), "model.name", "openai:gpt-5")
    assert "~/.config/oracle/oracle.toml and " in found("settings", folder)[1]
    assert found("model", folder)[0] == ["problem"]
    assert found("keys", folder)[1].startswith("there are no keys")
    store_key("openai", "hush-hush-hush-hush")
    assert found("keys", folder) == (["ok"], "openai in ~/.config/oracle/keys.toml -> ")
    assert "key in ~/.config/oracle/keys.toml" in found("model", folder)[1]


def test_a_broken_file_of_the_user_is_a_problem_and_the_rest_is_checked(folder):
    set_value(user_settings_file(), "limits.turns", 3)
    user_settings_file().write_text("x = ")
    levels, words = found("settings", folder)
    assert levels == ["problem", "warning"]
    assert words.startswith("~/.config/oracle/oracle.toml:1: ")
    assert found("disk", folder)

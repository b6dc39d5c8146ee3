"""`oracle keys`: a key goes in, and never comes out again on a screen."""

import json

import pytest
from typer.testing import CliRunner

from oracle.cli.main import app
from oracle.services.settings.keys import key_for, keys_file
from tests.cli.processes import Terminal, make_project, model_serving, oracle, says
from tests.tables import each_row

SECRET = "hush-hush-hush-hush-4711"


def keys(*arguments, stdin=None):
    """In this process: what it printed to stdout and to stderr, and the error."""
    result = CliRunner().invoke(app, ["keys", *arguments], input=stdin)
    return result.stdout, result.stderr, result.exception and str(result.exception)


def test_a_key_is_piped_in_listed_and_removed():
    told, why, _ = keys("set", "openai", stdin=f"{SECRET}\n")
    assert told == "the key for openai is kept in ~/.config/oracle/keys.toml\n"
    assert why == "oracle: there is no system keyring, so a private file is used\n"
    assert key_for("openai", {}).value == SECRET
    assert "openai     ~/.config/oracle/keys.toml" in keys("list")[0]
    assert keys("remove", "OPENAI_API_KEY")[0] == (
        "the key for openai is removed from ~/.config/oracle/keys.toml\n"
    )
    assert key_for("openai", {}) is None


def test_the_list_says_where_and_nothing_of_the_key(monkeypatch):
    keys("set", "openai", stdin=SECRET)
    monkeypatch.setenv("BRAVE_API_KEY", SECRET)
    rows = json.loads(keys("list", "--json")[0])
    assert {row["provider"]: row["source"] for row in rows} == {
        "anthropic": None,
        "openai": "file",
        "tavily": None,
        "brave": "variable",
        "ollama": None,
    }
    assert SECRET[:6] not in "".join(map(str, keys("list") + keys("list", "--json")))
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert "OPENAI_API_KEY (another is stored)" in keys("list")[0]
    assert "OPENAI_API_KEY is set and has priority" in keys("set", "openai", stdin=SECRET)[1]


@each_row(
    ("arguments", "stdin", "told"),
    [
        (["set", "openai", SECRET], "", "a key is not given as an argument"),
        (["set", "openai", "--key", SECRET], "", "a key is not given as an argument"),
        (["set", "openai", f"--key={SECRET}"], "", "a key is not given as an argument"),
        (["set", SECRET], "", "there is no such provider; providers: anthropic, openai"),
        (["set", "opnai"], SECRET, "there is no such provider: 'opnai' (did you mean 'openai'?)"),
        (["set", "foo"], SECRET, "there is no such provider: 'foo'; providers: anthropic"),
        (["set", "openai"], "", "no key was piped in"),
        (["set", "openai"], f"{SECRET} {SECRET}", "this is not a key"),
        (["set", "openai"], f'"{SECRET}', "quotes"),
        (["set", "openai"], f"OPENAI_API_KEY={SECRET}", "give only the key"),
        (["remove", "openai"], "", "no key for openai is stored"),
    ],
)
def test_what_is_refused_is_not_repeated_and_stores_nothing(arguments, stdin, told):
    printed, warned, error = keys(*arguments, stdin=stdin)
    assert told in error
    assert "hush" not in printed + warned + error
    assert not keys_file().exists()


def test_at_a_terminal_it_is_asked_for_and_not_shown():
    with_terminal = Terminal("keys", "set", "anthropic")
    with_terminal.until("key for anthropic (not shown): ").type(f"{SECRET}\n")
    assert with_terminal.end() == 0
    assert "hush" not in with_terminal.shown
    assert key_for("anthropic", {}).value == SECRET


@pytest.mark.parametrize(("typed", "code"), [("\x03", 130), ("\x04", 2), ("\r", 2)])
def test_leaving_the_question_stores_nothing(typed, code):
    with_terminal = Terminal("keys", "set", "anthropic")
    with_terminal.until("key for anthropic (not shown): ").insist(typed)
    assert with_terminal.end() == code
    assert not keys_file().exists()


@pytest.mark.parametrize("quote", ['"', "'"])
def test_quotes_around_a_key_are_not_part_of_it(quote):
    keys("set", "openai", stdin=f"{quote}{SECRET}{quote}\n")
    assert key_for("openai", {}).value == SECRET


def test_a_stored_key_goes_to_its_provider_and_not_to_an_address_of_the_project(tmp_path):
    keys("set", "openai", stdin=SECRET)
    project = tmp_path / "project"
    project.mkdir()
    make_project(project)
    answer = says("It says 1800.")
    with model_serving(answer, answer) as (variables, server):
        address = variables["ORACLE_MODEL_BASE_URL"]
        own = {"ORACLE_MODEL_NAME": "openai:test", "OPENAI_BASE_URL": address}
        ask = ("ask", "--max-turns", "1", f"What is MAX_IDLE? I use {SECRET}")
        oracle(*ask, cwd=project, env=own)
        (project / "oracle.toml").write_text(
            f'[model]\nname = "openai:test"\nbase_url = "{address}"\n'
        )
        oracle(*ask, cwd=project)
        sent = [request.headers.get("authorization") for request in server.requests]
    assert sent == [f"Bearer {SECRET}", "Bearer no-key"]
    assert SECRET not in str(server.requests[0].body)

"""`oracle config`: rendered here, and as a user calls it."""

import json
import os
import pty
import shlex

import pytest
from rich.console import Console
from typer.testing import CliRunner

from oracle.cli.commands.config import SettingsListing, chosen, names_beginning
from oracle.cli.main import app
from oracle.services.settings.resolve import user_settings_file
from oracle.settings import SETTINGS, load_settings
from tests.processes import ORACLE, PIPE, Process, run


def oracle(*arguments, cwd, **environment):
    return run(
        [*ORACLE, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1", **environment},
        timeout=300,
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "oracle.toml").write_text("[limits]\nturns = 3\nmoney = 0.5\n")
    return tmp_path


def test_every_setting_is_shown_with_where_it_comes_from(folder):
    result = oracle("config", cwd=folder, ORACLE_MODEL_NAME="openai:x")
    rows = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines()}
    assert (result.returncode, result.stderr) == (0, "")
    assert rows.keys() - {"SETTING"} == SETTINGS.keys()
    assert rows["limits.turns"] == ["3", "oracle.toml:2"]
    assert rows["limits.money"] == ["0.5", "oracle.toml:3"]
    assert rows["model.name"] == ["openai:x", "ORACLE_MODEL_NAME"]
    assert rows["journal.failure"] == ["stop", "default"]
    assert rows["web.provider"] == ["not", "set", "default"]


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        ("limits.turns", "3", "oracle.toml:2"),
        ("limits.money", "0.5", "oracle.toml:3"),
        ("limits.seconds", "300.0", "default"),
        ("model.base_url", "", "default"),
    ],
)
def test_one_value_goes_to_stdout_bare_and_its_place_to_stderr(folder, name, value, place):
    result = oracle("config", name, cwd=folder)
    assert (result.returncode, result.stdout) == (0, f"{value}\n")
    assert result.stderr == f"oracle: {name} comes from: {place}\n"


def test_a_section_can_be_named(folder):
    lines = oracle("config", "limits", cwd=folder).stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(chosen("limits"))


def test_json_has_values_with_their_types(folder):
    rows = json.loads(oracle("config", "limits", "--json", cwd=folder).stdout)
    assert rows[0] == {
        "name": "limits.turns",
        "value": 3,
        "source": "file",
        "place": "oracle.toml:2",
        "default": 30,
        "variable": "ORACLE_LIMITS_TURNS",
        "meaning": SETTINGS["limits.turns"].meaning,
    }
    assert rows[2]["value"] == 0.5


@pytest.mark.parametrize("arguments", [(), ("--json",), ("database.url",)])
def test_a_password_is_never_shown(tmp_path, arguments):
    url = "postgresql://me:hush@host/db"
    result = oracle("config", *arguments, cwd=tmp_path, ORACLE_DATABASE_URL=url)
    assert result.returncode == 0
    assert "me:" in result.stdout
    assert "hush" not in result.stdout + result.stderr


def test_an_unknown_name_is_told_with_a_suggestion(folder):
    result = oracle("config", "limits.turn", cwd=folder)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "oracle: no setting 'limits.turn'; did you mean 'limits.turns'?\n"


def test_a_mistake_in_the_file_ends_with_78_and_a_line_for_each(tmp_path):
    (tmp_path / "oracle.toml").write_text("[limits]\nturns = 'x'\ntoken = 3\n")
    result = oracle("config", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (78, "")
    assert result.stderr.splitlines() == [
        "oracle: oracle.toml:2: limits.turns is 'x'; write a whole number from 1",
        "oracle.toml:3: no setting 'limits.token'; did you mean 'limits.tokens'?",
    ]


def test_a_variable_that_looks_like_ours_is_warned_of_on_stderr(folder):
    result = oracle("config", "limits.turns", cwd=folder, ORACLE_TURNS="9")
    assert (result.returncode, result.stdout) == (0, "3\n")
    assert "warning: ORACLE_TURNS is not read; did you mean 'ORACLE_LIMITS_TURNS'?" in result.stderr


def test_what_is_shown_can_be_set(folder):
    for name, given in (("loop.use_bt", "false"), ("secrets.files", '["a.vars", "b c"]')):
        assert oracle("config", "set", name, given, cwd=folder).returncode == 0
        shown = oracle("config", name, cwd=folder).stdout.rstrip("\n")
        assert shown == given
        assert oracle("config", "set", name, shown, cwd=folder).returncode == 0


def test_a_value_cannot_steer_the_terminal(tmp_path):
    result = oracle("config", cwd=tmp_path, ORACLE_MODEL_NAME="a\x1b[2Jb")
    assert result.returncode == 78
    assert "\x1b" not in result.stdout + result.stderr


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_the_table_fits_a_terminal_of_any_width_and_loses_nothing(folder, width):
    settings = load_settings(folder, environment={})
    console = Console(width=width, highlight=False)
    with console.capture() as capture:
        console.print(SettingsListing(settings, ["limits.turns", "prompts.folder"]))
    lines = capture.get().splitlines()
    assert max(map(len, lines)) <= width
    assert "3" in capture.get()


def drawn_on_a_terminal(folder, **environment):
    """What a terminal of 80 columns is sent."""
    ours, theirs = pty.openpty()
    command = [*ORACLE, "config", "limits"]
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "80", **environment}
    env = {name: value for name, value in env.items() if value is not None}
    with Process(command, cwd=folder, env=env, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        sent = bytearray()
        try:
            while part := os.read(ours, 4096):
                sent += part
        except OSError:
            pass
        assert process.wait(timeout=300) == 0
    os.close(ours)
    return sent.decode()


def test_a_terminal_gets_styles_unless_it_asks_for_none(folder):
    assert "\x1b[1m" in drawn_on_a_terminal(folder, NO_COLOR=None)
    dumb = drawn_on_a_terminal(folder, NO_COLOR=None, TERM="dumb")
    assert "\x1b" not in dumb
    assert "limits.turns" in dumb
    assert "\x1b[3" not in drawn_on_a_terminal(folder, NO_COLOR="1")


def test_a_reader_that_closes_the_pipe_early_gets_no_traceback(folder):
    with Process([*ORACLE, "config"], cwd=folder, stdout=PIPE, stderr=PIPE) as process:
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode == 141


def test_the_shell_is_offered_settings_and_sections():
    assert [name for name, _ in names_beginning("limits.t")] == ["limits.turns", "limits.tokens"]
    assert ("web", "all of [web]") in names_beginning("w")
    assert len(names_beginning("")) > len(SETTINGS)


# -- set, unset, path ------------------------------------------------------------------------------


def config(*arguments):
    """In this process: what it printed to stdout and to stderr, and the error."""
    result = CliRunner().invoke(app, ["config", *arguments])
    return result.stdout, result.stderr, result.exception and str(result.exception)


@pytest.fixture
def inside(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder / "oracle.toml"


def test_a_setting_is_written_and_the_place_and_the_old_value_are_told(inside):
    assert config("set", "limits.turns", "8") == (
        "oracle.toml: limits.turns = 8 (before: 3)\n",
        "",
        None,
    )
    assert config("limits.turns")[0] == "8\n"
    assert config("set", "model.attempts=2")[0] == "oracle.toml: model.attempts = 2\n"
    assert config("unset", "limits.turns")[0] == ("oracle.toml: limits.turns removed (before: 8)\n")
    assert inside.read_text() == "[limits]\nmoney = 0.5\n\n[model]\nattempts = 2\n"


def test_the_users_file_is_for_all_projects(inside, tmp_path_factory, monkeypatch):
    told, warned, _ = config("set", "limits.tokens", "9", "--user")
    assert told == "~/.config/oracle/oracle.toml: limits.tokens = 9\n"
    assert warned == ""
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert config("limits.tokens")[0] == "9\n"
    assert config("path", "--user")[0] == f"{user_settings_file()}\n"
    assert "give --user" in config("set", "limits.tokens", "9")[2]
    assert "give --user" in config("path")[2]


def test_whoever_has_priority_is_named(inside, monkeypatch):
    assert "oracle.toml:2 sets limits.turns too" in config("set", "--user", "limits.turns", "9")[1]
    monkeypatch.setenv("ORACLE_LIMITS_TURNS", "5")
    assert "ORACLE_LIMITS_TURNS sets limits.turns too" in config("set", "limits.turns", "9")[1]
    assert "ORACLE_LIMITS_TURNS still sets limits.turns" in config("unset", "limits.turns")[1]


def test_after_a_removal_the_value_that_counts_is_said(inside):
    config("set", "--user", "limits.turns", "9")
    told, said, _ = config("unset", "limits.turns")
    assert told == "oracle.toml: limits.turns removed (before: 3)\n"
    assert said == "oracle: limits.turns is 9 now, from ~/.config/oracle/oracle.toml:2\n"


def test_the_same_value_again_is_said(inside):
    assert config("set", "limits.turns", "3")[0] == "oracle.toml: limits.turns = 3 (as before)\n"


def test_a_list_is_written_as_in_the_file_or_with_commas(inside):
    for given in ('["*.vars", "deploy/hosts.ini"]', "*.vars, deploy/hosts.ini"):
        config("set", "secrets.files", given)
        assert load_settings(inside.parent, environment={}).secrets.files == (
            "*.vars",
            "deploy/hosts.ini",
        )


def test_what_the_user_writes_is_trusted_and_nothing_else(inside):
    inside.write_text("[secrets]\nallow = ['.env']\n")
    address = "https://models.example.org/v1"
    warned = config("set", "model.base_url", address)[1]
    assert "secrets.allow" in warned
    assert "model.base_url" not in warned
    config("unset", "secrets.allow")
    assert config("set", "limits.turns", "99")[1] == ""
    assert (config("model.base_url")[0], config("limits.turns")[0]) == (f"{address}\n", "99\n")
    inside.write_text(inside.read_text().replace("99", "100"))
    assert config("limits.turns")[0] == "30\n"


@pytest.mark.parametrize("root", ["plain", "a blank", "a:colon", "quo'te"])
def test_the_advice_about_trust_can_be_followed(tmp_path, monkeypatch, root):
    """The command, the variable that it prints, and the variable of the setting."""
    folder = tmp_path / root
    folder.mkdir()
    (folder / "oracle.toml").write_text("[model]\nbase_url = 'https://h.test/v1'\n")
    monkeypatch.chdir(folder)
    assert "run `oracle config trust`, or give your own value in ORACLE_MODEL_BASE_URL" in str(
        config("model.base_url")[2]
    )
    told, said, _ = config("trust")
    assert told.startswith("oracle.toml:2: model.base_url = 'https://h.test/v1' is trusted: ")
    assert config("model.base_url")[0] == "https://h.test/v1\n"
    config("untrust")
    assert config("model.base_url")[2]
    (variable,) = [word for word in shlex.split(said.split(";")[0]) if word.startswith("ORACLE_")]
    monkeypatch.setenv(*variable.split("=", 1))
    assert config("model.base_url")[0] == "https://h.test/v1\n"
    monkeypatch.delenv("ORACLE_TRUST")
    monkeypatch.setenv("ORACLE_MODEL_BASE_URL", "https://other.test/v1")
    assert config("model.base_url")[0] == "https://other.test/v1\n"


def test_the_advice_adds_to_the_projects_that_are_trusted_already(inside, monkeypatch):
    monkeypatch.setenv("ORACLE_TRUST", "/other")
    inside.write_text("[model]\nbase_url = 'https://h.test/v1'\n")
    assert f"ORACLE_TRUST=/other:{inside.parent}@" in config("trust")[1]


def test_where_nothing_needs_trust_that_is_said(inside):
    assert config("trust")[0] == "oracle.toml: nothing in it needs trust\n"


def test_a_mistake_elsewhere_in_the_file_does_not_keep_one_from_mending_it(inside):
    inside.write_text("[limits]\nturns = 0\ntruns = 4\n")
    assert "limits.turns = 4" in config("set", "limits.turns", "4")[0]
    assert "removed (before: 4)" in config("unset", "limits.truns")[0]
    assert config("limits.turns")[0] == "4\n"


@pytest.mark.parametrize("name", ["gtp-5", "foo:bar", "openai:", "nonsense"])
def test_a_name_that_is_no_models_is_refused_and_warned_of_in_the_file(inside, name):
    before = inside.read_text()
    assert config("set", "model.name", name)[2]
    assert inside.read_text() == before
    inside.write_text(f"{before}[model]\nname = '{name}'\n")
    assert "oracle: warning: " in config()[1]
    assert config("limits")[1] == ""


REFUSED = [
    (["set", "limits.turns", "-1"], "limits.turns is -1; write a whole number from 1"),
    (["set", "limits.turns"], "write `oracle config set limits.turns VALUE`"),
    (["set", "turns", "3"], "no setting 'turns'; did you mean 'limits.turns'?"),
    (["set", "openai_api_key", "hush"], "`oracle keys set PROVIDER`"),
    (["unset", "limits"], "limits is a section; name one of its settings: limits.turns, "),
    (["set", "secrets.files", '["a", b]'], "write a list of names or paths"),
    (["set", "secrets.files", "'a', 'b'"], "write a list of names or paths"),
    (["set", "model.base_url", "https://x.test/?api_key=hush"], "has a ? or a # in it"),
    (["set", "web.url", "https://x.test/#hush"], "has a ? or a # in it"),
    (["set", "web.url", "https://hush@x.test/"], "contains a name or password"),
    (["unset", "limits.tokens"], "limits.tokens is not set in oracle.toml"),
    (["unset", "limits.truns"], "no setting 'limits.truns'; did you mean 'limits.turns'?"),
]


@pytest.mark.parametrize(("arguments", "told"), REFUSED)
def test_what_cannot_be_done_is_told_and_changes_nothing(inside, arguments, told):
    before = inside.read_bytes()
    error = config(*arguments)[2]
    assert told in error
    assert "hush" not in error
    assert inside.read_bytes() == before


def test_a_password_that_was_in_the_file_is_not_shown(inside):
    inside.write_text("[database]\nurl = 'postgresql://me:hush@host/db'\n")
    told, warned, _ = config("unset", "database.url")
    assert "removed" in told
    assert "hush" not in told + warned


def test_setting_a_provider_of_web_searches_says_what_it_still_needs(folder):
    result = oracle("config", "set", "web.provider", "tavily", cwd=folder)
    assert result.returncode == 0
    assert "there is no key for tavily: set TAVILY_API_KEY, or run" in result.stderr
    result = oracle("config", "set", "web.provider", "searxng", cwd=folder)
    assert "searxng has no address: `oracle config set web.url URL`" in result.stderr
